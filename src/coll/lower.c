/* SPDX-License-Identifier: BSD-3-Clause */
/* lower.c - binds a plan to the bytes of one call.
 *
 * Constant work a call and a tile; two divisions a tile. Slots have the size of
 * the largest tile that the tiling allows, not of this call's, so that a call
 * with fewer elements never needs more memory than one with more. */
#include "coll/lower.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"

#define SLOT_ALIGN 64

static enum cx_status check_run(const struct cx_plan *plan,
                                const struct cx_run *run)
{
    const struct cx_tiling *tiling = &run->tiling;
    int ok = run->elsize > 0 && tiling->tile_count > 0 && tiling->depth > 0 &&
             tiling->depth <= CX_MAX_DEPTH &&
             run->team < (1u << CX_TAG_TEAM_BITS);

    if (plan->reduces)
        ok = ok && cx_redop_valid(run->op, run->dtype) &&
             cx_dtype_size(run->dtype) == run->elsize;
    if (ok)
        return CX_OK;
    cx_error("collective of %zu elements of %zu bytes, %s on %s, tiles of %zu, "
             "depth %d: not a valid call; this is a fault of the engine",
             run->count, run->elsize, cx_redop_str(run->op),
             cx_dtype_str(run->dtype), tiling->tile_count, tiling->depth);
    return CX_ERR_ARG;
}

/* Bytes of one slot that holds `nblocks` blocks of `bytes` bytes each. */
static enum cx_status slot_size(size_t nblocks, size_t bytes, size_t *out)
{
    size_t n;
    enum cx_status status = cx_mul(nblocks, bytes, &n);

    if (status != CX_OK)
        return status;
    if (n > SIZE_MAX / CX_MAX_DEPTH - SLOT_ALIGN)
        return CX_ERR_ARG;
    *out = (n + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
    return CX_OK;
}

/* The whole of DST must be addressable; nothing after this can overflow. */
static enum cx_status check_size(const struct cx_plan *plan,
                                 const struct cx_run *run)
{
    size_t nblocks = plan->layout == CX_LAYOUT_ARRAY ? plan->nblocks : 1;
    size_t nbytes;

    if (cx_mul(run->count, run->elsize, &nbytes) == CX_OK &&
        cx_mul(nbytes, nblocks, &nbytes) == CX_OK)
        return CX_OK;
    cx_error("%zu elements of %zu bytes on %d ranks do not fit into memory",
             run->count, run->elsize, plan->shape.nranks);
    return CX_ERR_ARG;
}

static enum cx_status size_slots(struct cx_lowered *low,
                                 const struct cx_run *run)
{
    const struct cx_plan *plan = low->plan;
    int array = plan->layout == CX_LAYOUT_ARRAY;
    size_t most = run->tiling.tile_count, nscratch = plan->nscratch;
    enum cx_status status;
    size_t bytes;

    if (most > run->count)
        most = run->count;
    bytes = most * run->elsize;
    if (!array)
        nscratch = (nscratch + plan->nblocks - 1) / plan->nblocks;
    status = slot_size(nscratch, bytes, &low->place[CX_SCRATCH].slot_size);
    if (status == CX_OK && low->staged[CX_SRC])
        status = slot_size(1, bytes, &low->place[CX_SRC].slot_size);
    if (status == CX_OK && low->staged[CX_DST])
        status = slot_size(array ? plan->nblocks : 1, bytes,
                           &low->place[CX_DST].slot_size);
    return status;
}

enum cx_status cx_lower_init(struct cx_lowered *low, const struct cx_plan *plan,
                             const struct cx_run *run)
{
    enum cx_status status = check_run(plan, run);
    int k;

    if (status == CX_OK)
        status = check_size(plan, run);
    if (status != CX_OK)
        return status;
    memset(low, 0, sizeof(*low));
    low->plan = plan;
    low->count = run->count;
    low->elsize = run->elsize;
    low->ntiles = run->count / run->tiling.tile_count +
                  (run->count % run->tiling.tile_count != 0);
    low->depth = run->tiling.depth;
    if ((size_t)low->depth > low->ntiles)
        low->depth = (int)low->ntiles;
    low->inplace = run->src == NULL;
    low->mem[CX_SRC] = low->inplace ? run->dst_mem : run->src_mem;
    low->mem[CX_DST] = run->dst_mem;
    /* Borrowed for the call; SRC is never written through this pointer. */
    low->place[CX_SRC].user = (char *)(uintptr_t)run->src;
    low->place[CX_DST].user = run->dst;
    k = low->inplace;
    low->staged[CX_SRC] =
        !low->inplace && plan->nload[0] > 0 && cx_mem_on_gpu(&low->mem[CX_SRC]);
    low->staged[CX_DST] = (plan->nstore[k] > 0 || (k && plan->nload[k] > 0)) &&
                          cx_mem_on_gpu(&low->mem[CX_DST]);
    return size_slots(low, run);
}

/* Element where block `b` of a tile begins (PARTITION). */
static size_t part(const struct cx_tile_map *map, size_t b)
{
    return map->quot * b + (b < map->rem ? b : map->rem);
}

static void map_space(const struct cx_lowered *low, size_t slot,
                      enum cx_space space, struct cx_tile_map *map)
{
    const struct cx_place *place = &low->place[space];

