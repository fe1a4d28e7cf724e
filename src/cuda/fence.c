/* SPDX-License-Identifier: BSD-3-Clause */
/* fence.c - our copies after the program's queued work.
 *
 * An event on the legacy default stream covers, in one context, that stream
 * and every blocking stream, the per-thread default streams of all threads
 * among them: the legacy stream waits for all of these and they for it. So the
 * event on the caller's own per-thread stream is needed only when the legacy
 * one cannot be recorded, and costs little. Streams that the program made
 * non-blocking are not covered; MPI asks the program to synchronise those.
 *
 * Whose context? That of the memory, and the one that the caller has current:
 * it may have told another GPU to write there. Managed memory can be written
 * from every context, and pool and VMM memory has none: for those all contexts
 * count in which the program is known to work. In the usual program that is one
 * context.
 *
 * While a blocking stream of the context captures a graph, nothing may be
 * recorded on the legacy stream, nor on a stream that takes part: either would
 * break the capture. What is captured does not run yet, so nothing is missed
 * there; work queued elsewhere before the capture began is, and that is said
 * once. */
#include "cuda/internal.h"

#include "base/log.h"

static int is_capturing(const struct driver *cu, CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult res;

    if (!cu->cuStreamIsCapturing)
        return 0;
    res = cu->cuStreamIsCapturing(stream, &status);
    if (res == CUDA_SUCCESS)
        return status != CU_STREAM_CAPTURE_STATUS_NONE;
    /* For the legacy stream such an error says that another stream captures.
     * Any other says nothing, and the wait must not be left out for it. */
    return res >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
           res <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

static void tell_capture(struct cx_gpu *gpu)
{
    if (!gpu->told_capture)
        cx_warn("a stream of the program captures a graph while MPI is called: "
                "work queued on other streams before the capture cannot be "
                "waited for; synchronise them before the capture begins");
    gpu->told_capture = 1;
}

/* In the context: marks what its default streams have queued. `*n` marks have
 * been set; `*call` names the function that failed. */
static CUresult mark(struct cx_gpu *gpu, const struct driver *cu,
                     struct context *ctx, CUevent marks[2], int *n,
                     const char **call)
{
    static const CUstream theirs[2] = {CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
    CUresult res = CUDA_SUCCESS;

    *n = 0;
    *call = "cuEventRecord";
    for (int i = 0; i < 2 && res == CUDA_SUCCESS; i++) {
        if (is_capturing(cu, theirs[i])) {
            tell_capture(gpu);
            continue;
        }
        res = cu->cuEventRecord(ctx->mark[i], theirs[i]);
        marks[(*n)++] = ctx->mark[i];
    }
    return res;
}

/* In the context: our streams wait for the marks. */
static CUresult follow(const struct driver *cu, struct context *ctx,
                       const CUevent marks[2], int n, const char **call)
{
    CUresult res = CUDA_SUCCESS;

    *call = "cuStreamWaitEvent";
    for (int i = 0; i < n; i++) {
        for (int dir = 0; dir < NDIRECTIONS && res == CUDA_SUCCESS; dir++)
            res = cu->cuStreamWaitEvent(ctx->stream[dir], marks[i], 0);
    }
    return res;
}

/* In the home context: its streams after what is queued in `from`, which may be
 * the same one. */
static CUresult follow_from(struct cx_gpu *gpu, struct context *home,
                            const struct visit *at_home, struct context *from,
                            const char **call)
{
    const struct driver *cu = at_home->cu;
    struct visit visit;
    CUevent marks[2];
    CUresult res;
    int n;

    *call = "cuCtxPushCurrent";
    res = cx_cuda_enter(cu, from->cu, &visit);
    if (res != CUDA_SUCCESS)
        return res;
    res = mark(gpu, cu, from, marks, &n, call);
    cx_cuda_leave(&visit);
    return res == CUDA_SUCCESS ? follow(cu, home, marks, n, call) : res;
}

/* Has the program destroyed it? Then nothing is queued there. */
static int is_lost(struct cx_gpu *gpu, const struct driver *cu, CUcontext other)
{
    struct context *ctx = gpu->contexts;
    struct visit visit;
    CUresult res = cx_cuda_enter(cu, other, &visit);

    if (res == CUDA_SUCCESS)
        cx_cuda_leave(&visit);
    if (!cx_cuda_gone(res))
        return 0;
    while (ctx && ctx->cu != other)
        ctx = ctx->next;
    if (ctx)
        cx_cuda_context_drop(gpu, ctx, CX_ERR_GPU);
    return 1;
}

/* One more context, once a fence. */
static enum cx_status fence_other(struct cx_gpu *gpu, struct context *home,
                                  const struct visit *at_home, CUcontext other)
{
    const struct cx_mem mem = {.ctx = other};
    const char *call = NULL;
    struct context *from;
    struct visit visit;
    enum cx_status rc;
    CUresult res;

    if (other == home->cu || is_lost(gpu, at_home->cu, other))
        return CX_OK;
    rc = cx_cuda_visit(gpu, &mem, &from, &visit);
    if (rc != CX_OK)
        return rc;
    cx_cuda_leave(&visit);
    if (from->fence == gpu->fences)
        return CX_OK;
    from->fence = gpu->fences;
    res = follow_from(gpu, home, at_home, from, &call);
    return res == CUDA_SUCCESS || cx_cuda_gone(res)
               ? CX_OK
               : cx_cuda_fail(at_home->cu, call, res);
}

/* A context of ours that this fence has not looked at, or NULL. */
static CUcontext not_covered(const struct cx_gpu *gpu)
{
    const struct context *ctx = gpu->contexts;

    while (ctx && ctx->fence == gpu->fences)
        ctx = ctx->next;
    return ctx ? ctx->cu : NULL;
}

static int devices(const struct driver *cu)
{
    int n = 0;

    return cu->cuDeviceGetCount(&n) == CUDA_SUCCESS ? n : 0;
}

/* Work in other contexts that may concern `mem`. At home. */
static enum cx_status fence_others(struct cx_gpu *gpu, const struct cx_mem *mem,
                                   CUcontext current, struct context *home,
                                   const struct visit *at_home)
{
    const struct driver *cu = at_home->cu;
    enum cx_status rc = CX_OK;
    CUcontext other;
    int n;

    if (current)
        rc = fence_other(gpu, home, at_home, current);
    if (mem->kind != CX_MEM_MANAGED && !mem->loose)
        return rc;
    n = devices(cu);
    for (int i = 0; i < n && rc == CX_OK; i++) {
        other = cx_cuda_primary(gpu, i, 0);
        if (other)
            rc = fence_other(gpu, home, at_home, other);
    }
    while (rc == CX_OK && (other = not_covered(gpu)))
        rc = fence_other(gpu, home, at_home, other);
    return rc;
}

/* `*res`: what the home context's own calls say. */
static enum cx_status fence_once(struct cx_gpu *gpu, const struct cx_mem *mem,
                                 CUcontext current, const char **call,
                                 CUresult *res)
{
    struct context *home;
    struct visit visit;
    enum cx_status rc = cx_cuda_visit(gpu, mem, &home, &visit);
    CUevent marks[2];
    int n;

    if (rc != CX_OK)
        return rc;
    home->fence = ++gpu->fences;
    *res = mark(gpu, visit.cu, home, marks, &n, call);
    if (*res == CUDA_SUCCESS)
        *res = follow(visit.cu, home, marks, n, call);
    if (*res == CUDA_SUCCESS)
        rc = fence_others(gpu, mem, current, home, &visit);
    cx_cuda_leave(&visit);
    if (cx_cuda_gone(*res))
        cx_cuda_context_drop(gpu, home, CX_ERR_GPU);
    return rc;
}

enum cx_status cx_cuda_fence(struct cx_gpu *gpu, const struct cx_mem *mem)
{
    const struct driver *cu;
    const char *call = NULL;
    CUresult res = CUDA_SUCCESS;
    enum cx_status rc;

    if (!cx_mem_on_gpu(mem) || gpu->sync != CX_SYNC_DEFAULT)
        return CX_OK;
    cu = cx_cuda_ready(gpu);
    rc = fence_once(gpu, mem, cu ? cx_cuda_current(cu) : NULL, &call, &res);
    if (rc == CX_OK && cx_cuda_gone(res)) /* a context at the old address? */
        rc = fence_once(gpu, mem, cx_cuda_current(cu), &call, &res);
    if (rc != CX_OK || res == CUDA_SUCCESS)
        return rc;
    return cx_cuda_fail(cu, call, res);
}

/* The CPU waits for all of one context. */
static enum cx_status drain(const struct driver *cu, CUcontext ctx)
{
    struct visit visit;
    CUresult res = cx_cuda_enter(cu, ctx, &visit);

    if (res != CUDA_SUCCESS)
        return cx_cuda_gone(res) ? CX_OK
                                 : cx_cuda_fail(cu, "cuCtxPushCurrent", res);
    if (is_capturing(cu, CU_STREAM_LEGACY))
        cx_info("COAX_SYNC=device: the program captures a graph: not waiting");
    else
        res = cu->cuCtxSynchronize();
    cx_cuda_leave(&visit);
    if (res == CUDA_SUCCESS)
        return CX_OK;
    return cx_cuda_fail(cu, "cuCtxSynchronize (COAX_SYNC=device)", res);
}

/* Only calls of the driver: no state of ours that a lock would guard. */
static enum cx_status drain_primary(const struct driver *cu, int ordinal)
{
    enum cx_status rc = CX_OK;
    unsigned flags;
    CUdevice device;
    CUcontext ctx;
    int active = 0;

    if (cu->cuDeviceGet(&device, ordinal) != CUDA_SUCCESS ||
        cu->cuDevicePrimaryCtxGetState(device, &flags, &active) !=
            CUDA_SUCCESS ||
        !active || cu->cuDevicePrimaryCtxRetain(&ctx, device) != CUDA_SUCCESS)
        return CX_OK;
    rc = drain(cu, ctx);
    cu->cuDevicePrimaryCtxRelease_v2(device);
    return rc;
}

enum cx_status cx_cuda_settle(struct cx_gpu *gpu, const struct cx_mem *mem)
{
    const struct driver *cu = cx_cuda_driver();
    enum cx_status rc;
    CUcontext current;
    int n;

    if (gpu->sync != CX_SYNC_DEVICE || !cx_mem_on_gpu(mem) || !mem->ctx || !cu)
        return CX_OK;
    current = cx_cuda_current(cu);
    rc = drain(cu, mem->ctx);
    if (rc == CX_OK && current && current != mem->ctx)
        rc = drain(cu, current);
    if (mem->kind != CX_MEM_MANAGED && !mem->loose)
        return rc;
    n = devices(cu);
    for (int i = 0; i < n && rc == CX_OK; i++)
        rc = drain_primary(cu, i);
    return rc;
}
