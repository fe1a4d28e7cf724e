/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast_knomial.c - broadcast down a k-nomial tree.
 *
 * ceil(log_k p) levels; a rank sends the whole vector to up to (k-1) children a
 * level, largest subtree first. It wins at small sizes. Any p, any root. */
#include "coll/algorithms.h"

#define RADIX 4

static enum cx_status generate(const struct cx_shape *shape,
                               struct cx_plan **plan)
{
    int p = shape->nranks, root = shape->root;
    int pos = (shape->rank + p - root) % p; /* the root is position 0 */
    int64_t reach = 1; /* this position heads [pos, pos + reach) */
    struct cx_operand data = cx_src(0, 1);
    struct cx_builder b;
    int recv = CX_NO_OP;

    cx_build_init(&b, shape, CX_LAYOUT_PARTITION, 1);
    while (reach < p && pos / reach % RADIX == 0)
        reach *= RADIX;
    if (pos > 0) {
        int parent = (int)(pos - pos / reach % RADIX * reach);

        data = cx_dst(0, 1);
        recv = cx_build_recv(&b, (parent + root) % p, data, CX_NO_OP, CX_NO_OP);
    }
    for (reach /= RADIX; reach >= 1; reach /= RADIX) {
        for (int k = 1; k < RADIX && pos + k * reach < p; k++) {
            int child = (int)(pos + k * reach);

            cx_build_send(&b, (child + root) % p, data, recv, CX_NO_OP);
        }
    }
    return cx_build_finish(&b, plan);
}

const struct cx_algorithm cx_bcast_knomial = {
    .name = "knomial",
    .func = CX_BCAST,
    .ordered = 1,
    .summary = "4-nomial tree: log4 p levels of the whole vector; for small "
               "sizes",
    .generate = generate,
};
