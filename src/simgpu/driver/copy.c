/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.c - see copy.h.
 *
 * When a call returns follows the rules of the real driver: from pageable
 * memory, once the source has been read (it is staged here); to pageable
 * memory and between host memories, once all is done; else at once. The calls
 * without Async wait too, but not for a copy inside the device. Memory is
 * looked up when the copy is queued: freeing waits for queued work. */
#include "copy.h"

#include "capture.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

struct span {
    char *mem;
    bool host; /* plain, pinned or registered */
    bool pageable;
    bool managed;
    bool sync_memops;
    int device; /* that it belongs to, -1: host */
};

struct copy_op {
    struct sim_op op; /* first */
    char *dst;
    const char *src;
    char *staged; /* owned copy of a pageable source, or NULL */
    size_t dpitch, spitch, width, height;
    struct sim_copy from;
};

struct fill_op {
    struct sim_op op; /* first */
    char *dst;
    struct sim_fill fill;
};

static size_t extent(size_t pitch, size_t width, size_t height)
{
    return (height - 1) * pitch + width;
}

/* What [addr, addr + size) is. A range that begins in one allocation and ends
 * outside of it is refused: a GPU may let it through, to the neighbour. */
static CUresult resolve(uintptr_t addr, size_t size, enum sim_side side,
                        struct span *out)
{
    struct sim_alloc *a = sim_mem_find(addr);
    memset(out, 0, sizeof(*out));
    if (addr == 0 || addr + size < addr)
        return CUDA_ERROR_INVALID_VALUE;
    if (a == NULL) {
        if (sim_mem_is_device_space(addr) || sim_mem_overlaps(addr, size) ||
            side == SIM_DEVICE_SIDE)
            return CUDA_ERROR_INVALID_VALUE;
        out->mem = (char *)addr;
        out->host = out->pageable = true;
        out->device = -1;
        return CUDA_SUCCESS;
    }
    if (addr - a->base + size > a->size)
        return CUDA_ERROR_INVALID_VALUE;
    bool device = a->kind == SIM_DEVICE || a->kind == SIM_IMPORTED;
    if (device && side == SIM_HOST_SIDE)
        return CUDA_ERROR_INVALID_VALUE;
    out->mem = a->mem + (addr - a->base);
    out->managed = a->kind == SIM_MANAGED;
    out->host = !device && !out->managed;
    out->sync_memops = a->sync_memops;
    out->device = out->host ? -1 : a->dev->ordinal;
    return CUDA_SUCCESS;
}

static void copy_run(struct sim_op *op)
{
    struct copy_op *c = (struct copy_op *)op;
    for (size_t row = 0; row < c->height; row++)
        memmove(c->dst + row * c->dpitch, c->src + row * c->spitch, c->width);
}

static void copy_done(struct sim_op *op)
{
    free(((struct copy_op *)op)->staged);
    free(op);
}

/* The bytes that both sides of a copy mean now. */
static CUresult resolve_both(const struct sim_copy *c, struct span *dst,
                             struct span *src)
{
    CUresult rc = resolve(c->dst, extent(c->dpitch, c->width, c->height),
                          c->dst_side, dst);
    if (rc == CUDA_SUCCESS)
        rc = resolve(c->src, extent(c->spitch, c->width, c->height),
                     c->src_side, src);
    return rc;
}

static CUresult copy_bind(struct sim_op *op)
{
    struct copy_op *c = (struct copy_op *)op;
    struct span dst, src;
    if (resolve_both(&c->from, &dst, &src) != CUDA_SUCCESS)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    c->dst = dst.mem;
    c->src = src.mem;
    return CUDA_SUCCESS;
}

static void fill_run(struct sim_op *op)
{
    struct fill_op *f = (struct fill_op *)op;
    for (size_t row = 0; row < f->fill.height; row++) {
        char *at = f->dst + row * f->fill.pitch;
        if (f->fill.size == 1) {
            memset(at, (int)f->fill.value, f->fill.width);
            continue;
        }
        for (size_t i = 0; i < f->fill.width; i++)
            memcpy(at + i * f->fill.size, &f->fill.value, f->fill.size);
    }
}

static void fill_done(struct sim_op *op)
{
    free(op);
}

static CUresult resolve_fill(const struct sim_fill *f, struct span *dst)
{
    return resolve(f->dst, extent(f->pitch, f->width * f->size, f->height),
                   SIM_DEVICE_SIDE, dst);
}

static CUresult fill_bind(struct sim_op *op)
{
    struct fill_op *f = (struct fill_op *)op;
    struct span dst;
    if (resolve_fill(&f->fill, &dst) != CUDA_SUCCESS)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    f->dst = dst.mem;
    return CUDA_SUCCESS;
}

static void count(const struct span *dst, const struct span *src,
                  const struct sim_copy *c)
{
    int kind = SIMGPU_D2D;
    if (dst->host)
        kind = src->host ? SIMGPU_H2H : SIMGPU_D2H;
    else if (src->host)
        kind = SIMGPU_H2D;
    else if (dst->device != src->device)
        kind = SIMGPU_P2P;
    sim_count(&sim_counters->copies[kind], 1);
    sim_count(&sim_counters->bytes[kind], c->width * c->height);
    if (c->height > 1)
        sim_count(&sim_counters->copies_2d, 1);
}

/* Reads a pageable source now, row by row, so that the program may change it
 * as soon as the call returns. */
