/* SPDX-License-Identifier: BSD-3-Clause */
/* cost.c - the program whose calls cost.sh counts under callgrind.
 *
 * Each function runs CALLS times on MPI_COMM_WORLD, and CALLS times over nine
 * communicators in rotation, 8 bytes a call; callgrind writes one profile for
 * each. A first round of all of them is not counted: agreement, symbol
 * lookup, caches.
 *
 * cost [--gpu]: GPUs are in use, and every communicator has run a collective of
 * GPU memory. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <valgrind/callgrind.h>

#include "mt.h"
#include "mtbuf.h"

#define NCOMMS 9
#define CALLS 900

enum { ALLREDUCE, BCAST, ALLGATHER, REDUCE, MAPPED, NFUNCS };
static double *mapped; /* two elements: only the driver knows whose they are */

static int call(int func, MPI_Comm comm)
{
    double x = 1, y[2];

    switch (func) {
    case ALLREDUCE:
        return MPI_Allreduce(&x, y, 1, MPI_DOUBLE, MPI_SUM, comm);
    case BCAST:
        return MPI_Bcast(&x, 1, MPI_DOUBLE, 0, comm);
    case ALLGATHER:
        return MPI_Allgather(&x, 1, MPI_DOUBLE, y, 1, MPI_DOUBLE, comm);
    case REDUCE:
        return MPI_Reduce(&x, y, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
    default:
        return MPI_Allreduce(mapped, mapped + 1, 1, MPI_DOUBLE, MPI_SUM, comm);
    }
}

static void rotate(int func, const MPI_Comm *comms, int ncomms, int calls)
{
    for (int i = 0; i < calls; i++)
        if (call(func, comms[i % ncomms]) != MPI_SUCCESS)
            abort();
}

static void engage(const MPI_Comm *comms)
{
    int n = 4096;
    struct mt_buf buf;

    mt_buf_create(&buf, MT_DEVICE, (size_t)n * sizeof(double), 0);
    for (int i = 0; i < NCOMMS; i++)
        MPI_Allreduce(MPI_IN_PLACE, buf.ptr, n, MPI_DOUBLE, MPI_SUM, comms[i]);
    mt_buf_destroy(&buf);
}

int main(int argc, char **argv)
{
    static const char *const name[] = {"Allreduce", "Bcast", "Allgather",
                                       "Reduce", "Mapped"};
    MPI_Comm comms[NCOMMS];

    MPI_Init(NULL, NULL);
    comms[0] = MPI_COMM_WORLD;
    mapped = mmap(NULL, 2 * sizeof *mapped, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        abort();
    for (int i = 1; i < NCOMMS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    if (mt_option(argc, argv, "gpu", NULL))
        engage(comms);
    for (int func = 0; func < NFUNCS; func++)
        rotate(func, comms, NCOMMS, 8 * NCOMMS);
    for (int func = 0; func < NFUNCS; func++) {
        char label[64];

        CALLGRIND_ZERO_STATS;
        rotate(func, comms, 1, CALLS);
        snprintf(label, sizeof label, "%s-1-%d", name[func], CALLS);
        CALLGRIND_DUMP_STATS_AT(label);
        CALLGRIND_ZERO_STATS;
        rotate(func, comms, NCOMMS, CALLS);
        snprintf(label, sizeof label, "%s-%d-%d", name[func], NCOMMS, CALLS);
        CALLGRIND_DUMP_STATS_AT(label);
    }
    for (int i = 1; i < NCOMMS; i++)
        MPI_Comm_free(&comms[i]);
    return MPI_Finalize();
}
