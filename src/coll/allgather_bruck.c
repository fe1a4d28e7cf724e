/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather_bruck.c - allgather by Bruck's method.
 *
 * ceil(log2 p) rounds for any p: scratch block i gathers the block of rank
 * (rank + i) mod p, and each round doubles the blocks at hand. Bytes are
 * optimal, but everything passes through scratch and one copy: for small
 * sizes. */
#include "coll/algorithms.h"

/* Copies scratch blocks [first, first + n) to their places in DST, in two
 * pieces where they wrap. */
static void copy_out(struct cx_builder *b, uint32_t first, uint32_t n, int recv)
{
    uint32_t p = (uint32_t)b->shape.nranks;
    uint32_t at = ((uint32_t)b->shape.rank + first) % p;
    uint32_t before = n < p - at ? n : p - at;

    cx_build_copy(b, cx_dst(at, before), cx_scratch(first, before), recv,
                  CX_NO_OP);
    if (before < n)
        cx_build_copy(b, cx_dst(0, n - before),
                      cx_scratch(first + before, n - before), recv, CX_NO_OP);
}

static enum cx_status generate(const struct cx_shape *shape,
                               struct cx_plan **plan)
{
    uint32_t p = (uint32_t)shape->nranks, rank = (uint32_t)shape->rank;
    int have[32] = {CX_NO_OP}; /* [k]: complete when scratch [0, 2^k) is */
    struct cx_builder b;
    int round = 0;

    cx_build_init(&b, shape, CX_LAYOUT_ARRAY, p);
    if (p > 1)
        have[0] = cx_build_copy(&b, cx_scratch(0, 1), cx_src(0, 1), CX_NO_OP,
                                CX_NO_OP);
    for (uint32_t dist = 1; dist < p; dist *= 2, round++) {
        uint32_t n = dist < p - dist ? dist : p - dist;
        int from = (int)((rank + dist) % p), to = (int)((rank + p - dist) % p);
        int recv, k = 0;

        while (1u << k < n) /* the last round sends less than is there */
            k++;
        cx_build_send(&b, to, cx_scratch(0, n), have[k], CX_NO_OP);
        recv = cx_build_recv(&b, from, cx_scratch(dist, n), CX_NO_OP, CX_NO_OP);
        copy_out(&b, dist, n, recv);
        /* Rounds have different senders: a later one may end first. Only a
         * next round that sends more than [0, dist) cares. */
        if (3 * dist < p)
            have[round + 1] = cx_build_join(&b, have[round], recv);
    }
    cx_build_copy(&b, cx_dst(rank, 1), cx_src(0, 1), CX_NO_OP, CX_NO_OP);
    return cx_build_finish(&b, plan);
}

const struct cx_algorithm cx_allgather_bruck = {
    .name = "bruck",
    .func = CX_ALLGATHER,
    .ordered = 1,
    .summary = "Bruck: ceil(log2 p) messages, all data copied once more; for "
               "small sizes",
    .generate = generate,
};
