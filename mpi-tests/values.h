/* SPDX-License-Identifier: BSD-3-Clause */
/* values.h - inputs and the scalar reference of the tests.
 *
 * Exact inputs depend on rank and index and have the same result in every order
 * of evaluation, so that the reference is compared byte for byte. Wild inputs
 * do not: they show that all ranks evaluated in one order. */
#ifndef VALUES_H
#define VALUES_H

#include <mpi.h>
#include <stddef.h>

enum vtype { V_INT, V_FLOAT, V_DOUBLE, V_ZDOUBLE, V_UINT64, V_NTYPES };
enum vop { V_SUM, V_PROD, V_MAX, V_MIN, V_NOPS };

extern const char *const v_type_name[V_NTYPES];
extern const char *const v_op_name[V_NOPS];
/* The index of `name`, or -1. */
int v_type_find(const char *name);
int v_op_find(const char *name);

size_t v_size(enum vtype type);
MPI_Datatype v_mpi_type(enum vtype type);
MPI_Op v_mpi_op(enum vop op);
int v_is_float(enum vtype type);

/* n elements of `rank`'s contribution, elements first.. of it. */
void v_exact(enum vtype type, enum vop op, int rank, size_t first, size_t n,
             void *out);
/* Random signs, mantissas and exponents from 2^-30 to 2^30 (floating types). */
void v_wild(enum vtype type, int rank, size_t n, void *out);
/* NaNs with payloads and signs, signed zeros, infinities, subnormals (not in
 * sums, which they would make depend on the order), ordinary numbers (float and
 * double). */
void v_special(enum vtype type, enum vop op, int rank, size_t first, size_t n,
               void *out);

/* acc[i] = acc[i] op x[i], plain C. */
void v_fold(enum vtype type, enum vop op, void *acc, const void *x, size_t n);
/* The same under the project's rule for floats: a NaN operand or result is the
 * canonical quiet NaN, and -0 < +0 in MIN and MAX. */
void v_fold_ruled(enum vtype type, enum vop op, void *acc, const void *x,
                  size_t n);

#endif
