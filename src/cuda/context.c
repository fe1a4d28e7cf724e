/* SPDX-License-Identifier: BSD-3-Clause */
/* context.c - our streams and events in the program's CUDA contexts.
 *
 * Per context two non-blocking streams, one a direction, so that copies to and
 * from the device overlap and nothing of ours waits for the program's streams
 * except where fence() says so. A copy back of what was just copied down is
 * not ordered by the driver: the executor starts it after the first has ended
 * on the host, so no wait between the two streams is needed. */
#include "cuda/internal.h"

#include "base/alloc.h"
#include "base/log.h"

#include <string.h>

/* The capture mode is the calling thread's: while some thread captures a graph
 * in global mode, calls such as an event query would break the capture unless
 * this thread says that it knows what it does. */
static void relax(const struct driver *cu, struct visit *visit)
{
    visit->cu = cu;
    visit->mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    visit->relaxed =
        cu->cuThreadExchangeStreamCaptureMode &&
        cu->cuThreadExchangeStreamCaptureMode(&visit->mode) == CUDA_SUCCESS;
}

/* Twice where it fails, as the pop below: nothing of the caller's may stay
 * changed. */
static void unrelax(const struct visit *visit)
{
    CUstreamCaptureMode mode = visit->mode;

    if (visit->relaxed &&
        visit->cu->cuThreadExchangeStreamCaptureMode(&mode) != CUDA_SUCCESS)
        visit->cu->cuThreadExchangeStreamCaptureMode(&mode);
}

CUresult cx_cuda_enter(const struct driver *cu, CUcontext ctx,
                       struct visit *visit)
{
    CUresult res = cu->cuCtxPushCurrent_v2(ctx);

    if (res != CUDA_SUCCESS)
        return res;
    relax(cu, visit);
    return CUDA_SUCCESS;
}

void cx_cuda_leave(const struct visit *visit)
{
    CUcontext ctx;

    unrelax(visit);
    if (visit->cu->cuCtxPopCurrent_v2(&ctx) != CUDA_SUCCESS)
        visit->cu->cuCtxPopCurrent_v2(&ctx);
}

static void nodes_free(struct node *node)
{
    struct node *next;

    for (; node; node = next) {
        next = node->next;
        cx_free(node);
    }
}

static void lose(struct cx_gpu *gpu, const struct context *ctx)
{
    gpu->losses++;
    for (struct pinned *pinned = gpu->pinned; pinned; pinned = pinned->next) {
        if (pinned->cu == ctx->cu)
            pinned->gone = 1;
    }
}

void cx_cuda_context_drop(struct cx_gpu *gpu, struct context *ctx,
                          enum cx_status status)
{
    struct context **link = &gpu->contexts;

    while (*link != ctx)
        link = &(*link)->next;
    *link = ctx->next;
    if (status != CX_INPROGRESS)
        lose(gpu, ctx);
    for (int dir = 0; dir < NDIRECTIONS; dir++) {
        for (struct node *node = ctx->queue[dir].head; node;
             node = node->next) {
            gpu->pending--;
            if (status == CX_INPROGRESS)
                continue;
            node->req->impl = NULL;
            node->req->status = status;
        }
        nodes_free(ctx->queue[dir].head);
    }
    nodes_free(ctx->free);
    cx_free(ctx);
}

/* In the context: gives back streams and events, also of a half-made state. */
static void release(const struct driver *cu, struct context *ctx)
{
    for (int dir = 0; dir < NDIRECTIONS; dir++) {
        if (ctx->stream[dir])
            cu->cuStreamSynchronize(ctx->stream[dir]);
        for (struct node *node = ctx->queue[dir].head; node; node = node->next)
            cu->cuEventDestroy_v2(node->event);
    }
    for (struct node *node = ctx->free; node; node = node->next)
        cu->cuEventDestroy_v2(node->event);
    for (int i = 0; i < 2; i++) {
        if (ctx->mark[i])
            cu->cuEventDestroy_v2(ctx->mark[i]);
    }
    for (int dir = 0; dir < NDIRECTIONS; dir++) {
        if (ctx->stream[dir])
            cu->cuStreamDestroy_v2(ctx->stream[dir]);
    }
}

/* In the context: makes our things. */
static enum cx_status furnish(const struct driver *cu, struct context *ctx)
{
    CUresult res;