    if (space == CX_SCRATCH || low->staged[space]) {
        map->base[space] =
            place->slots ? place->slots + slot * place->slot_size : NULL;
        map->pitch[space] = map->count * low->elsize;
    } else {
        map->base[space] =
            place->user ? place->user + map->first * low->elsize : NULL;
        map->pitch[space] = low->count * low->elsize;
    }
}

void cx_lower_tile(const struct cx_lowered *low, size_t index,
                   struct cx_tile_map *map)
{
    size_t each = low->count / low->ntiles, more = low->count % low->ntiles;
    size_t slot = index % (size_t)low->depth;
    size_t own = (size_t)low->plan->shape.rank;

    map->first = each * index + (index < more ? index : more);
    map->count = each + (index < more);
    map->quot = map->count / low->plan->nblocks;
    map->rem = map->count % low->plan->nblocks;
    map_space(low, slot, CX_DST, map);
    map_space(low, slot, CX_SCRATCH, map);
    if (!low->inplace) {
        map_space(low, slot, CX_SRC, map);
        return;
    }
    map->base[CX_SRC] = map->base[CX_DST];
    map->pitch[CX_SRC] = 0;
    if (low->plan->layout == CX_LAYOUT_ARRAY && map->base[CX_DST])
        map->base[CX_SRC] += own * map->pitch[CX_DST];
}

char *cx_lower_operand(const struct cx_lowered *low,
                       const struct cx_tile_map *map,
                       const struct cx_operand *x, size_t *nbytes)
{
    char *base = map->base[x->space];
    size_t at, end;

    if (low->plan->layout == CX_LAYOUT_ARRAY) {
        *nbytes = x->n * map->count * low->elsize;
        return *nbytes ? base + x->first * map->pitch[x->space] : base;
    }
    at = part(map, x->first);
    end = part(map, x->first + (size_t)x->n);
    *nbytes = (end - at) * low->elsize;
    return *nbytes ? base + (x->rep * map->count + at) * low->elsize : base;
}

void cx_lower_transfer(const struct cx_lowered *low,
                       const struct cx_tile_map *map, enum cx_space space,
                       const struct cx_run_of_blocks *run,
                       struct cx_transfer *out)
{
    struct cx_operand x = {.space = space, .first = run->first, .n = run->n};
    /* In place, SRC is a part of DST: block 0 or block `rank`. */
    int own = space == CX_SRC && low->inplace;
    char *user = low->place[own ? CX_DST : space].user;
    size_t nbytes, first;

    out->shadow = cx_lower_operand(low, map, &x, &nbytes);
    out->rows = 1;
    out->width = nbytes;
    out->user_pitch = out->shadow_pitch = nbytes;
    if (low->plan->layout == CX_LAYOUT_PARTITION) {
        out->user = user + (map->first + part(map, run->first)) * low->elsize;
        return;
    }
    first = own ? (size_t)low->plan->shape.rank : run->first;
    out->user = user + (first * low->count + map->first) * low->elsize;
    out->rows = run->n;
    out->width = map->count * low->elsize;
    out->user_pitch = low->count * low->elsize;
    out->shadow_pitch = out->width;
}
