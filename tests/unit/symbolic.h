/* SPDX-License-Identifier: BSD-3-Clause */
/* symbolic.h - proves the plans of all ranks of one collective.
 *
 * Each rank: no two accesses to a block, one of them a write, without an order
 * given by predecessors alone, with SRC = DST and without. All ranks, in random
 * legal orders, with messages that are buffered and that are not: everything
 * ends, every message meets a receive of the same blocks, nothing undefined is
 * read, every output holds each contribution once, in rank order where claimed,
 * and is the same expression everywhere. */
#ifndef CX_SYMBOLIC_H
#define CX_SYMBOLIC_H

#include "coll/plan.h"
#include "expr.h"

struct proof {
    const struct cx_algorithm *algorithm;
    struct cx_plan **plans; /* by rank */
    int nranks, root;
    struct exprs *exprs;
    uint64_t seed;
    char problem[256]; /* what is wrong, when proof_run says so */
};

/* Non-zero when all holds. */
int proof_run(struct proof *proof);

/* race.c: the part that looks at one rank alone. */
int proof_no_race(struct proof *proof, int rank, int alias);
int proof_fail(struct proof *proof, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Cells of one rank: SRC, DST, scratch. An operand's block `i`. */
uint32_t cell_count(const struct cx_plan *plan);
uint32_t cell_of(const struct cx_plan *plan, const struct cx_operand *x,
                 uint32_t i, int alias);

#endif