static bool stage(struct copy_op *op)
{
    char *staged = malloc(op->width * op->height);
    if (staged == NULL)
        return false;
    for (size_t row = 0; row < op->height; row++)
        memcpy(staged + row * op->width, op->src + row * op->spitch, op->width);
    op->staged = staged;
    op->src = staged;
    op->spitch = op->width;
    return true;
}

/* Whether the call returns only when the copy is complete. */
static bool must_wait(const struct span *dst, const struct span *src, bool sync)
{
    if (dst->host && (src->host || dst->pageable))
        return true;
    if (!sync)
        return false;
    return dst->host || src->host || dst->sync_memops || src->sync_memops;
}

/* Queues op; with wait, also waits for it. On failure op is the caller's. */
static CUresult submit(CUstream s, struct sim_op *op, bool wait)
{
    uint64_t seq;
    op->delayed = !wait;
    op->prompt = wait;
    sim_stream_get(s);
    CUresult rc = sim_stream_submit(s, op, NULL, &seq);
    if (rc == CUDA_SUCCESS && wait)
        sim_stream_wait(s, seq);
    sim_stream_put(s);
    return rc;
}

static CUresult submit_copy(CUstream s, struct copy_op *op, bool wait,
                            bool pageable_source)
{
    CUresult rc = CUDA_ERROR_OUT_OF_MEMORY;
    /* A graph reads its sources when it is launched. */
    bool captured = s->capture != NULL;
    if (!wait && pageable_source && !captured && !stage(op))
        goto err_free;
    rc = submit(s, &op->op, wait && !captured);
    if (rc != CUDA_SUCCESS)
        goto err_free;
    return CUDA_SUCCESS;

err_free:
    free(op->staged);
    free(op);
    return rc;
}

static CUresult copy_locked(const struct sim_copy *c, CUstream handle,
                            bool sync)
{
    CUcontext ctx;
    CUstream s;
    struct span dst, src;
    CUresult rc = sim_current_locked(&ctx);
    if (rc == CUDA_SUCCESS)
        rc = sim_stream_find(ctx, handle, &s);
    if (rc != CUDA_SUCCESS || c->width == 0 || c->height == 0)
        return rc;
    if (c->height > 1 && (c->dpitch < c->width || c->spitch < c->width))
        return CUDA_ERROR_INVALID_VALUE;
    rc = resolve_both(c, &dst, &src);
    if (rc == CUDA_SUCCESS && sync)
        rc = sim_capture_ask_stream(s);
    if (rc != CUDA_SUCCESS)
        return rc;
    struct copy_op *op = calloc(1, sizeof(*op));
    if (op == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->op.run = copy_run;
    op->op.done = copy_done;
    op->op.bind = copy_bind;
    op->op.size = sizeof(*op);
    op->op.work = SIM_DELAY_COPY;
    op->from = *c;
    op->dst = dst.mem;
    op->src = src.mem;
    op->dpitch = c->dpitch;
    op->spitch = c->spitch;
    op->width = c->width;
    op->height = c->height;
    rc = submit_copy(s, op, must_wait(&dst, &src, sync), src.pageable);
    if (rc == CUDA_SUCCESS)
        count(&dst, &src, c);
    return rc;
}

CUresult sim_copy(const struct sim_copy *c, CUstream handle, bool sync)
{
    pthread_mutex_lock(&sim_lock);
    CUresult rc = copy_locked(c, handle, sync);
    pthread_mutex_unlock(&sim_lock);
    return rc;
}

static CUresult fill_locked(const struct sim_fill *f, CUstream handle,
                            bool sync)
{
    CUcontext ctx;
    CUstream s;
    struct span dst;
    CUresult rc = sim_current_locked(&ctx);
    if (rc == CUDA_SUCCESS)
        rc = sim_stream_find(ctx, handle, &s);
    if (rc != CUDA_SUCCESS || f->width == 0 || f->height == 0)
        return rc;
    size_t nbytes = f->width * f->size;
    if (f->dst % f->size != 0 || (f->height > 1 && f->pitch < nbytes))
        return CUDA_ERROR_INVALID_VALUE;
    rc = resolve_fill(f, &dst);
    if (rc == CUDA_SUCCESS && sync)
        rc = sim_capture_ask_stream(s);
    if (rc != CUDA_SUCCESS)
        return rc;
    struct fill_op *op = calloc(1, sizeof(*op));
    if (op == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    bool wait = sync && (dst.host || dst.sync_memops);
    op->op.run = fill_run;
    op->op.done = fill_done;
    op->op.bind = fill_bind;
    op->op.work = SIM_DELAY_MEMSET;
    op->op.size = sizeof(*op);
    op->dst = dst.mem;
    op->fill = *f;
    rc = submit(s, &op->op, wait);
    if (rc != CUDA_SUCCESS) {
        free(op);
        return rc;
    }
    sim_count(&sim_counters->copies[SIMGPU_MEMSET], 1);
    sim_count(&sim_counters->bytes[SIMGPU_MEMSET], nbytes * f->height);
    return CUDA_SUCCESS;
}

CUresult sim_fill(const struct sim_fill *f, CUstream handle, bool sync)
{
    pthread_mutex_lock(&sim_lock);
    CUresult rc = fill_locked(f, handle, sync);
    pthread_mutex_unlock(&sim_lock);
    return rc;
}
