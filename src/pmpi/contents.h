/* SPDX-License-Identifier: BSD-3-Clause */
/* contents.h - what a datatype was made of, one level down. */
#ifndef CX_CONTENTS_H
#define CX_CONTENTS_H

#include "pmpi/front.h"

/* The arguments of the constructor in the order of its large-count form: counts
 * and block lengths first, then displacements or strides. */
struct cx_contents {
    int combiner;
    MPI_Count nints, naddrs, nlarge, ntypes;
    MPI_Count *numbers;  /* owned, nints + naddrs + nlarge of them */
    MPI_Datatype *types; /* owned; each is freed where it is derived */
};

/* Fills all but the arrays; 0 when MPI does not tell. */
int cx_contents_envelope(MPI_Datatype type, struct cx_contents *c);
/* After the envelope; 0 when MPI does not tell. Close it when it does. */
int cx_contents_open(MPI_Datatype type, struct cx_contents *c);
void cx_contents_close(struct cx_contents *c);

#endif
