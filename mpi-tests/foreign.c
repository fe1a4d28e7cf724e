/* SPDX-License-Identifier: BSD-3-Clause */
/* foreign.c - compiled against another MPI (Open MPI, whose handles are
 * pointers): the preload must leave it alone. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    double x[64], sum[64];
    int rank, size, all[64], word, bad = 0;
    MPI_Datatype pair;
    MPI_Comm dup;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int round = 0; round < 20; round++) {
        int two[2] = {rank + round, round};

        for (int i = 0; i < 64; i++)
            x[i] = rank + i + round;
        MPI_Allreduce(x, sum, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, x, 64, MPI_DOUBLE, MPI_SUM, dup);
        for (int i = 0; i < 64; i++)
            bad += sum[i] != x[i] ||
                   sum[i] != size * (size - 1) / 2 + (double)size * (i + round);
        MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, dup);
        for (int i = 0; i < size; i++)
            bad += all[i] != i;
        MPI_Bcast(two, 1, pair, size - 1, MPI_COMM_WORLD);
        word = two[0];
        bad += word != size - 1 + round;
    }
    MPI_Type_free(&pair);
    MPI_Comm_free(&dup);
    printf("rank %d of %d: %d wrong\n", rank, size, bad);
    MPI_Finalize();
    return bad != 0;
}
