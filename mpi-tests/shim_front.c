/* SPDX-License-Identifier: BSD-3-Clause */
/* shim_front.c - test preload that stands before libcoax.so and counts the
 * calls of the program, whatever language it is written in.
 *
 * At the end of the process it writes a line to $MT_SCRATCH/counts.RANK: calls
 * of the three functions as the program made them, as they reached MPI
 * (shim_mpi.c), and messages of the engine (shim_ucp.c). */
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "counts.h"

#define EXPORT __attribute__((visibility("default")))

static _Atomic uint64_t calls[MT_NFUNCS];

static void *pass(int func, const char *name)
{
    atomic_fetch_add(&calls[func], 1);
    return dlsym(RTLD_NEXT, name);
}

EXPORT int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
                         MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    __typeof__(&MPI_Allreduce) next;

    *(void **)&next = pass(MT_ALLREDUCE, "MPI_Allreduce");
    return next(sendbuf, recvbuf, count, type, op, comm);
}

EXPORT int MPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
                           MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    __typeof__(&MPI_Allreduce_c) next;

    *(void **)&next = pass(MT_ALLREDUCE, "MPI_Allreduce_c");
    return next(sendbuf, recvbuf, count, type, op, comm);
}

EXPORT int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root,
                     MPI_Comm comm)
{
    __typeof__(&MPI_Bcast) next;

    *(void **)&next = pass(MT_BCAST, "MPI_Bcast");
    return next(buffer, count, type, root, comm);
}

EXPORT int MPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype type,
                       int root, MPI_Comm comm)
{
    __typeof__(&MPI_Bcast_c) next;

    *(void **)&next = pass(MT_BCAST, "MPI_Bcast_c");
    return next(buffer, count, type, root, comm);
}

EXPORT int MPI_Allgather(const void *sendbuf, int sendcount,
                         MPI_Datatype sendtype, void *recvbuf, int recvcount,
                         MPI_Datatype recvtype, MPI_Comm comm)
{
    __typeof__(&MPI_Allgather) next;

    *(void **)&next = pass(MT_ALLGATHER, "MPI_Allgather");
    return next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                comm);
}

EXPORT int MPI_Allgather_c(const void *sendbuf, MPI_Count sendcount,
                           MPI_Datatype sendtype, void *recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype,
                           MPI_Comm comm)
{
    __typeof__(&MPI_Allgather_c) next;

    *(void **)&next = pass(MT_ALLGATHER, "MPI_Allgather_c");
    return next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                comm);
}

static __attribute__((destructor)) void report(void)
{
    const char *dir = getenv("MT_SCRATCH"), *rank = getenv("PMI_RANK");
    struct mt_ucp_counts ucp = {0};
    struct mt_mpi_counts mpi = {{0}};
    mt_ucp_counts_fn get_ucp;
    mt_mpi_counts_fn get_mpi;
    char path[4096];
    FILE *out;

    *(void **)&get_ucp = dlsym(RTLD_DEFAULT, "mt_shim_ucp_counts");
    *(void **)&get_mpi = dlsym(RTLD_DEFAULT, "mt_shim_mpi_counts");
    if (!dir || !rank || !get_ucp || !get_mpi ||
        !atomic_load(&calls[MT_ALLREDUCE]))
        return;
    get_ucp(&ucp);
    get_mpi(&mpi);
    snprintf(path, sizeof path, "%s/counts.%s", dir, rank);
    out = fopen(path, "w");
    if (!out)
        return;
    fprintf(out, "front");
    for (int i = 0; i < MT_NFUNCS; i++)
        fprintf(out, " %llu", (unsigned long long)atomic_load(&calls[i]));
    fprintf(out, " mpi");
    for (int i = 0; i < MT_NFUNCS; i++)
        fprintf(out, " %llu", (unsigned long long)mpi.calls[i]);
    fprintf(out, " sends %llu\n", (unsigned long long)ucp.sends);
    fclose(out);
}
