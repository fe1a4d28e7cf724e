/* SPDX-License-Identifier: BSD-3-Clause */
/* rtypes.h - every predefined type that MPI lets reduce, the operations that it
 * allows on it, and inputs whose result does not depend on the order. */
#ifndef RTYPES_H
#define RTYPES_H

#include <mpi.h>
#include <stddef.h>

#include "oracle.h"

enum rt_group {
    RT_C_INT,
    RT_F_INT, /* no logical operations */
    RT_REAL,
    RT_COMPLEX,
    RT_TRUTH,
    RT_BYTES,
    RT_PAIR,
    RT_NGROUPS
};

struct rtype {
    MPI_Datatype mpi;
    enum rt_group group;
    struct or_type o;
};

#define RT_MAX 80

/* All of them; the types of MPI_Type_create_f90_* are made here. Returns their
 * number. */
int rt_types(struct rtype *out);
/* The operations of a group, ended by OR_NOPS. */
const enum or_op *rt_ops(enum rt_group group);
MPI_Op rt_mpi_op(enum or_op op);

/* Element `i` of rank's contribution; padding is not touched. */
void rt_put(const struct rtype *type, enum or_op op, int rank, size_t i,
            void *at);

/* The bytes of memory that a test begins with; `seed` tells them apart. */
void rt_pattern(unsigned char *out, size_t nbytes, unsigned seed);
/* n elements as memory holds them: `value`, with the pattern as padding. */
void rt_paint(const struct or_type *type, const unsigned char *value, size_t n,
              unsigned seed, unsigned char *out);
/* Is padding byte `at` of an element inside a long double, where any store may
 * change it, and not between the parts of a pair? */
int rt_inside_x87(const struct or_type *type, size_t at);

#endif
