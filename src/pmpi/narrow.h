/* SPDX-License-Identifier: BSD-3-Clause */
/* narrow.h - calls of functions, and of large-count forms that MPI lacks. */
#ifndef CX_NARROW_H
#define CX_NARROW_H

#include "pmpi/coll.h"

enum { CX_MAX_ARGS = 13 };

/* Calls `function` with as many of the CX_MAX_ARGS arguments as it takes: more
 * do no harm, the caller removes them. */
int cx_call_mpi(cx_fn function, const cx_reg *args);

/* What is narrower in the plain form: bits of arguments. */
struct cx_narrow {
    unsigned scalars;
    unsigned arrays;           /* of 64-bit numbers, to be ints */
    int elements[CX_MAX_ARGS]; /* of these */
};

/* The call by the plain form. Form X_c follows X in the table of wrappers. */
int cx_narrow_call(const struct cx_narrow *narrow, enum cx_wrapped plain,
                   const char *name, const cx_reg *args);
int cx_narrow_coll(enum cx_coll_id id, enum cx_wrapped which, const char *name,
                   int blocking, const cx_reg *args);

/* The library's X_c; or X where it lacks X_c and the two counts fit. */
cx_fn cx_raw_large(enum cx_wrapped which, cx_reg count, cx_reg other);

#endif
