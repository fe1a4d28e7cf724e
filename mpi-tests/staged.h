/* SPDX-License-Identifier: BSD-3-Clause */
/* staged.h - any collective of MPI as one call on two buffers. */
#ifndef STAGED_H
#define STAGED_H

#include <mpi.h>

#define MAX_BLOCKS 16

/* Arguments in both widths; what a function does not take, it ignores. */
struct job {
    int large; /* the form with _c */
    MPI_Comm comm;
    int root;
    int sn, rn; /* counts of those that have only one */
    MPI_Datatype stype, rtype;
    MPI_Op op;
    int scounts[MAX_BLOCKS], sdispls[MAX_BLOCKS];
    int rcounts[MAX_BLOCKS], rdispls[MAX_BLOCKS];
    int sbytes[MAX_BLOCKS], rbytes[MAX_BLOCKS]; /* displacements in bytes */
    MPI_Count lscounts[MAX_BLOCKS], lrcounts[MAX_BLOCKS];
    MPI_Aint lsdispls[MAX_BLOCKS], lrdispls[MAX_BLOCKS];
    MPI_Aint lsbytes[MAX_BLOCKS], lrbytes[MAX_BLOCKS];
    MPI_Datatype stypes[MAX_BLOCKS], rtypes[MAX_BLOCKS];
};

enum {
    REDUCES = 1,
    TO_ROOT = 2,
    FROM_ROOT = 4,
    NEIGHBORS = 8,
    IN_PLACE = 16, /* takes MPI_IN_PLACE on an intracommunicator */
    NO_INTER = 32,
    LOCAL = 64
};

struct function {
    const char *name;
    int (*call)(const struct job *j, const void *send, void *recv);
    int flags;
};

extern const struct function functions[];
extern const int nfunctions;

/* Fills the wide copies of counts and displacements. */
void job_widen(struct job *j);

#endif
