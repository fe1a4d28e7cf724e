/* SPDX-License-Identifier: BSD-3-Clause */
/* race.c - no two unordered accesses to a block on one rank.
 *
 * The order is the closure of the predecessors, as bit sets: exact, and enough
 * fast for plans of a few hundred ops. */
#include "symbolic.h"

#include <stdarg.h>
#include <string.h>

#include "unit.h"

int proof_fail(struct proof *proof, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(proof->problem, sizeof(proof->problem), fmt, args);
    va_end(args);
    return 0;
}

static uint32_t src_blocks(const struct cx_plan *plan)
{
    return plan->layout == CX_LAYOUT_ARRAY ? 1 : plan->nblocks;
}

uint32_t cell_count(const struct cx_plan *plan)
{
    return src_blocks(plan) + plan->nblocks + plan->nscratch + plan->nblocks;
}

uint32_t cell_of(const struct cx_plan *plan, const struct cx_operand *x,
                 uint32_t i, int alias)
{
    uint32_t own =
        plan->layout == CX_LAYOUT_ARRAY ? (uint32_t)plan->shape.rank : 0;
    uint32_t block = x->first + i, dst = src_blocks(plan);

    if (x->space == CX_SRC)
        return alias ? dst + own + block : block;
    if (x->space == CX_DST)
        return dst + block;
    return dst + plan->nblocks + x->rep * plan->nblocks + block;
}

struct access {
    uint32_t op;
    int write;
    struct access *next;
};

struct order {
    size_t words;
    uint64_t *before; /* by op: the ops that are complete before it starts */
    struct access *pool, **cells;
    size_t npool;
};

static int is_before(const struct order *order, uint32_t a, uint32_t b)
{
    return (int)(order->before[b * order->words + a / 64] >> a % 64 & 1);
}

static void close_order(const struct cx_plan *plan, struct order *order)
{
    for (uint32_t i = 0; i < plan->nops; i++) {
        uint64_t *mine = order->before + i * order->words;

        for (int k = 0; k < 2; k++) {
            int pred = plan->ops[i].pred[k];

            if (pred == CX_NO_OP)
                continue;
            for (size_t w = 0; w < order->words; w++)
                mine[w] |= order->before[(size_t)pred * order->words + w];
            mine[pred / 64] |= UINT64_C(1) << pred % 64;
        }
    }
}

/* Adds one access; returns the op it races with, or -1. */
static int add_access(struct order *order, uint32_t cell, uint32_t op,
                      int write)
{
    struct access *access = &order->pool[order->npool++];

    for (const struct access *a = order->cells[cell]; a; a = a->next)
        if (a->op != op && (a->write || write) &&
            !is_before(order, a->op, op) && !is_before(order, op, a->op))
            return (int)a->op;
    access->op = op;
    access->write = write;
    access->next = order->cells[cell];
    order->cells[cell] = access;
    return -1;
}

static int add_operand(struct order *order, const struct cx_plan *plan,
                       const struct cx_operand *x, uint32_t op, int write,
                       int alias)
{
    for (uint32_t i = 0; i < x->n; i++) {
        int other = add_access(order, cell_of(plan, x, i, alias), op, write);

        if (other >= 0)
            return other;
    }
    return -1;
}

static int find_race(const struct cx_plan *plan, struct order *order, int alias,
                     uint32_t *op)
{
    for (*op = 0; *op < plan->nops; (*op)++) {
        const struct cx_plan_op *o = &plan->ops[*op];
        int other;

        if (alias && cx_plan_is_identity(plan, o))
            continue;
        for (uint32_t k = 0; k < o->nin; k++) {
            other =
                add_operand(order, plan, cx_plan_in(plan, o, k), *op, 0, alias);
            if (other >= 0)
                return other;
        }
        other = add_operand(order, plan, cx_plan_out(plan, o), *op, 1, alias);
        if (other >= 0)
            return other;
    }
    return -1;
}

int proof_no_race(struct proof *proof, int rank, int alias)
{
    const struct cx_plan *plan = proof->plans[rank];
    struct order order = {.words = plan->nops / 64 + 1};
    size_t naccesses = 0;
    int other, ok = 1;
    uint32_t op;

    for (uint32_t i = 0; i < plan->nops; i++)
        for (uint32_t k = 0; k <= plan->ops[i].nin; k++)
            naccesses += plan->operands[plan->ops[i].args + k].n;
    order.before = must_alloc(plan->nops * order.words * sizeof(uint64_t));
    order.pool = must_alloc(naccesses * sizeof(*order.pool));
    order.cells = must_alloc(cell_count(plan) * sizeof(*order.cells));
    close_order(plan, &order);
    other = find_race(plan, &order, alias, &op);
    if (other >= 0)
        ok = proof_fail(proof, "rank %d: ops %d and %u race%s", rank, other, op,
                        alias ? " when SRC is DST" : "");
    free(order.before);
    free(order.pool);
    free(order.cells);
    return ok;
}
