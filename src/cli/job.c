/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c - messages of a command that runs once per rank.
 *
 * Eight ranks that all miss the same program should say so once. Rank 0 speaks
 * where a launcher tells the rank; a failure that only other ranks have is
 * told by the first of them. */
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

/* How long the first failing process keeps the others silent. */
#define QUIET_NS 300000000L

static const char *job_rank(void)
{
    static const char *const names[] = {"PMI_RANK", "PMIX_RANK",
                                        "OMPI_COMM_WORLD_RANK"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *rank = getenv(names[i]);

        if (rank && rank[0] != '\0')
            return rank;
    }
    return NULL;
}

int cli_speaks(void)
{
    const char *rank = job_rank();

    return !rank || strcmp(rank, "0") == 0;
}

/* A name that equal messages of one launcher and user share. */
static uint64_t message_hash(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

/* Binds a socket name of the kernel's (no file); it is free again when this
 * process ends. Returns 1 for the first. */
static int first_with(const char *text)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return 1;
    snprintf(addr.sun_path + 1, sizeof addr.sun_path - 1,
             "coax-%ld-%ld-%016llx", (long)getuid(), (long)getppid(),
             (unsigned long long)message_hash(text));
    /* The socket stays open on purpose: it is the mark. */
    return bind(fd, (struct sockaddr *)&addr, sizeof addr) == 0;
}

int cli_fail(int code, const char *fmt, ...)
{
    struct timespec quiet = {.tv_nsec = QUIET_NS};
    char text[2 * PATH_MAX];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (!job_rank()) {
        fprintf(stderr, "coax: error: %s\n", text);
        return code;
    }
    if (first_with(text)) {
        fprintf(stderr, "coax: error: %s\n", text);
        nanosleep(&quiet, NULL);
    }
    return code;
}

void cli_warn(const char *fmt, ...)
{
    char text[2 * PATH_MAX];
    va_list args;

    if (!cli_speaks())
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fprintf(stderr, "coax: warn: %s\n", text);
}
