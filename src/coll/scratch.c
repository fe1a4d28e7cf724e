/* SPDX-License-Identifier: BSD-3-Clause */
/* scratch.c - the pool that running calls borrow their scratch from.
 *
 * A list of idle blocks, the latest given back first; the smallest that is
 * large enough is lent, so that calls of several sizes settle on a block each.
 * Blocks have few sizes, hence the list stays short, and a call no larger than
 * one before it finds what it needs. */
#include "coll/coll.h"

#include "base/alloc.h"

/* In front of the memory; as long as its alignment. */
struct cx_block {
    _Alignas(64) struct cx_block *next;
    size_t nbytes;
};

static void drop_last(struct cx_scratch *pool)
{
    struct cx_block **link = &pool->idle;

    while ((*link)->next)
        link = &(*link)->next;
    pool->idle_nbytes -= (*link)->nbytes;
    cx_free(*link);
    *link = NULL;
}

/* As many idle bytes stay as the bound allows beside `lent` that are not. */
static void trim(struct cx_scratch *pool, size_t lent)
{
    size_t most = pool->most > lent ? pool->most : lent;

    if (most < CX_SCRATCH_KEPT)
        most = CX_SCRATCH_KEPT;
    while (pool->idle && pool->idle_nbytes > most - lent)
        drop_last(pool);
}

/* The smallest that will do, the one used last among equals; or NULL. */
static struct cx_block *take_idle(struct cx_scratch *pool, size_t nbytes)
{
    struct cx_block **best = NULL, *block;

    for (struct cx_block **at = &pool->idle; *at; at = &(*at)->next)
        if ((*at)->nbytes >= nbytes &&
            (!best || (*at)->nbytes < (*best)->nbytes))
            best = at;
    if (!best)
        return NULL;
    block = *best;
    *best = block->next;
    pool->idle_nbytes -= block->nbytes;
    return block;
}

void *cx_scratch_take(struct cx_scratch *pool, size_t nbytes)
{
    struct cx_block *block = take_idle(pool, nbytes);
    size_t size;

    if (!block) {
        size = cx_alloc_class(nbytes);
        if (size > SIZE_MAX - sizeof(*block) - pool->lent)
            return NULL;
        trim(pool, pool->lent + size);
        block = cx_alloc(1, sizeof(*block) + size);
        if (!block)
            return NULL;
        block->nbytes = size;
    }
    pool->lent += block->nbytes;
    if (pool->most < pool->lent)
        pool->most = pool->lent;
    return block + 1;
}

static struct cx_block *end_loan(struct cx_scratch *pool, void *mem)
{
    struct cx_block *block = (struct cx_block *)mem - 1;

    pool->lent -= block->nbytes;
    return block;
}

void cx_scratch_give(struct cx_scratch *pool, void *mem)
{
    struct cx_block *block = end_loan(pool, mem);

    block->next = pool->idle;
    pool->idle = block;
    pool->idle_nbytes += block->nbytes;
    trim(pool, pool->lent);
}

void cx_scratch_lose(struct cx_scratch *pool, void *mem)
{
    struct cx_block *block = end_loan(pool, mem);

    block->next = pool->lost;
    pool->lost = block;
}

static void free_all(struct cx_block *block)
{
    struct cx_block *next;

    for (; block; block = next) {
        next = block->next;
        cx_free(block);
    }
}

void cx_scratch_fini(struct cx_scratch *pool)
{
    free_all(pool->idle);
    free_all(pool->lost);
    *pool = (struct cx_scratch){0};
}
