/* SPDX-License-Identifier: BSD-3-Clause */
/* mt.c - start, checks and end of a test program. */
#include "mt.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PRINTED 8

struct mt_state mt;

static void start(int provided, int wanted)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &mt.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mt.size);
    if (provided < wanted)
        mt_die("thread level %d wanted, MPI gives %d", wanted, provided);
}

void mt_init(void)
{
    MPI_Init(NULL, NULL);
    start(0, 0);
}

void mt_init_thread(int level)
{
    int provided;

    MPI_Init_thread(NULL, NULL, level, &provided);
    start(provided, level);
}

int mt_check(int ok, const char *fmt, ...)
{
    va_list ap;

    mt.checks++;
    if (ok)
        return 1;
    if (mt.failures++ < MAX_PRINTED) {
        char text[400];

        va_start(ap, fmt);
        vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
        fprintf(stderr, "mt: rank %d: FAIL %s\n", mt.rank, text);
    }
    return 0;
}

void mt_die(const char *fmt, ...)
{
    va_list ap;
    char text[400];

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "mt: rank %d: %s\n", mt.rank, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

int mt_finish(void)
{
    long mine[2] = {mt.checks, mt.failures}, sum[2] = {0, 0};
    long least = 0;

    MPI_Reduce(mine, sum, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mt.checks, &least, 1, MPI_LONG, MPI_MIN, 0, MPI_COMM_WORLD);
    if (mt.rank == 0) {
        printf("mt: %ld checks, %ld failures, %d ranks\n", sum[0], sum[1],
               mt.size);
        fflush(stdout);
    }
    MPI_Finalize();
    if (mt.rank == 0 && (sum[1] || !least))
        return 1;
    return mt.failures ? 1 : 0;
}

const char *mt_option(int argc, char **argv, const char *name, const char *dflt)
{
    size_t n = strlen(name);

    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];

        if (strncmp(arg, "--", 2) || strncmp(arg + 2, name, n))
            continue;
        if (arg[2 + n] == '=')
            return arg + 3 + n;
        if (arg[2 + n] == '\0')
            return "";
    }
    return dflt;
}

void *mt_alloc(size_t nbytes)
{
    void *ptr = malloc(nbytes ? nbytes : 1);

    if (!ptr)
        mt_die("no memory for %zu bytes", nbytes);
    return ptr;
}

int mt_entries(const char *path)
{
    DIR *dir = opendir(path);
    int n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}