    for (int dir = 0; dir < NDIRECTIONS; dir++) {
        res = cu->cuStreamCreate(&ctx->stream[dir], CU_STREAM_NON_BLOCKING);
        if (res != CUDA_SUCCESS) {
            ctx->stream[dir] = NULL;
            return cx_cuda_fail(cu, "cuStreamCreate", res);
        }
    }
    for (int i = 0; i < 2; i++) {
        res = cu->cuEventCreate(&ctx->mark[i], CU_EVENT_DISABLE_TIMING);
        if (res != CUDA_SUCCESS) {
            ctx->mark[i] = NULL;
            return cx_cuda_fail(cu, "cuEventCreate", res);
        }
    }
    return CX_OK;
}

/* Is this still the context in which our things were made? A new context may
 * get the address of a destroyed one, and a reset keeps it. Without numbers a
 * stale stream may pass for a new one at its address: fence and copy start
 * once more when the driver then says that something is gone. */
static int is_same(const struct driver *cu, struct context *ctx)
{
    unsigned long long id = cx_cuda_ctx_id(cu, ctx->cu);

    if (id && ctx->id)
        return id == ctx->id;
    return !cx_cuda_gone(cu->cuStreamQuery(ctx->stream[0]));
}

static struct context *find(struct cx_gpu *gpu, CUcontext cu)
{
    struct context *ctx = gpu->contexts;

    while (ctx && ctx->cu != cu)
        ctx = ctx->next;
    return ctx;
}

enum cx_status cx_cuda_visit(struct cx_gpu *gpu, const struct cx_mem *mem,
                             struct context **out, struct visit *visit)
{
    const struct driver *cu = cx_cuda_ready(gpu);
    struct context *ctx;
    enum cx_status rc;
    CUresult res;

    if (!cu || !mem->ctx) {
        cx_error("device memory without a usable CUDA context");
        return CX_ERR_GPU;
    }
    res = cx_cuda_enter(cu, mem->ctx, visit);
    if (res != CUDA_SUCCESS)
        return cx_cuda_fail(cu, "cuCtxPushCurrent", res);
    ctx = find(gpu, mem->ctx);
    if (ctx && !is_same(cu, ctx)) {
        cx_cuda_context_drop(gpu, ctx, CX_ERR_GPU);
        ctx = NULL;
    }
    if (ctx) {
        *out = ctx;
        return CX_OK;
    }
    ctx = cx_alloc(1, sizeof(*ctx));
    if (!ctx) {
        cx_error("no memory for the state of a CUDA context");
        rc = CX_ERR_NOMEM;
        goto err_leave;
    }
    ctx->cu = mem->ctx;
    ctx->id = cx_cuda_ctx_id(cu, ctx->cu);
    if (cu->cuCtxGetDevice(&ctx->device) != CUDA_SUCCESS)
        ctx->device = -1;
    rc = furnish(cu, ctx);
    if (rc != CX_OK)
        goto err_release;
    ctx->next = gpu->contexts;
    gpu->contexts = ctx;
    *out = ctx;
    return CX_OK;

err_release:
    release(cu, ctx);
    cx_free(ctx);
err_leave:
    cx_cuda_leave(visit);
    return rc;
}

uint64_t cx_cuda_ctx_life(struct cx_gpu *gpu, CUcontext cu_ctx)
{
    const struct driver *cu = gpu->driver;
    unsigned long long id = cx_cuda_ctx_id(cu, cu_ctx);
    struct context *ctx = id ? NULL : find(gpu, cu_ctx);
    struct visit visit;
    int same;

    if (id)
        return id;
    if (ctx && cx_cuda_enter(cu, cu_ctx, &visit) == CUDA_SUCCESS) {
        same = is_same(cu, ctx);
        cx_cuda_leave(&visit);
        if (!same)
            cx_cuda_context_drop(gpu, ctx, CX_ERR_GPU);
    }
    return gpu->losses;
}

/* The memory was made with our state in the context, so while that state is
 * good, so is the memory. A new owner may have its address otherwise. */
void cx_cuda_host_free(struct cx_gpu *gpu, const struct pinned *pinned)
{
    const struct driver *cu = cx_cuda_ready(gpu);
    struct context *ctx = find(gpu, pinned->cu);
    struct visit visit;
    CUresult res;

    if (!cu || pinned->gone ||
        cx_cuda_enter(cu, pinned->cu, &visit) != CUDA_SUCCESS)
        return;
    if (!ctx || is_same(cu, ctx)) {
        res = cu->cuMemFreeHost(pinned->ptr);
        if (res != CUDA_SUCCESS && !cx_cuda_gone(res))
            cx_debug("cuMemFreeHost: %d", (int)res);
    }
    cx_cuda_leave(&visit);
}

