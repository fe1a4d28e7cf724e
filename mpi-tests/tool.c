/* SPDX-License-Identifier: BSD-3-Clause */
/* tool.c - a PMPI tool, preloaded beside Coax: counts MPI_Allreduce and
 * MPI_Bcast and writes the counts to $MT_SCRATCH/tool-NAME.RANK.
 *
 * As most tools do, it defines MPI_X and calls PMPI_X. With TOOL_BOTH it is of
 * Darshan's kind: both names, and the next PMPI_X by dlsym. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

static _Atomic int allreduces, bcasts;

#ifdef TOOL_BOTH
#define TOOL_NAME "both"
#define NEXT(name)                                                             \
    __typeof__(&MPI_##name) next;                                              \
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_" #name)
#define ALIAS(name)                                                            \
    EXPORT __attribute__((                                                     \
        alias("MPI_" #name))) __typeof__(MPI_##name) PMPI_##name;
#else
#define TOOL_NAME "plain"
#define NEXT(name) __typeof__(&MPI_##name) next = PMPI_##name
#define ALIAS(name)
#endif

EXPORT int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
                         MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    NEXT(Allreduce);
    atomic_fetch_add(&allreduces, 1);
    return next(sendbuf, recvbuf, count, type, op, comm);
}
ALIAS(Allreduce)

EXPORT int MPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
                           MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    NEXT(Allreduce_c);
    atomic_fetch_add(&allreduces, 1);
    return next(sendbuf, recvbuf, count, type, op, comm);
}
ALIAS(Allreduce_c)

EXPORT int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root,
                     MPI_Comm comm)
{
    NEXT(Bcast);
    atomic_fetch_add(&bcasts, 1);
    return next(buffer, count, type, root, comm);
}
ALIAS(Bcast)

EXPORT int MPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype type,
                       int root, MPI_Comm comm)
{
    NEXT(Bcast_c);
    atomic_fetch_add(&bcasts, 1);
    return next(buffer, count, type, root, comm);
}
ALIAS(Bcast_c)

static __attribute__((destructor)) void report(void)
{
    const char *dir = getenv("MT_SCRATCH"), *rank = getenv("PMI_RANK");
    char path[4096];
    FILE *out;

    if (!dir || !rank)
        return;
    snprintf(path, sizeof path, "%s/tool-" TOOL_NAME ".%s", dir, rank);
    out = fopen(path, "w");
    if (!out)
        return;
    fprintf(out, "%d %d\n", atomic_load(&allreduces), atomic_load(&bcasts));
    fclose(out);
}
