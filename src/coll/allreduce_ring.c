/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce_ring.c - allreduce on a ring: reduce-scatter, then allgather.
 *
 * 2(p-1) steps, each moving n/p elements to the next rank: bytes are optimal,
 * latency grows with p. Any p, any n, also n < p (blocks may be empty). Block b
 * starts at rank b and is complete at rank b-1, so its terms come in ring
 * order, not in rank order; one rank computes it and all others receive it. */
#include "coll/algorithms.h"

/* DST[b] = the received partial value op this rank's SRC[b]. */
static int accumulate(struct cx_builder *b, int left, uint32_t block)
{
    struct cx_operand partial = cx_scratch(block, 1);
    int recv = cx_build_recv(b, left, partial, CX_NO_OP, CX_NO_OP);

    return cx_build_reduce(b, cx_dst(block, 1), partial, cx_src(block, 1), recv,
                           CX_NO_OP);
}

static enum cx_status generate(const struct cx_shape *shape,
                               struct cx_plan **plan)
{
    int p = shape->nranks, rank = shape->rank;
    int left = (rank + p - 1) % p, right = (rank + 1) % p;
    int last = CX_NO_OP, first_send = 0;
    struct cx_builder b;

    cx_build_init(&b, shape, CX_LAYOUT_PARTITION, (uint32_t)p);
    if (p == 1) {
        cx_build_copy(&b, cx_dst(0, 1), cx_src(0, 1), CX_NO_OP, CX_NO_OP);
        return cx_build_finish(&b, plan);
    }
    for (int step = 0; step < p - 1; step++) {
        uint32_t out = (uint32_t)((rank + p - step) % p);
        uint32_t in = (uint32_t)((rank + 2 * p - step - 1) % p);
        int send = cx_build_send(
            &b, right, step ? cx_dst(out, 1) : cx_src(out, 1), last, CX_NO_OP);

        /* The reduce-scatter is 3 ops a step: send, receive, reduce. */
        if (step == 0)
            first_send = send;
        last = accumulate(&b, left, in);
    }
    for (int step = 0; step < p - 1; step++) {
        uint32_t out = (uint32_t)((rank + 1 + p - step) % p);
        uint32_t in = (uint32_t)((rank + p - step) % p);

        cx_build_send(&b, right, cx_dst(out, 1), last, CX_NO_OP);
        /* The final value replaces the partial one that step `step` of the
         * reduce-scatter sent from there (or SRC, which may be DST). */
        last = cx_build_recv(&b, left, cx_dst(in, 1), first_send + 3 * step,
                             CX_NO_OP);
    }
    return cx_build_finish(&b, plan);
}

const struct cx_algorithm cx_allreduce_ring = {
    .name = "ring",
    .func = CX_ALLREDUCE,
    .ordered = 0,
    .summary = "ring: 2(p-1) messages of 1/p of the vector; for large sizes",
    .generate = generate,
};
