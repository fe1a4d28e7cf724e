/* SPDX-License-Identifier: BSD-3-Clause */
/* info_ask.c - asks an MPI library and the engine what they are.
 *
 * Each is loaded in a child of its own, which answers through a pipe and ends
 * without running anybody's exit code. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bridge.h"
#include "cli/info.h"

#define ANSWER_SECONDS 20
#define MPI_TEXT_SIZE 16384 /* more than any MPI_MAX_LIBRARY_VERSION_STRING */

typedef void (*ask_fn)(const char *name, struct info_library *out);

static void say(struct info_library *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct info_library *out, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(out->text, sizeof out->text, fmt, args);
    va_end(args);
}

static void *load(const char *name, struct info_library *out)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    struct link_map *map;

    if (!library) {
        say(out, "%s", dlerror());
        return NULL;
    }
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
        (void)cli_join(out->path, sizeof out->path, map->l_name, "");
    return library;
}

/* The first line of the version, with the last blanks cut off. */
static void first_line(char *text)
{
    size_t n = strcspn(text, "\r\n");

    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    text[n] = '\0';
    for (char *at = text; *at; at++) {
        if (*at == '\t')
            *at = ' ';
    }
}

/* MPI_Get_library_version may be called before MPI_Init. It is called by the
 * C prototype that all MPIs share, so that no MPI's header is needed. */
static void ask_mpi(const char *soname, struct info_library *out)
{
    static char text[MPI_TEXT_SIZE];
    void *library = load(soname, out);
    int (*version)(char *, int *);
    int length = 0;

    if (!library)
        return;
    *(void **)&version = dlsym(library, "MPI_Get_library_version");
    if (!version || version(text, &length) != 0) {
        say(out, "it has no MPI_Get_library_version");
        return;
    }
    first_line(text);
    say(out, "%.*s", INFO_TEXT_SIZE - 1, text);
    out->found = 1;
}

/* The engine looks at a driver that the program has started, and starts none
 * itself; here this command is the program. No driver is fine. */
static void start_gpu_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    int (*start)(unsigned int);

    if (!library)
        return;
    *(void **)&start = dlsym(library, "cuInit");
    if (start)
        (void)start(0);
}

static void ask_engine(const char *path, struct info_library *out)
{
    struct cx_engine_api api = {.size = sizeof api,
                                .version = CX_BRIDGE_VERSION};
    cx_engine_open_fn open_engine;
    enum cx_status status;
    void *library;
    size_t n;

    /* Of a network that does not start the engine tells itself, in a line; this
     * is before UCX is loaded, and in a child. */
    setenv("UCX_LOG_LEVEL", "fatal", 0);
    library = load(path, out);

    if (!library)
        return;
    start_gpu_driver();
    *(void **)&open_engine = dlsym(library, CX_ENGINE_SYMBOL);
    if (!open_engine) {
        say(out, "it has no %s: not an engine of Coax", CX_ENGINE_SYMBOL);
        return;
    }
    status = open_engine(NULL, &api);
    if (status != CX_OK) {
        say(out, "it does not start: %s", cx_status_str(status));
        return;
    }
    if (!api.build_id || strcmp(api.build_id, COAX_BUILD_ID) != 0) {
        say(out, "it is of build %s, this command of %s: reinstall Coax",
            api.build_id ? api.build_id : "unknown", COAX_BUILD_ID);
        return;
    }
    say(out, "build %s\n", api.build_id);
    n = strlen(out->text);
    status = api.describe(out->text + n, sizeof out->text - n);
    if (api.settings_check(out->problem, sizeof out->problem) == CX_OK)
        out->problem[0] = '\0';
    if (status != CX_OK && !out->problem[0])
        snprintf(out->problem, sizeof out->problem,
                 "the network cannot be started, so MPI would run all "
                 "collectives (the line on stderr says why)");
    out->found = 1;
}

static void answer(int fd, const struct info_library *out)
{
    const char *at = (const char *)out;
    size_t left = sizeof *out;

    while (left > 0) {
        ssize_t n = write(fd, at, left);

        if (n <= 0)
            return;
        at += n;
        left -= (size_t)n;
    }
}

static size_t receive(int fd, struct info_library *out)
{
    size_t got = 0;

    while (got < sizeof *out) {
        ssize_t n = read(fd, (char *)out + got, sizeof *out - got);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    return got;
}

static void ask_in_child(ask_fn ask, const char *name, struct info_library *out)
{
    int fd[2], status = 0;
    pid_t child;

    memset(out, 0, sizeof *out);
    fflush(NULL);
    if (pipe(fd) || (child = fork()) < 0) {
        say(out, "cannot start a process: %s", strerror(errno));
        return;
    }
    if (child == 0) {
        alarm(ANSWER_SECONDS);
        ask(name, out);
        answer(fd[1], out);
        _exit(0);
    }
    close(fd[1]);
    if (receive(fd[0], out) != sizeof *out) {
        memset(out, 0, sizeof *out);
        waitpid(child, &status, 0);
        say(out, "%s: loading it ended with signal %d (%s)", name,
            WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
        waitpid(child, &status, 0);
    }
    close(fd[0]);
}

void info_ask_mpi(const char *soname, struct info_library *out)
{
    ask_in_child(ask_mpi, soname, out);
}

void info_ask_engine(const char *path, struct info_library *out)
{
    ask_in_child(ask_engine, path, out);
}
