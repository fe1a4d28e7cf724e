/* SPDX-License-Identifier: BSD-3-Clause */
/* binding_c.c - the three functions from C. Prints how many calls of each it
 * makes and, where the counting preloads are there, how many messages of rank 0
 * a call of each costs: the measure for the other bindings.
 *
 * binding_c [FOLDER]   goes to FOLDER first */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "binding_memory.h"
#include "counts.h"
#include "mt.h"

#define N BINDING_N
#define BLOCK BINDING_BLOCK

static double host[2 * N], *a, *b;

static uint64_t sends(void)
{
    struct mt_ucp_counts ucp = {0};

    if (mt_counts_present())
        mt_counts_ucp(&ucp);
    return ucp.sends;
}

static void fill(double *at, int n, int step)
{
    for (int i = 0; i < n; i++)
        host[(size_t)i * step] = mt.rank + i;
    bm_write(at, host, ((size_t)n * step - (step - 1)) * sizeof *host);
}

/* Each of n elements of `at`, `step` apart, is factor * i + add? */
static void check(const double *at, int n, int step, double factor, double add,
                  const char *what)
{
    int ok = 1;

    bm_read(host, at, ((size_t)n * step - (step - 1)) * sizeof *host);
    for (int i = 0; i < n; i++)
        ok &= host[(size_t)i * step] == factor * i + add;
    mt_check(ok, "%s: the result is wrong", what);
}

static void allreduces(void)
{
    double sum = mt.size * (mt.size - 1) / 2.0;

    fill(a, N, 1);
    MPI_Allreduce(MPI_IN_PLACE, a, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check(a, N, 1, mt.size, sum, "in place");
    fill(a, N, 1);
    MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check(b, N, 1, mt.size, sum, "two buffers");
    MPI_Allreduce_c(MPI_IN_PLACE, a, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check(a, N, 1, mt.size, sum, "large count");
}

static void bcasts(void)
{
    int root = mt.size - 1;
    MPI_Datatype every_other;

    fill(a, N, 1);
    MPI_Bcast(a, N, MPI_DOUBLE, root, MPI_COMM_WORLD);
    check(a, N, 1, 1, root, "broadcast");
    fill(a, N, 1);
    MPI_Bcast_c(a, N, MPI_DOUBLE, root, MPI_COMM_WORLD);
    check(a, N, 1, 1, root, "broadcast, large count");
    fill(a, N, 2);
    MPI_Type_vector(N, 1, 2, MPI_DOUBLE, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Bcast(a, 1, every_other, root, MPI_COMM_WORLD);
    check(a, N, 2, 1, root, "broadcast of every other");
    MPI_Type_free(&every_other);
}

static void allgathers(void)
{
    fill(a, BLOCK, 1);
    MPI_Allgather(a, BLOCK, MPI_DOUBLE, b, BLOCK, MPI_DOUBLE, MPI_COMM_WORLD);
    check(b + (size_t)BLOCK * (mt.size - 1), BLOCK, 1, 1, mt.size - 1,
          "allgather");
    MPI_Allgather_c(a, BLOCK, MPI_DOUBLE, b, BLOCK, MPI_DOUBLE, MPI_COMM_WORLD);
    check(b, BLOCK, 1, 1, 0, "allgather, large count");
    fill(b + (size_t)BLOCK * mt.rank, BLOCK, 1);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, BLOCK, MPI_DOUBLE,
                  MPI_COMM_WORLD);
    check(b + (size_t)BLOCK * (mt.size - 1), BLOCK, 1, 1, mt.size - 1,
          "allgather in place");
}

int main(int argc, char **argv)
{
    static void (*const parts[])(void) = {allreduces, bcasts, allgathers};
    unsigned long long cost[3];

    mt_init();
    if (argc > 1 && chdir(argv[1]))
        mt_die("cannot go to %s", argv[1]);
    a = bm_alloc(2 * N * sizeof *a);
    b = bm_alloc(2 * N * sizeof *b);
    for (int i = 0; i < 3; i++) {
        uint64_t before = sends();

        parts[i]();
        cost[i] = (sends() - before) / 3;
    }
    if (mt.rank == 0)
        printf("calls 3 3 3\ncost %llu %llu %llu\n", cost[0], cost[1], cost[2]);
    return mt_finish();
}
