/* SPDX-License-Identifier: BSD-3-Clause */
/* build.c - the builder: collects ops, then hands them to plan.c.
 *
 * Growable arrays that live only while a generator runs. The first failure is
 * sticky, so that generators read as the algorithm and nothing else. */
#include "coll/plan.h"

#include <string.h>

#include "base/alloc.h"

void cx_build_init(struct cx_builder *b, const struct cx_shape *shape,
                   enum cx_layout layout, uint32_t nblocks)
{
    memset(b, 0, sizeof(*b));
    b->shape = *shape;
    b->layout = layout;
    b->nblocks = nblocks;
    b->status = CX_OK;
}

static struct cx_operand operand(enum cx_space space, uint32_t first,
                                 uint32_t n)
{
    struct cx_operand x = {.space = space, .first = first, .n = n};

    return x;
}

struct cx_operand cx_src(uint32_t first, uint32_t n)
{
    return operand(CX_SRC, first, n);
}

struct cx_operand cx_dst(uint32_t first, uint32_t n)
{
    return operand(CX_DST, first, n);
}

struct cx_operand cx_scratch(uint32_t first, uint32_t n)
{
    return operand(CX_SCRATCH, first, n);
}

/* Room for one more of `size` bytes in `*array`. */
static enum cx_status grow(void **array, uint32_t n, uint32_t *cap, size_t size)
{
    uint32_t want = *cap ? *cap * 2 : 64;
    void *bigger;

    if (n < *cap)
        return CX_OK;
    bigger = cx_alloc(want, size);
    if (!bigger)
        return CX_ERR_NOMEM;
    if (n)
        memcpy(bigger, *array, n * size);
    cx_free(*array);
    *array = bigger;
    *cap = want;
    return CX_OK;
}

static void add_operand(struct cx_builder *b, struct cx_operand x)
{
    void *array = b->operands;

    if (b->status != CX_OK)
        return;
    b->status = grow(&array, b->noperands, &b->cap_operands, sizeof(x));
    if (b->status != CX_OK)
        return;
    b->operands = array;
    if (x.space == CX_SCRATCH) {
        if (x.first + x.n > b->nscratch)
            b->nscratch = x.first + x.n;
        if (b->layout == CX_LAYOUT_PARTITION) {
            x.rep = x.first / b->nblocks;
            x.first %= b->nblocks;
        }
    }
    b->operands[b->noperands++] = x;
}

/* An op with its output (for SEND: what is sent, as its only input). */
static int add_op(struct cx_builder *b, enum cx_opcode code, int peer,
                  int pred0, int pred1)
{
    void *array = b->ops;
    struct cx_plan_op *op;

    if (b->status != CX_OK)
        return CX_NO_OP;
    b->status = grow(&array, b->nops, &b->cap_ops, sizeof(*op));
    if (b->status != CX_OK)
        return CX_NO_OP;
    b->ops = array;
    op = &b->ops[b->nops];
    op->code = code;
    op->peer = peer;
    op->args = b->noperands;
    op->pred[0] = pred0 != CX_NO_OP ? pred0 : pred1;
    op->pred[1] = pred0 != CX_NO_OP && pred1 != pred0 ? pred1 : CX_NO_OP;
    return (int)b->nops++;
}

int cx_build_send(struct cx_builder *b, int peer, struct cx_operand x,
                  int pred0, int pred1)
{
    int id = add_op(b, CX_OP_SEND, peer, pred0, pred1);

    add_operand(b, operand(CX_DST, 0, 0));
    add_operand(b, x);
    return id;
}

int cx_build_recv(struct cx_builder *b, int peer, struct cx_operand x,
                  int pred0, int pred1)
{
    int id = add_op(b, CX_OP_RECV, peer, pred0, pred1);

    add_operand(b, x);
    return id;
}

int cx_build_copy(struct cx_builder *b, struct cx_operand y,
                  struct cx_operand x, int pred0, int pred1)
{
    int id = add_op(b, CX_OP_COPY, -1, pred0, pred1);

    add_operand(b, y);
    add_operand(b, x);
    return id;
}

int cx_build_reduce(struct cx_builder *b, struct cx_operand y,
                    struct cx_operand x0, struct cx_operand x1, int pred0,
                    int pred1)
{
    int id = add_op(b, CX_OP_REDUCE, -1, pred0, pred1);

    add_operand(b, y);
    add_operand(b, x0);
    add_operand(b, x1);
    return id;
}

int cx_build_join(struct cx_builder *b, int pred0, int pred1)
{
    if (pred1 == CX_NO_OP || pred0 == pred1)
        return pred0;
    if (pred0 == CX_NO_OP)
        return pred1;
    return cx_build_copy(b, cx_dst(0, 0), cx_dst(0, 0), pred0, pred1);
}
