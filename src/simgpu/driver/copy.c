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

#include <stdlib.h>
#include <string.h>

struct copy_op {
    struct sim_op op;     /* first */
    struct sim_copy what; /* with contexts */
    struct sim_span dst, src;
    char *staged; /* owned copy of a pageable source, or NULL */
};

struct fill_op {
    struct sim_op op; /* first */
    struct sim_fill what;
    CUcontext by;
    struct sim_span dst;
};

static size_t extent(size_t pitch, size_t width, size_t height)
{
    return (height - 1) * pitch + width;
}

/* Memory of a pool must be alive where the work comes in its stream. */
static bool is_alive(struct sim_op *op, const struct sim_span *span)
{
    if (sim_life_check(span->life))
        return true;
    op->fault = CUDA_ERROR_ILLEGAL_ADDRESS;
    return false;
}

static void copy_run(struct sim_op *op)
{
    struct copy_op *c = (struct copy_op *)op;
    const struct sim_copy *w = &c->what;
    const char *src = c->staged != NULL ? c->staged : c->src.mem;
    size_t spitch = c->staged != NULL ? w->width : w->spitch;
    if (!is_alive(op, &c->dst) || !is_alive(op, &c->src))
        return;
    for (size_t row = 0; row < w->height; row++)
        memmove(c->dst.mem + row * w->dpitch, src + row * spitch, w->width);
}

static void copy_done(struct sim_op *op)
{
    free(((struct copy_op *)op)->staged);
    free(op);
}

/* What both sides of a copy are now. */
static CUresult find_sides(struct copy_op *c)
{
    const struct sim_copy *w = &c->what;
    const struct sim_want dst = {
        .addr = w->dst,
        .size = extent(w->dpitch, w->width, w->height),
        .side = w->dst_side,
        .by = w->dst_ctx,
        .write = true,
    };
    const struct sim_want src = {
        .addr = w->src,
        .size = extent(w->spitch, w->width, w->height),
        .side = w->src_side,
        .by = w->src_ctx,
    };
    CUresult rc = sim_span_find(&dst, &c->dst);
    return rc == CUDA_SUCCESS ? sim_span_find(&src, &c->src) : rc;
}

static CUresult copy_bind(struct sim_op *op)
{
    return find_sides((struct copy_op *)op) == CUDA_SUCCESS
               ? CUDA_SUCCESS
               : CUDA_ERROR_ILLEGAL_ADDRESS;
}

static void fill_run(struct sim_op *op)
{
    struct fill_op *f = (struct fill_op *)op;
    const struct sim_fill *w = &f->what;
    if (!is_alive(op, &f->dst))
        return;
    for (size_t row = 0; row < w->height; row++) {
        char *at = f->dst.mem + row * w->pitch;
        if (w->size == 1) {
            memset(at, (int)w->value, w->width);
            continue;
        }
        for (size_t i = 0; i < w->width; i++)
            memcpy(at + i * w->size, &w->value, w->size);
    }
}

static void fill_done(struct sim_op *op)
{
    free(op);
}

static CUresult find_filled(struct fill_op *f)
{
    const struct sim_fill *w = &f->what;
    const struct sim_want dst = {
        .addr = w->dst,
        .size = extent(w->pitch, w->width * w->size, w->height),
        .side = SIM_DEVICE_SIDE,
        .by = f->by,
        .write = true,
    };
    return sim_span_find(&dst, &f->dst);
}

static CUresult fill_bind(struct sim_op *op)
{
    return find_filled((struct fill_op *)op) == CUDA_SUCCESS
               ? CUDA_SUCCESS
               : CUDA_ERROR_ILLEGAL_ADDRESS;
}

/* Copies of cuMemAlloc's memory work without peer access, by way of the host;
 * a setting refuses them, to find programs that depend on that. */
static CUresult check_peers(bool foreign)
{
    return foreign && !sim.config.peer_copy ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED
                                            : CUDA_SUCCESS;
}

/* The same for cuMemcpyPeer, where each side is named by its own context, and
 * which is never refused. */
static bool is_staged(const struct copy_op *op)
{
    const struct sim_copy *w = &op->what;
    if (op->dst.foreign || op->src.foreign)
        return true;
    if (w->dst_ctx->dev == w->src_ctx->dev)
        return false;
    return (w->dst_ctx->peers & UINT32_C(1) << w->src_ctx->dev->ordinal) == 0 &&
           (w->src_ctx->peers & UINT32_C(1) << w->dst_ctx->dev->ordinal) == 0;
}

