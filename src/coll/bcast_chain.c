/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast_chain.c - broadcast down a chain of ranks.
 *
 * Each rank receives from the one before and sends to the one after. In T tiles
 * it takes p - 2 + T steps of 1/T of the vector, so that with enough tiles the
 * time is that of sending the vector once: for large sizes. Any p, any root. */
#include "coll/algorithms.h"

static enum cx_status generate(const struct cx_shape *shape,
                               struct cx_plan **plan)
{
    int p = shape->nranks, rank = shape->rank;
    int pos = (rank + p - shape->root) % p;
    struct cx_operand data = cx_src(0, 1);
    struct cx_builder b;
    int recv = CX_NO_OP;

    cx_build_init(&b, shape, CX_LAYOUT_PARTITION, 1);
    if (pos > 0) {
        data = cx_dst(0, 1);
        recv = cx_build_recv(&b, (rank + p - 1) % p, data, CX_NO_OP, CX_NO_OP);
    }
    if (pos < p - 1)
        cx_build_send(&b, (rank + 1) % p, data, recv, CX_NO_OP);
    return cx_build_finish(&b, plan);
}

const struct cx_algorithm cx_bcast_chain = {
    .name = "chain",
    .func = CX_BCAST,
    .ordered = 1,
    .summary = "pipelined chain: the vector passes each link once, in tiles; "
               "for large sizes",
    .generate = generate,
};
