/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.c - see heap.h. Takes and gives cost O(holes). */
#include "heap.h"

#include <stdlib.h>
#include <string.h>

void sim_heap_init(struct sim_heap *h, size_t limit, bool reuse)
{
    memset(h, 0, sizeof(*h));
    h->limit = limit;
    h->reuse = reuse;
}

void sim_heap_fini(struct sim_heap *h)
{
    free(h->holes);
    memset(h, 0, sizeof(*h));
}

static void hole_drop(struct sim_heap *h, size_t i)
{
    memmove(&h->holes[i], &h->holes[i + 1],
            (h->nholes - i - 1) * sizeof(h->holes[0]));
    h->nholes--;
}

/* The newest hole that fits, exactly or with a rest that stays a hole. */
static bool take_hole(struct sim_heap *h, size_t size, bool exact, size_t *off)
{
    for (size_t i = h->nholes; i-- > 0;) {
        struct sim_hole *hole = &h->holes[i];
        if (hole->size < size || (exact && hole->size != size))
            continue;
        *off = hole->off;
        hole->off += size;
        hole->size -= size;
        if (hole->size == 0)
            hole_drop(h, i);
        return true;
    }
    return false;
}

static int by_offset(const void *a, const void *b)
{
    const struct sim_hole *x = a, *y = b;
    return x->off < y->off ? -1 : x->off > y->off;
}

/* Joins neighbours, and the last hole with the space above it. */
static void join_holes(struct sim_heap *h)
{
    if (h->nholes == 0)
        return;
    qsort(h->holes, h->nholes, sizeof(h->holes[0]), by_offset);
    size_t n = 0;
    for (size_t i = 1; i < h->nholes; i++) {
        if (h->holes[n].off + h->holes[n].size == h->holes[i].off)
            h->holes[n].size += h->holes[i].size;
        else
            h->holes[++n] = h->holes[i];
    }
    h->nholes = n + 1;
    if (h->holes[n].off + h->holes[n].size == h->top) {
        h->top = h->holes[n].off;
        h->nholes--;
    }
}

static bool take_top(struct sim_heap *h, size_t size, size_t *off)
{
    if (size > h->limit - h->top)
        return false;
    *off = h->top;
    h->top += size;
    return true;
}

bool sim_heap_take(struct sim_heap *h, size_t size, size_t *off)
{
    if (take_hole(h, size, true, off) || take_top(h, size, off) ||
        take_hole(h, size, false, off))
        return true;
    join_holes(h);
    return take_top(h, size, off) || take_hole(h, size, false, off);
}

void sim_heap_give(struct sim_heap *h, size_t off, size_t size)
{
    if (!h->reuse)
        return;
    if (h->nholes == h->cap) {
        size_t cap = h->cap == 0 ? 64 : h->cap * 2;
        struct sim_hole *holes = realloc(h->holes, cap * sizeof(*holes));
        if (holes == NULL)
            return; /* the range is lost, which is safe */
        h->holes = holes;
        h->cap = cap;
    }
    h->holes[h->nholes++] = (struct sim_hole){off, size};
}
