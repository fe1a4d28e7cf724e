/* SPDX-License-Identifier: BSD-3-Clause */
/* quiet.c - an ordinary CPU program that also notes what its process holds
 * before MPI_Finalize: mapped files, descriptors, threads, children. quiet.sh
 * compares two runs of it. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

static int count_entries(const char *path)
{
    DIR *dir = opendir(path);
    int n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

static int count_children(void)
{
    char path[64], word[32];
    FILE *file;
    int n = 0;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    file = fopen(path, "r");
    while (file && fscanf(file, "%31s", word) == 1)
        n++;
    if (file)
        fclose(file);
    return n;
}

/* File-backed mappings, one path a line, as they come. */
static void note_maps(FILE *out)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];

    while (maps && fgets(line, sizeof line, maps)) {
        char *path = strchr(line, '/');

        if (path && strstr(path, ".so"))
            fprintf(out, "maps %s", path);
    }
    if (maps)
        fclose(maps);
}

static void note_state(int rank)
{
    const char *dir = getenv("MT_SCRATCH");
    char path[512];
    FILE *out;

    snprintf(path, sizeof path, "%s/state.%d", dir ? dir : ".", rank);
    out = fopen(path, "w");
    if (!out)
        abort();
    note_maps(out);
    fprintf(out, "descriptors %d\n", count_entries("/proc/self/fd"));
    fprintf(out, "threads %d\n", count_entries("/proc/self/task"));
    fprintf(out, "children %d\n", count_children());
    fclose(out);
}

int main(int argc, char **argv)
{
    double x[3] = {1.5, -2.25, 1e6}, sum[3];
    int rank, size, all[64], root_says;
    MPI_Comm half;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 100; i++) {
        x[0] += rank;
        MPI_Allreduce(x, sum, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        root_says = rank * 10 + i;
        MPI_Bcast(&root_says, 1, MPI_INT, i % size, MPI_COMM_WORLD);
        MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Allreduce(MPI_IN_PLACE, x, 3, MPI_DOUBLE, MPI_MAX, half);
    MPI_Comm_free(&half);
    printf("rank %d: %.17g %.17g %d %d\n", rank, sum[0], x[2], root_says,
           all[size - 1]);
    fprintf(stderr, "rank %d says something on stderr\n", rank);
    note_state(rank);
    MPI_Finalize();
    return 3;
}
