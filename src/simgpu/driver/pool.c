/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c - see pool.h. */
#include "pool.h"

#include <stdlib.h>
#include <string.h>

static CUmemoryPool pools;

/* The beginning or the end of a life, as work of a stream. */
struct life_op {
    struct sim_op op; /* first */
    struct sim_life life;
    char *mem;
    size_t size;
    enum sim_life_state state;
};

static void life_run(struct sim_op *op)
{
    struct life_op *l = (struct life_op *)op;
    bool born = l->state == SIM_ALIVE;
    if (!born)
        sim_life_set(l->life, SIM_DEAD);
    sim_mem_fill(l->mem, l->size, born ? SIM_FILL_FRESH : SIM_FILL_FREED);
    if (born)
        sim_life_set(l->life, SIM_ALIVE);
}

static void life_done(struct sim_op *op)
{
    struct life_op *l = (struct life_op *)op;
    if (l->state == SIM_DEAD)
        sim_life_end(l->life);
    free(l);
}

static CUresult queue_life(CUstream s, const struct sim_alloc *a,
                           enum sim_life_state state,
                           const struct sim_stamp *after, uint64_t *seq)
{
    struct life_op *l = calloc(1, sizeof(*l));
    if (l == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    l->op.run = life_run;
    l->op.done = life_done;
    l->op.prompt = true;
    l->life = a->life;
    l->mem = a->mem;
    l->size = a->place.size;
    l->state = state;
    CUresult rc = sim_stream_submit(s, &l->op, after, seq);
    if (rc != CUDA_SUCCESS)
        free(l);
    return rc;
}

CUmemoryPool sim_pool_check(CUmemoryPool handle)
{
    for (CUmemoryPool p = pools; p != NULL; p = p->next)
        if (p == handle)
            return p->destroyed ? NULL : p;
    return NULL;
}

CUresult sim_pool_create(struct sim_device *dev, const CUmemPoolProps *props,
                         CUmemoryPool *out)
{
    CUmemoryPool p = calloc(1, sizeof(*p));
    if (p == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    p->dev = dev;
    p->props = *props;
    for (int i = 0; i < 3; i++)
        p->reuse[i] = 1;
    p->access[dev->ordinal] = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    p->next = pools;
    pools = p;
    *out = p;
    return CUDA_SUCCESS;
}

CUmemoryPool sim_pool_default(struct sim_device *dev)
{
    const CUmemPoolProps props = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {CU_MEM_LOCATION_TYPE_DEVICE, dev->ordinal},
    };
    if (dev->pool == NULL)
        sim_pool_create(dev, &props, &dev->pool);
    return dev->pool;
}

CUmemoryPool sim_pool_current(struct sim_device *dev)
{
    CUmemoryPool set = sim_pool_check(dev->pool_set);
    return set != NULL ? set : sim_pool_default(dev);
}

static bool reached(struct sim_held *h)
{
    if (h->stream != NULL && h->stream->completed >= h->seq) {
        sim_stream_put(h->stream);
        h->stream = NULL;
    }
    return h->stream == NULL;
}

void sim_pool_trim(CUmemoryPool pool, uint64_t keep)
{
    struct sim_held **at = &pool->held;
    while (*at != NULL && pool->reserved > keep) {
        struct sim_held *h = *at;
        if (!reached(h)) {
            at = &h->next;
            continue;
        }
        *at = h->next;
        pool->reserved -= h->place.size;
        sim_arena_give(pool->dev, &h->place);
        free(h);
    }
}

void sim_pool_destroy(CUmemoryPool pool)
{
    pool->destroyed = true;
    sim_pool_trim(pool, 0);
}

void sim_pools_synced(void)
{
    for (CUmemoryPool p = pools; p != NULL; p = p->next)
        sim_pool_trim(p, p->destroyed ? 0 : p->threshold);
}

void sim_pools_relieve(struct sim_device *dev)
{
    for (CUmemoryPool p = pools; p != NULL; p = p->next)
        if (p->dev == dev)
            sim_pool_trim(p, 0);
}

static int reuse_attr(const struct CUmemPoolHandle_st *p,
                      CUmemPool_attribute attr)
{
    return p->reuse[attr - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
}

/* Whether work of s may have this memory: freed by s itself, or the free has
 * been reached. Waiting for it makes others fit too. */
static bool may_have(CUmemoryPool pool, struct sim_held *h, CUstream s,
                     bool wait)
{
    if (h->stream == s)
        return true;
    if (reached(h))
        return reuse_attr(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC);
    return wait &&
           reuse_attr(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES);
}

/* Takes held memory of this size; of a larger one too if the work will wait,
 * since then there is no other. */
static struct sim_held *take_held(CUmemoryPool pool, size_t need, CUstream s,
                                  bool wait)
{
    if (!sim.config.reuse)
        return NULL;
    for (struct sim_held **at = &pool->held; *at != NULL; at = &(*at)->next) {
        struct sim_held *h = *at;
        if (h->place.size < need || (h->place.size != need && !wait) ||
            !may_have(pool, h, s, wait))
            continue;
        *at = h->next;
        return h;
    }
    return NULL;
}

static CUresult take_new(CUmemoryPool pool, size_t size, struct sim_place *out)
{
    size_t max = pool->props.maxSize;
    if (max != 0 && (size > max || pool->reserved > max - size))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult rc = sim_arena_take(pool->dev, size, out);
    if (rc != CUDA_SUCCESS)
        return rc;
    pool->reserved += out->size;
    if (pool->reserved > pool->reserved_high)
        pool->reserved_high = pool->reserved;
    return rc;
}

/* Finds memory for work of s. *after is what it must wait for, counted, or
 * has no stream. */
static CUresult take(CUmemoryPool pool, size_t size, CUstream s,
                     struct sim_place *out, struct sim_stamp *after)
{
    size_t need = sim_heap_round(size);
    after->stream = NULL;
    if (size > sim.config.mem)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct sim_held *h = take_held(pool, need, s, false);
    if (h == NULL) {
        CUresult rc = take_new(pool, size, out);
        if (rc == CUDA_SUCCESS)
            return rc;
        h = take_held(pool, need, s, true);
    }
    if (h == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = h->place;
    after->stream = h->stream;
    after->seq = h->seq;
    free(h);
    return CUDA_SUCCESS;
}

/* Memory goes to the pool, free from (s, seq) on; s NULL: now. */
static void hold(CUmemoryPool pool, const struct sim_place *place, CUstream s,
                 uint64_t seq)
{
    struct sim_held *h = calloc(1, sizeof(*h));
    if (h == NULL)
        return; /* the memory is lost, which is safe */
    h->place = *place;
    h->seq = seq;
    h->stream = s;
    if (s != NULL)
        sim_stream_get(s);
    h->next = pool->held;
    pool->held = h;
    if (pool->destroyed || !sim.config.reuse)
        sim_pool_trim(pool, 0);
}

static void count_used(CUmemoryPool pool, size_t size)
{
    pool->used += size;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
    sim_count(&sim_counters->allocs, 1);
    sim_count(&sim_counters->pool_allocs, 1);
}

CUresult sim_pool_alloc(CUmemoryPool pool, size_t size, CUstream s,
                        CUdeviceptr *out)
{
    struct sim_stamp after;
    uint64_t seq;
    struct sim_alloc *a = calloc(1, sizeof(*a));
    if (a == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult rc = take(pool, size, s, &a->place, &after);
    if (rc != CUDA_SUCCESS)
        goto err_free;
    a->base = a->place.va;
    a->mem = a->place.mem;
    a->size = size;
    a->kind = SIM_POOL;
    a->dev = pool->dev;
    a->pool = pool;
    rc = CUDA_ERROR_OUT_OF_MEMORY;
    a->life = sim_life_new();
    if (a->life.slot == 0)
        goto err_hold;
    if (!sim_mem_add(a))
        goto err_life;
    rc =
        queue_life(s, a, SIM_ALIVE, after.stream != NULL ? &after : NULL, &seq);
    if (rc != CUDA_SUCCESS)
        goto err_forget;
    if (after.stream != NULL)
        sim_stream_put(after.stream);
    count_used(pool, a->place.size);
    *out = a->base;
    return CUDA_SUCCESS;

err_forget:
    sim_mem_forget(a);
err_life:
    sim_life_end(a->life);
err_hold:
    hold(pool, &a->place, after.stream, after.seq);
    if (after.stream != NULL)
        sim_stream_put(after.stream);
err_free:
    free(a);
    return rc;
}

CUresult sim_pool_free(struct sim_alloc *a, CUstream s)
{
    uint64_t seq = 0, id = a->id;
    sim_mem_forget(a);
    if (s != NULL) {
        CUresult rc = queue_life(s, a, SIM_DEAD, NULL, &seq);
        if (rc != CUDA_SUCCESS) {
            sim_mem_add(a); /* there is room: it was there before */
            a->id = id;
            return rc;
        }
    } else {
        sim_life_end(a->life);
        sim_mem_fill(a->mem, a->place.size, SIM_FILL_FREED);
    }
    a->pool->used -= a->place.size;
    hold(a->pool, &a->place, s, seq);
    sim_count(&sim_counters->frees, 1);
    free(a);
    return CUDA_SUCCESS;
}
