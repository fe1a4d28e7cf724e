/* SPDX-License-Identifier: BSD-3-Clause */
/* shim_logical.c - test preload behind Coax: an MPI whose Fortran compiler
 * writes true as -1, as far as MPI_Reduce_local shows it. */
#include <dlfcn.h>
#include <mpi.h>

__attribute__((visibility("default"))) int
PMPI_Reduce_local(const void *inbuf, void *inoutbuf, int count,
                  MPI_Datatype type, MPI_Op op)
{
    __typeof__(&PMPI_Reduce_local) next;
    int *values = inoutbuf, rc;

    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Reduce_local");
    rc = next(inbuf, inoutbuf, count, type, op);
    for (int i = 0; type == MPI_LOGICAL && i < count; i++)
        values[i] = -values[i];
    return rc;
}
