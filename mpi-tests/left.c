/* SPDX-License-Identifier: BSD-3-Clause */
/* left.c - notes what its process holds after MPI_Finalize: descriptors,
 * threads, children, shared memory. left.sh compares two runs.
 *
 * left [--gpu] [--copies]   copies: MPI sees host memory only, for the run
 *                           without Coax */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mt.h"
#include "mtbuf.h"

#define N 20000

static double host[N];
static struct mt_buf a;

static void allreduce(MPI_Comm comm, int n, int copies)
{
    size_t nbytes = (size_t)n * sizeof *host;

    for (int i = 0; i < n; i++)
        host[i] = mt.rank + i;
    mt_buf_write(&a, 0, host, nbytes);
    if (copies)
        mt_buf_read(&a, 0, host, nbytes);
    MPI_Allreduce(MPI_IN_PLACE, copies ? (void *)host : a.ptr, n, MPI_DOUBLE,
                  MPI_SUM, comm);
    if (!copies)
        mt_buf_read(&a, 0, host, nbytes);
    mt_check(host[n - 1] == mt.size * (mt.size - 1) / 2 + mt.size * (n - 1.0),
             "the result is wrong");
}

/* A line for each entry of a folder of /proc: what it links to, without
 * numbers, or just that it is there. */
static void note_folder(FILE *out, const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    char name[600], text[4096], *to;

    while (dir && (entry = readdir(dir))) {
        ssize_t n;

        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        n = readlink(name, text, sizeof text - 1);
        text[n > 0 ? n : 0] = '\0';
        to = text;
        for (char *from = text; *from; from++) {
            if (!isdigit((unsigned char)*from))
                *to++ = *from;
        }
        *to = '\0';
        fprintf(out, "%s %s\n", path, text);
    }
    if (dir)
        closedir(dir);
}

static void note_shared(FILE *out)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];

    while (maps && fgets(line, sizeof line, maps)) {
        if (strstr(line, "memfd:") || strstr(line, "/dev/shm") ||
            strstr(line, "/SYSV"))
            fprintf(out, "maps %s", strchr(line, '/'));
    }
    if (maps)
        fclose(maps);
}

/* Threads that have been told to end need a moment, say those of the simulated
 * GPU's streams. Ten equal looks in a row; at most two seconds. */
static void settle(void)
{
    const struct timespec pause = {.tv_nsec = 5000000};

    for (int looks = 0, equal = 0, last = -1; looks < 400 && equal < 10;
         looks++) {
        int now = mt_entries("/proc/self/task");

        equal = now == last ? equal + 1 : 0;
        last = now;
        nanosleep(&pause, NULL);
    }
}

static void note(const char *dir)
{
    char path[4096];
    FILE *out;

    size_t length = 0;
    char *text = NULL;

    out = open_memstream(&text, &length);
    if (!out)
        abort();
    note_folder(out, "/proc/self/fd");
    note_folder(out, "/proc/self/task");
    note_shared(out);
    fclose(out);
    snprintf(path, sizeof path, "%s/left.%d", dir, mt.rank);
    out = fopen(path, "w");
    if (!out || fwrite(text, 1, length, out) != length || fclose(out))
        abort();
    free(text);
}

int main(int argc, char **argv)
{
    int copies = mt_option(argc, argv, "copies", NULL) != NULL, rc;
    MPI_Comm dup;

    mt_init();
    mt_buf_create(&a, mt_option(argc, argv, "gpu", NULL) ? MT_DEVICE : MT_HOST,
                  sizeof host, 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    allreduce(MPI_COMM_WORLD, N, copies);
    allreduce(dup, N, copies);
    allreduce(dup, 4, copies);
    mt_buf_destroy(&a);
    rc = mt_finish(); /* `dup` is leaked on purpose */
    settle();
    note(getenv("MT_SCRATCH"));
    return rc;
}
