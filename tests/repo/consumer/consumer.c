/* SPDX-License-Identifier: BSD-3-Clause */
/* consumer.c - an MPI program of one rank that Coax is linked into. All that it
 * calls is taken by Coax: a linker may believe that it needs no MPI library. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int one = 1, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return sum != 1;
}
