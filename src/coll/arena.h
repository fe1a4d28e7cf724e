/* SPDX-License-Identifier: BSD-3-Clause */
/* arena.h - several arrays in one allocation, laid out in two passes: the first
 * with a NULL base to learn the size, the second to get the addresses. */
#ifndef CX_ARENA_H
#define CX_ARENA_H

#include <stddef.h>

#define CX_ARENA_ALIGN 16

static inline size_t cx_arena_round(size_t nbytes)
{
    return (nbytes + CX_ARENA_ALIGN - 1) / CX_ARENA_ALIGN * CX_ARENA_ALIGN;
}

/* The next `n` elements of `size` bytes; advances `*at`. */
static inline void *cx_arena_take(char *base, size_t *at, size_t n, size_t size)
{
    void *out = base ? base + *at : NULL;

    *at += cx_arena_round(n * size);
    return out;
}

#endif
