/* SPDX-License-Identifier: BSD-3-Clause */
/* oversub.c - the time of 200 allreduces of 4 KiB; rank 0 prints microseconds.
 * oversub.sh compares it between engine and MPI. */
#include "mt.h"

#include <stdio.h>

#define CALLS 200
#define COUNT 512

int main(void)
{
    static double x[COUNT], y[COUNT];
    double start, most;

    mt_init();
    for (int i = 0; i < COUNT; i++)
        x[i] = mt.rank + i;
    for (int i = 0; i < 10; i++)
        MPI_Allreduce(x, y, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int i = 0; i < CALLS; i++)
        MPI_Allreduce(x, y, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    start = MPI_Wtime() - start;
    MPI_Reduce(&start, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++)
        mt_check(y[i] == mt.size * (mt.size - 1) / 2 + mt.size * i,
                 "element %d is %g", i, y[i]);
    if (mt.rank == 0)
        printf("us %.0f\n", most * 1e6);
    return mt_finish();
}
