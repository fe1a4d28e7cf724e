/* SPDX-License-Identifier: BSD-3-Clause */
/* expr.h - values as expressions: equal expressions have equal numbers.
 *
 * Nothing is commuted or reassociated: two ranks agree when they evaluate the
 * very same tree. */
#ifndef CX_EXPR_H
#define CX_EXPR_H

#include <stdint.h>

#define EXPR_UNDEFINED 0
#define EXPR_MAX_RANKS 192

struct expr {
    int left, right; /* numbers; 0 for a leaf */
    int block;       /* that all leaves are of; -1 when they differ */
    int lo, hi;      /* lowest and highest rank */
    int ordered;     /* leaves are in the order of ranks */
    int once;        /* no rank occurs twice */
    int nleaves;
    uint64_t ranks[EXPR_MAX_RANKS / 64];
};

struct exprs;

struct exprs *exprs_create(void);
void exprs_destroy(struct exprs *set);
void exprs_clear(struct exprs *set);

/* What block `block` of `rank` holds at first. */
int expr_leaf(struct exprs *set, int rank, int block);
int expr_reduce(struct exprs *set, int left, int right);
const struct expr *expr_get(const struct exprs *set, int number);

#endif
