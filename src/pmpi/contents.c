/* SPDX-License-Identifier: BSD-3-Clause */
/* contents.c - what a datatype was made of.
 *
 * Asked in the large-count form wherever the MPI has it: of a type that was
 * made by a large-count constructor (mpi4py makes all of its so) the plain form
 * is an error, which would end the program. */
#include "pmpi/contents.h"

#include <string.h>

#include "base/alloc.h"

int cx_contents_envelope(MPI_Datatype type, struct cx_contents *c)
{
    int nints = 0, naddrs = 0, ntypes = 0, rc;

    memset(c, 0, sizeof(*c));
    if (cx_mpi.Type_get_envelope_c != NULL &&
        cx_mpi.Type_get_contents_c != NULL)
        return cx_mpi.Type_get_envelope_c(type, &c->nints, &c->naddrs,
                                          &c->nlarge, &c->ntypes,
                                          &c->combiner) == MPI_SUCCESS;
    rc = cx_mpi.Type_get_envelope(type, &nints, &naddrs, &ntypes, &c->combiner);
    c->nints = nints;
    c->naddrs = naddrs;
    c->ntypes = ntypes;
    return rc == MPI_SUCCESS;
}

void cx_contents_close(struct cx_contents *c)
{
    struct cx_contents child;

    for (MPI_Count i = 0; i < c->ntypes; i++) {
        if (cx_contents_envelope(c->types[i], &child) &&
            child.combiner != MPI_COMBINER_NAMED)
            cx_mpi.Type_free(&c->types[i]);
    }
    cx_free(c->numbers);
    cx_free(c->types);
}

static int get_contents(MPI_Datatype type, struct cx_contents *c, int *ints,
                        MPI_Aint *addrs, MPI_Count *large)
{
    if (cx_mpi.Type_get_envelope_c != NULL &&
        cx_mpi.Type_get_contents_c != NULL)
        return cx_mpi.Type_get_contents_c(type, c->nints, c->naddrs, c->nlarge,
                                          c->ntypes, ints, addrs, large,
                                          c->types) == MPI_SUCCESS;
    return cx_mpi.Type_get_contents(type, (int)c->nints, (int)c->naddrs,
                                    (int)c->ntypes, ints, addrs,
                                    c->types) == MPI_SUCCESS;
}

int cx_contents_open(MPI_Datatype type, struct cx_contents *c)
{
    size_t nints = (size_t)c->nints, naddrs = (size_t)c->naddrs;
    int *ints = cx_alloc(nints + 1, sizeof(*ints)), known = 0;
    MPI_Aint *addrs = cx_alloc(naddrs + 1, sizeof(*addrs));
    size_t i;

    c->numbers =
        cx_alloc(nints + naddrs + (size_t)c->nlarge + 1, sizeof(*c->numbers));
    c->types = cx_alloc((size_t)c->ntypes + 1, sizeof(MPI_Datatype));
    if (ints != NULL && addrs != NULL && c->numbers != NULL && c->types != NULL)
        known = get_contents(type, c, ints, addrs, c->numbers + nints + naddrs);
    for (i = 0; known && i < nints; i++)
        c->numbers[i] = ints[i];
    for (i = 0; known && i < naddrs; i++)
        c->numbers[nints + i] = addrs[i];
    cx_free(ints);
    cx_free(addrs);
    if (known)
        return 1;
    c->ntypes = 0;
    cx_contents_close(c);
    return 0;
}
