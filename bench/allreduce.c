/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce.c - mean time of an MPI_Allreduce of doubles in host memory, in
 * microseconds; any MPI, nothing of Coax. Started by compare. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define WARM_UP 10

int main(int argc, char **argv)
{
    int rank, n = argc > 1 ? atoi(argv[1]) / 8 : 1;
    int calls = argc > 2 ? atoi(argv[2]) : 100;
    double *x = calloc((size_t)n, sizeof(*x));
    double *y = calloc((size_t)n, sizeof(*y));
    double start = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < WARM_UP + calls; i++) {
        if (i == WARM_UP)
            start = MPI_Wtime();
        MPI_Allreduce(x, y, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%.2f\n", (MPI_Wtime() - start) * 1e6 / calls);
    MPI_Finalize();
    free(x);
    free(y);
    return 0;
}