static void count(const struct copy_op *op)
{
    const struct sim_span *dst = &op->dst, *src = &op->src;
    int kind = SIMGPU_D2D;
    if (dst->host)
        kind = src->host ? SIMGPU_H2H : SIMGPU_D2H;
    else if (src->host)
        kind = SIMGPU_H2D;
    else if (dst->device != src->device)
        kind = SIMGPU_P2P;
    if (is_staged(op))
        sim_count(&sim_counters->peer_staged, 1);
    sim_count(&sim_counters->copies[kind], 1);
    sim_count(&sim_counters->bytes[kind], op->what.width * op->what.height);
    if (op->what.height > 1)
        sim_count(&sim_counters->copies_2d, 1);
}

/* Reads a pageable source now, row by row, so that the program may change it
 * as soon as the call returns. */
static bool stage(struct copy_op *op)
{
    const struct sim_copy *w = &op->what;
    op->staged = malloc(w->width * w->height);
    if (op->staged == NULL)
        return false;
    for (size_t row = 0; row < w->height; row++)
        memcpy(op->staged + row * w->width, op->src.mem + row * w->spitch,
               w->width);
    return true;
}

/* Whether the call returns only when the copy is complete. */
static bool must_wait(const struct sim_span *dst, const struct sim_span *src,
                      bool sync)
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

/* Queues a copy whose sides are known. On failure op is the caller's. */
static CUresult submit_copy(CUstream s, struct copy_op *op, bool sync)
{
    /* A graph reads its sources when it is launched. */
    bool captured = s->capture != NULL;
    bool wait = !captured && must_wait(&op->dst, &op->src, sync);
    if (!wait && op->src.pageable && !captured && !stage(op))
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct copy_op queued = *op; /* op may be gone when submit returns */
    CUresult rc = submit(s, &op->op, wait);
    if (rc != CUDA_SUCCESS)
        return rc;
    count(&queued);
    return CUDA_SUCCESS;
}

static CUresult copy_locked(const struct sim_copy *c, CUstream handle,
                            bool sync)
{
    CUcontext ctx;
    CUstream s;
    CUresult rc = sim_current_locked(&ctx);
    if (rc == CUDA_SUCCESS)
        rc = sim_stream_find(ctx, handle, &s);
    if (rc != CUDA_SUCCESS || c->width == 0 || c->height == 0)
        return rc;
    if (c->height > 1 && (c->dpitch < c->width || c->spitch < c->width))
        return CUDA_ERROR_INVALID_VALUE;
    struct copy_op *op = calloc(1, sizeof(*op));
    if (op == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->op.run = copy_run;
    op->op.done = copy_done;
    op->op.bind = copy_bind;
    op->op.size = sizeof(*op);
    op->op.work = SIM_DELAY_COPY;
    op->what = *c;
    CUcontext ran = s->ctx; /* the stream may go meanwhile */
    if (c->dst_ctx == NULL)
        op->what.dst_ctx = s->ctx;
    if (c->src_ctx == NULL)
        op->what.src_ctx = s->ctx;
    rc = find_sides(op);
    if (rc == CUDA_SUCCESS)
        rc = check_peers(op->dst.foreign || op->src.foreign);
    if (rc == CUDA_SUCCESS && sync)
        rc = sim_capture_ask_stream(s);
    if (rc == CUDA_SUCCESS)
        rc = submit_copy(s, op, sync);
    if (rc != CUDA_SUCCESS) {
        copy_done(&op->op);
        return rc;
    }
    return ran->fault;
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
    CUresult rc = sim_current_locked(&ctx);
    if (rc == CUDA_SUCCESS)
        rc = sim_stream_find(ctx, handle, &s);
    if (rc != CUDA_SUCCESS || f->width == 0 || f->height == 0)
        return rc;
    size_t nbytes = f->width * f->size;
    if (f->dst % f->size != 0 || (f->height > 1 && f->pitch < nbytes))
        return CUDA_ERROR_INVALID_VALUE;
    struct fill_op *op = calloc(1, sizeof(*op));
    if (op == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->op.run = fill_run;
    op->op.done = fill_done;
    op->op.bind = fill_bind;
    op->op.work = SIM_DELAY_MEMSET;
    op->op.size = sizeof(*op);
    op->what = *f;
    op->by = s->ctx;
    rc = find_filled(op);
    if (rc == CUDA_SUCCESS)
        rc = check_peers(op->dst.foreign);
    if (rc == CUDA_SUCCESS && sync)
        rc = sim_capture_ask_stream(s);
    if (rc == CUDA_SUCCESS)
        rc = submit(s, &op->op, sync && (op->dst.host || op->dst.sync_memops));
    if (rc != CUDA_SUCCESS) {
        fill_done(&op->op);
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
