/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce_rdouble.c - allreduce by recursive doubling, in rank order.
 *
 * log2 p rounds in which partners exchange the whole vector: it wins while a
 * message costs latency and not bandwidth. Any p: when p is no power of two,
 * the first ranks fold in neighbouring pairs (even into odd), which keeps rank
 * order, and the odd one returns the result. Both partners compute (lower,
 * higher), so that all ranks evaluate one expression. Needs a scratch vector a
 * round. */
#include "coll/algorithms.h"

/* The ranks that double: position `pos` of `npow` is held by this rank. */
static int rank_at(int pos, int nfold)
{
    return pos < nfold ? 2 * pos + 1 : pos + nfold;
}

/* DST = the running value of this rank op the partner's, in rank order. */
static int exchange(struct cx_builder *b, int partner, struct cx_operand mine,
                    uint32_t slot, int pred)
{
    struct cx_operand theirs = cx_scratch(slot, 1), dst = cx_dst(0, 1);
    int recv = cx_build_recv(b, partner, theirs, CX_NO_OP, CX_NO_OP);
    int send = cx_build_send(b, partner, mine, pred, CX_NO_OP);

    /* Waits for the send too: it reads DST, or SRC, which may be DST. */
    if (partner < b->shape.rank)
        return cx_build_reduce(b, dst, theirs, mine, recv, send);
    return cx_build_reduce(b, dst, mine, theirs, recv, send);
}

static void folded_out(struct cx_builder *b, int rank)
{
    int send = cx_build_send(b, rank + 1, cx_src(0, 1), CX_NO_OP, CX_NO_OP);

    cx_build_recv(b, rank + 1, cx_dst(0, 1), send, CX_NO_OP);
}

static enum cx_status generate(const struct cx_shape *shape,
                               struct cx_plan **plan)
{
    int rank = shape->rank, npow = 1, nfold, pos, last = CX_NO_OP;
    struct cx_operand mine = cx_src(0, 1);
    struct cx_builder b;
    uint32_t slot = 0;

    cx_build_init(&b, shape, CX_LAYOUT_PARTITION, 1);
    while (npow * 2 <= shape->nranks)
        npow *= 2;
    nfold = shape->nranks - npow;
    if (shape->nranks == 1) {
        cx_build_copy(&b, cx_dst(0, 1), mine, CX_NO_OP, CX_NO_OP);
        return cx_build_finish(&b, plan);
    }
    if (rank < 2 * nfold && rank % 2 == 0) {
        folded_out(&b, rank);
        return cx_build_finish(&b, plan);
    }
    pos = rank < 2 * nfold ? rank / 2 : rank - nfold;
    if (rank < 2 * nfold) {
        struct cx_operand theirs = cx_scratch(slot++, 1);
        int recv = cx_build_recv(&b, rank - 1, theirs, CX_NO_OP, CX_NO_OP);

        last = cx_build_reduce(&b, cx_dst(0, 1), theirs, mine, recv, CX_NO_OP);
        mine = cx_dst(0, 1);
    }
    for (int mask = 1; mask < npow; mask *= 2) {
        last = exchange(&b, rank_at(pos ^ mask, nfold), mine, slot++, last);
        mine = cx_dst(0, 1);
    }
    if (rank < 2 * nfold)
        cx_build_send(&b, rank - 1, mine, last, CX_NO_OP);
    return cx_build_finish(&b, plan);
}

const struct cx_algorithm cx_allreduce_rdouble = {
    .name = "rdouble",
    .func = CX_ALLREDUCE,
    .ordered = 1,
    .summary = "recursive doubling: log2 p messages of the whole vector; for "
               "small sizes",
    .generate = generate,
};
