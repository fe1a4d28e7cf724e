/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.h - gives out ranges of an interval [0, limit); touches no memory.
 *
 * A range of the same size as one just given back is that one (last in, first
 * out), as programs see it on a GPU: it is what makes stale handles and
 * addresses dangerous. Not thread-safe. */
#ifndef SIM_HEAP_H
#define SIM_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#define SIM_HEAP_ALIGN 256

struct sim_hole {
    size_t off, size;
};

struct sim_heap {
    size_t limit;
    size_t top;             /* nothing above has ever been given out */
    bool reuse;             /* false: holes are never given out again */
    struct sim_hole *holes; /* owned; the newest is last */
    size_t nholes, cap;
};

/* Rounds a size up to what one range occupies. */
static inline size_t sim_heap_round(size_t size)
{
    return (size + SIM_HEAP_ALIGN - 1) & ~(size_t)(SIM_HEAP_ALIGN - 1);
}

void sim_heap_init(struct sim_heap *h, size_t limit, bool reuse);
void sim_heap_fini(struct sim_heap *h);
/* size must be rounded; false when no range is left. */
bool sim_heap_take(struct sim_heap *h, size_t size, size_t *off);
/* A range that sim_heap_take gave, with its size. */
void sim_heap_give(struct sim_heap *h, size_t off, size_t size);

#endif
