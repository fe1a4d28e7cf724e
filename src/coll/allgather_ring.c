/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather_ring.c - allgather on a ring.
 *
 * p-1 steps; each passes on the block received in the step before, straight
 * between the places in DST. Bytes are optimal, latency grows with p: for large
 * sizes. Any p. */
#include "coll/algorithms.h"

static enum cx_status generate(const struct cx_shape *shape,
                               struct cx_plan **plan)
{
    int p = shape->nranks, rank = shape->rank;
    int left = (rank + p - 1) % p, right = (rank + 1) % p;
    struct cx_operand data = cx_src(0, 1);
    struct cx_builder b;
    int last = CX_NO_OP;

    cx_build_init(&b, shape, CX_LAYOUT_ARRAY, (uint32_t)p);
    for (int step = 0; step < p - 1; step++) {
        uint32_t in = (uint32_t)((rank + 2 * p - step - 1) % p);

        cx_build_send(&b, right, data, last, CX_NO_OP);
        data = cx_dst(in, 1);
        last = cx_build_recv(&b, left, data, CX_NO_OP, CX_NO_OP);
    }
    cx_build_copy(&b, cx_dst((uint32_t)rank, 1), cx_src(0, 1), CX_NO_OP,
                  CX_NO_OP);
    return cx_build_finish(&b, plan);
}

const struct cx_algorithm cx_allgather_ring = {
    .name = "ring",
    .func = CX_ALLGATHER,
    .ordered = 1,
    .summary = "ring: p-1 messages of one block; for large sizes",
    .generate = generate,
};
