/* SPDX-License-Identifier: BSD-3-Clause */
/* binding_module.c - a plugin that is linked to MPI, as mpi4py is: its host
 * program knows nothing of MPI and loads it with RTLD_LOCAL. Large-count
 * functions only. Returns the number of wrong results. */
#include <mpi.h>
#include <stdio.h>

#include "binding_memory.h"

#define N BINDING_N
#define BLOCK BINDING_BLOCK

__attribute__((visibility("default"))) int
binding_module(void *(*alloc)(size_t),
               void (*put)(void *, const void *, size_t),
               void (*get)(void *, const void *, size_t));

static double host[N];

static int wrong(int n, double factor, double add)
{
    int bad = 0;

    for (int i = 0; i < n; i++)
        bad += host[i] != factor * i + add;
    return bad;
}

int binding_module(void *(*alloc)(size_t),
                   void (*put)(void *, const void *, size_t),
                   void (*get)(void *, const void *, size_t))
{
    double *a, *b, sum;
    int rank, size, bad = 0;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sum = size * (size - 1) / 2.0;
    a = alloc(sizeof host);
    b = alloc(sizeof host);
    for (int i = 0; i < N; i++)
        host[i] = rank + i;
    put(a, host, sizeof host);
    MPI_Allreduce_c(a, b, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    get(host, b, sizeof host);
    bad += wrong(N, size, sum);
    MPI_Bcast_c(a, N, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
    get(host, a, sizeof host);
    bad += wrong(N, 1, size - 1);
    MPI_Allreduce_c(MPI_IN_PLACE, b, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    get(host, b, sizeof host);
    bad += wrong(N, (double)size * size, size * sum);
    MPI_Allgather_c(a, BLOCK, MPI_DOUBLE, b, BLOCK, MPI_DOUBLE, MPI_COMM_WORLD);
    get(host, b + (size_t)BLOCK * (size - 1), BLOCK * sizeof *host);
    bad += wrong(BLOCK, 1, size - 1);
    if (rank == 0)
        printf("calls 2 1 1\n");
    fflush(stdout);
    MPI_Finalize();
    return bad;
}