void cx_cuda_contexts_destroy(struct cx_gpu *gpu)
{
    const struct driver *cu = cx_cuda_ready(gpu);
    struct visit visit;

    while (gpu->contexts) {
        struct context *ctx = gpu->contexts;
        int same = 0;

        if (cu && cx_cuda_enter(cu, ctx->cu, &visit) == CUDA_SUCCESS) {
            same = is_same(cu, ctx);
            if (same)
                release(cu, ctx);
            cx_cuda_leave(&visit);
        }
        if (!same)
            lose(gpu, ctx);
        cx_cuda_context_drop(gpu, ctx, CX_INPROGRESS);
    }
}

static int is_active(const struct driver *cu, CUdevice device)
{
    unsigned flags;
    int active = 0;

    return cu->cuDevicePrimaryCtxGetState(device, &flags, &active) ==
               CUDA_SUCCESS &&
           active;
}

/* One that the program does not count on any more has another number. */
static CUcontext retain(const struct driver *cu, struct primary *primary)
{
    struct visit visit;
    CUresult res;

    if (primary->cu && cx_cuda_ctx_id(cu, primary->cu) == primary->id)
        return primary->cu;
    relax(cu, &visit);
    res = cu->cuDevicePrimaryCtxRetain(&primary->cu, primary->device);
    unrelax(&visit);
    if (res != CUDA_SUCCESS)
        primary->cu = NULL;
    primary->id = primary->cu ? cx_cuda_ctx_id(cu, primary->cu) : 0;
    return primary->cu;
}

/* Retained, so that it cannot go away under a call; while the program has it
 * active, that makes nothing. */
CUcontext cx_cuda_primary(struct cx_gpu *gpu, int ordinal, int make)
{
    const struct driver *cu = gpu->driver;
    struct primary *primary = gpu->primaries;
    CUdevice device;

    if (cu->cuDeviceGet(&device, ordinal) != CUDA_SUCCESS ||
        (!make && !is_active(cu, device)))
        return NULL;
    while (primary && primary->device != device)
        primary = primary->next;
    if (!primary) {
        primary = cx_alloc(1, sizeof(*primary));
        if (!primary)
            return NULL;
        primary->device = device;
        primary->next = gpu->primaries;
        gpu->primaries = primary;
    }
    return retain(cu, primary);
}

CUcontext cx_cuda_current(const struct driver *cu)
{
    CUcontext ctx = NULL;

    return cu->cuCtxGetCurrent(&ctx) == CUDA_SUCCESS ? ctx : NULL;
}

CUcontext cx_cuda_any_context(struct cx_gpu *gpu, int ordinal)
{
    const struct driver *cu = gpu->driver;
    CUcontext found = cx_cuda_primary(gpu, ordinal, 0);
    CUdevice wanted, device;

    if (found || cu->cuDeviceGet(&wanted, ordinal) != CUDA_SUCCESS)
        return found;
    found = cx_cuda_current(cu);
    if (found && cu->cuCtxGetDevice(&device) == CUDA_SUCCESS &&
        device == wanted)
        return found;
    for (struct context *ctx = gpu->contexts; ctx; ctx = ctx->next) {
        struct visit visit;

        if (ctx->device != wanted ||
            cx_cuda_enter(cu, ctx->cu, &visit) != CUDA_SUCCESS)
            continue;
        found = is_same(cu, ctx) ? ctx->cu : NULL;
        cx_cuda_leave(&visit);
        if (found)
            return found;
    }
    /* The program has memory on this device, so it does use it. */
    cx_info("memory of device %d belongs to no context, and the program has "
            "none here: using the device's primary context",
            ordinal);
    return cx_cuda_primary(gpu, ordinal, 1);
}

void cx_cuda_primaries_release(struct cx_gpu *gpu)
{
    const struct driver *cu = cx_cuda_ready(gpu);

    while (gpu->primaries) {
        struct primary *primary = gpu->primaries;

        /* After a device reset our reference is gone, and releasing would take
         * one of the program's. Where the driver cannot tell, the process is
         * about to end anyway. */
        if (cu && primary->id && is_active(cu, primary->device) &&
            cx_cuda_ctx_id(cu, primary->cu) == primary->id)
            cu->cuDevicePrimaryCtxRelease_v2(primary->device);
        gpu->primaries = primary->next;
        cx_free(primary);
    }
}
