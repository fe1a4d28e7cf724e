/* SPDX-License-Identifier: BSD-3-Clause */
/* oracle.h - what a reduction of two elements must give: plain scalar code, one
 * element at a time, shared by the tests of the loops and those of MPI programs
 * and by nothing that is tested.
 *
 * Floats are taken to the quad format, whose 113 bits hold any product of two
 * doubles and round a sum of two as if it were exact, and rounded once. Types
 * are described by what they are made of, not by names. */
#ifndef ORACLE_H
#define ORACLE_H

#include <stddef.h>

enum or_class {
    OR_SIGNED,
    OR_UNSIGNED,
    OR_FLOAT, /* of 2, 4, 8 or 16 bytes, IEEE 754 */
    OR_X87    /* 10 bytes that take 16 */
};

struct or_part {
    enum or_class class;
    size_t size;
};

enum or_kind {
    OR_NUMBER,
    OR_COMPLEX, /* two of `value` */
    OR_LOGICAL, /* true where a bit is set, 1 or 0 as a result */
    OR_PAIR     /* `value`, and `index` at `index_at` */
};

struct or_type {
    const char *name;
    enum or_kind kind;
    struct or_part value, index;
    size_t index_at, extent; /* from one element to the next */
};

enum or_op {
    OR_SUM,
    OR_PROD,
    OR_MIN,
    OR_MAX,
    OR_LAND,
    OR_LOR,
    OR_LXOR,
    OR_BAND,
    OR_BOR,
    OR_BXOR,
    OR_MINLOC,
    OR_MAXLOC,
    OR_NOPS
};

extern const char *const or_op_name[OR_NOPS];

/* acc = acc op x, one element. Bytes that are padding stay as they are. */
void or_fold(const struct or_type *type, enum or_op op, void *acc,
             const void *x);
/* Are two elements unequal in a byte that is not padding? */
int or_differs(const struct or_type *type, const void *a, const void *b);
/* Is byte `at` of an element padding? */
int or_padding(const struct or_type *type, size_t at);
/* Is the value, or a part of the complex number, a NaN? */
int or_is_nan(const struct or_type *type, const void *x);

#endif
