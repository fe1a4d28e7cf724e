/* SPDX-License-Identifier: BSD-3-Clause */
/* shim_mpi.c - test preload that counts the collectives that reach MPI.
 *
 * It stands behind libcoax.so in LD_PRELOAD, so what arrives here was passed
 * on by Coax (as it came, or staged). Without Coax it sees nothing of a
 * program that calls MPI_X: only PMPI_X is defined. */

#include <mpi.h>
#include <stdatomic.h>

#include "counts.h"
#include "next.h"
#include "report.h"

#define EXPORT __attribute__((visibility("default")))

static _Atomic uint64_t calls[MT_NFUNCS];

EXPORT void mt_shim_mpi_counts(struct mt_mpi_counts *out);

static void *pass(int func, const char *name)
{
    atomic_fetch_add(&calls[func], 1);
    return mt_next(name, "libmpich.so.12");
}

EXPORT int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
                          MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    __typeof__(&PMPI_Allreduce) next;

    *(void **)&next = pass(MT_ALLREDUCE, "PMPI_Allreduce");
    return next(sendbuf, recvbuf, count, type, op, comm);
}

EXPORT int PMPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
                            MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    __typeof__(&PMPI_Allreduce_c) next;

    *(void **)&next = pass(MT_ALLREDUCE, "PMPI_Allreduce_c");
    return next(sendbuf, recvbuf, count, type, op, comm);
}

EXPORT int PMPI_Bcast(void *buffer, int count, MPI_Datatype type, int root,
                      MPI_Comm comm)
{
    __typeof__(&PMPI_Bcast) next;

    *(void **)&next = pass(MT_BCAST, "PMPI_Bcast");
    return next(buffer, count, type, root, comm);
}

EXPORT int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype type,
                        int root, MPI_Comm comm)
{
    __typeof__(&PMPI_Bcast_c) next;

    *(void **)&next = pass(MT_BCAST, "PMPI_Bcast_c");
    return next(buffer, count, type, root, comm);
}

EXPORT int PMPI_Allgather(const void *sendbuf, int sendcount,
                          MPI_Datatype sendtype, void *recvbuf, int recvcount,
                          MPI_Datatype recvtype, MPI_Comm comm)
{
    __typeof__(&PMPI_Allgather) next;

    *(void **)&next = pass(MT_ALLGATHER, "PMPI_Allgather");
    return next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                comm);
}

EXPORT int PMPI_Allgather_c(const void *sendbuf, MPI_Count sendcount,
                            MPI_Datatype sendtype, void *recvbuf,
                            MPI_Count recvcount, MPI_Datatype recvtype,
                            MPI_Comm comm)
{
    __typeof__(&PMPI_Allgather_c) next;

    *(void **)&next = pass(MT_ALLGATHER, "PMPI_Allgather_c");
    return next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                comm);
}

void mt_shim_mpi_counts(struct mt_mpi_counts *out)
{
    for (int i = 0; i < MT_NFUNCS; i++)
        out->calls[i] = atomic_load(&calls[i]);
}

/* Only where something was counted: not in mpirun and its children. */
__attribute__((destructor)) static void at_end(void)
{
    struct mt_mpi_counts counts;
    uint64_t sum = 0;

    mt_shim_mpi_counts(&counts);
    for (int i = 0; i < MT_NFUNCS; i++)
        sum += counts.calls[i];
    if (sum)
        report("mpi", &sum, 1);
}
