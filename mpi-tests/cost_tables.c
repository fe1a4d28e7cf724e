/* SPDX-License-Identifier: BSD-3-Clause */
/* cost_tables.c - the program whose calls cost_tables.sh counts under
 * callgrind: functions of the tables of staged and guarded ones, on one rank
 * and on host memory; one profile for each. */
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>
#include <valgrind/callgrind.h>

#define CALLS 1000

static int call(int func)
{
    static int x, y, n = 1, zero;
    MPI_Request request;

    switch (func) {
    case 0:
        return MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    case 1:
        return MPI_Gatherv(&x, 1, MPI_INT, &y, &n, &zero, MPI_INT, 0,
                           MPI_COMM_WORLD);
    case 2:
        return MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    case 3:
        return MPI_Sendrecv(&x, 1, MPI_INT, MPI_PROC_NULL, 0, &y, 1, MPI_INT,
                            MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE);
    default:
        MPI_Ibcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
        return MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(void)
{
    static const char *const name[] = {"Reduce", "Gatherv", "Send", "Sendrecv",
                                       "Ibcast"};

    MPI_Init(NULL, NULL);
    for (int func = 0; func < 5; func++) {
        char label[64];

        for (int i = 0; i < 10; i++)
            call(func);
        CALLGRIND_ZERO_STATS;
        for (int i = 0; i < CALLS; i++)
            if (call(func) != MPI_SUCCESS)
                abort();
        snprintf(label, sizeof label, "%s-%d", name[func], CALLS);
        CALLGRIND_DUMP_STATS_AT(label);
    }
    return MPI_Finalize();
}
