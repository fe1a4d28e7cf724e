/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.c - asynchronous copies between host and device memory.
 *
 * Each copy has an event behind it on its stream. A stream ends its copies in
 * order, so progress asks only for the oldest of each. */
#include "cuda/internal.h"

#include "base/alloc.h"
#include "base/log.h"

#include <string.h>

/* Largest pitch that every device takes. */
#define MAX_PITCH 0x7fffffffu

struct job {
    int to_host;
    void *dst;
    const void *src;
    size_t dpitch, spitch, width, rows;
};

/* An idle node, with an event made if none is left. In the context. */
static CUresult node_get(const struct driver *cu, struct context *ctx,
                         struct node **out, const char **call)
{
    struct node *node = ctx->free;
    CUresult res;

    if (node) {
        ctx->free = node->next;
        *out = node;
        return CUDA_SUCCESS;
    }
    *call = "allocation for a copy";
    node = cx_alloc(1, sizeof(*node));
    if (!node)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *call = "cuEventCreate";
    res = cu->cuEventCreate(&node->event, CU_EVENT_DISABLE_TIMING);
    if (res != CUDA_SUCCESS) {
        cx_free(node);
        return res;
    }
    node->ctx = ctx;
    *out = node;
    return CUDA_SUCCESS;
}

static void node_put(struct node *node)
{
    node->req = NULL;
    node->next = node->ctx->free;
    node->ctx->free = node;
}

static CUresult submit_linear(const struct driver *cu, const struct job *job,
                              size_t row, size_t nbytes, CUstream stream)
{
    char *dst = (char *)job->dst + row * job->dpitch;
    const char *src = (const char *)job->src + row * job->spitch;

    if (job->to_host)
        return cu->cuMemcpyDtoHAsync_v2(dst, (CUdeviceptr)(uintptr_t)src,
                                        nbytes, stream);
    return cu->cuMemcpyHtoDAsync_v2((CUdeviceptr)(uintptr_t)dst, src, nbytes,
                                    stream);
}

static CUresult submit_2d(const struct driver *cu, const struct job *job,
                          CUstream stream)
{
    CUDA_MEMCPY2D copy = {.srcPitch = job->spitch,
                          .dstPitch = job->dpitch,
                          .WidthInBytes = job->width,
                          .Height = job->rows};

    if (job->to_host) {
        copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.srcDevice = (CUdeviceptr)(uintptr_t)job->src;
        copy.dstMemoryType = CU_MEMORYTYPE_HOST;
        copy.dstHost = job->dst;
    } else {
        copy.srcMemoryType = CU_MEMORYTYPE_HOST;
        copy.srcHost = job->src;
        copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.dstDevice = (CUdeviceptr)(uintptr_t)job->dst;
    }
    return cu->cuMemcpy2DAsync_v2(&copy, stream);
}

/* `*call` names the driver function that was used. */
static CUresult submit(const struct driver *cu, const struct job *job,
                       CUstream stream, const char **call)
{
    CUresult res = CUDA_SUCCESS;

    *call = job->to_host ? "cuMemcpyDtoHAsync" : "cuMemcpyHtoDAsync";
    if (job->rows == 1 ||
        (job->dpitch == job->width && job->spitch == job->width))
        return submit_linear(cu, job, 0, job->width * job->rows, stream);
    if (job->dpitch <= MAX_PITCH && job->spitch <= MAX_PITCH) {
        *call = "cuMemcpy2DAsync";
        return submit_2d(cu, job, stream);
    }
    for (size_t row = 0; row < job->rows && res == CUDA_SUCCESS; row++)
        res = submit_linear(cu, job, row, job->width, stream);
    return res;
}

static void enqueue(struct cx_gpu *gpu, struct context *ctx, int dir,
                    struct node *node)
{
    struct queue *queue = &ctx->queue[dir];

    node->next = NULL;
    if (queue->tail)
        queue->tail->next = node;
    else
        queue->head = node;
    queue->tail = node;
    gpu->pending++;
}

static void count(struct cx_gpu *gpu, const struct job *job)
{
    uint64_t nbytes = (uint64_t)job->width * job->rows;

    if (job->to_host) {
        gpu->count.d2h++;
        gpu->count.d2h_bytes += nbytes;
    } else {
        gpu->count.h2d++;
        gpu->count.h2d_bytes += nbytes;
    }
}

/* In the context. `*call` names the function that failed. */
static CUresult start(struct cx_gpu *gpu, const struct driver *cu,
                      struct context *ctx, const struct job *job,
                      struct cx_req *req, const char **call)
{
    int dir = job->to_host ? TO_HOST : TO_DEVICE;
    struct node *node;
    CUresult res;

    res = node_get(cu, ctx, &node, call);
    if (res != CUDA_SUCCESS)
        return res;
    res = submit(cu, job, ctx->stream[dir], call);
    if (res == CUDA_SUCCESS) {
        *call = "cuEventRecord";
        res = cu->cuEventRecord(node->event, ctx->stream[dir]);
    }
    if (res != CUDA_SUCCESS) {
        /* A part may be under way, and the caller takes its memory back. */
        cu->cuStreamSynchronize(ctx->stream[dir]);
        node_put(node);
        return res;
    }
    node->req = req;
    req->impl = node;
    enqueue(gpu, ctx, dir, node);
    count(gpu, job);
    return CUDA_SUCCESS;
}

static void run(struct cx_gpu *gpu, const struct cx_mem *mem,
                const struct job *job, struct cx_req *req)
{
    const char *call = NULL;
    struct context *ctx;
    struct visit visit;
    CUresult res;

    req->impl = NULL;
    req->status = CX_OK;
    if (!job->width || !job->rows)
        return;
    for (int again = 1;; again--) {
        req->status = cx_cuda_visit(gpu, mem, &ctx, &visit);
        if (req->status != CX_OK)
            return;
        res = start(gpu, visit.cu, ctx, job, req, &call);
        cx_cuda_leave(&visit);
        if (!cx_cuda_gone(res))
            break;
        cx_cuda_context_drop(gpu, ctx, CX_ERR_GPU);
        if (!again)
            break;
    }
    req->status =
        res == CUDA_SUCCESS ? CX_INPROGRESS : cx_cuda_fail(visit.cu, call, res);
}

void cx_cuda_copy(struct cx_gpu *gpu, const struct cx_mem *mem, int to_host,
                  void *dst, const void *src, size_t nbytes, struct cx_req *req)
{
    struct job job = {
        .to_host = to_host, .dst = dst, .src = src, .width = nbytes, .rows = 1};

    run(gpu, mem, &job, req);
}

void cx_cuda_copy2d(struct cx_gpu *gpu, const struct cx_mem *mem, int to_host,
                    void *dst, size_t dpitch, const void *src, size_t spitch,
                    size_t width, size_t rows, struct cx_req *req)
{
    struct job job = {to_host, dst, src, dpitch, spitch, width, rows};

    run(gpu, mem, &job, req);
}

static void finish_head(struct cx_gpu *gpu, struct queue *queue,
                        enum cx_status status)
{
    struct node *node = queue->head;

    queue->head = node->next;
    if (!queue->head)
        queue->tail = NULL;
    gpu->pending--;
    node->req->impl = NULL;
    node->req->status = status;
    node_put(node);
}

/* In the context: ends what has ended. A fault ends all of the stream; the
 * caller then takes its memory back, so nothing may be under way any more. */
static unsigned poll_queue(struct cx_gpu *gpu, const struct driver *cu,
                           struct context *ctx, int dir)
{
    struct queue *queue = &ctx->queue[dir];
    enum cx_status rc = CX_OK;
    unsigned done = 0;
    CUresult res;

    while (queue->head) {
        if (rc == CX_OK) {
            res = cu->cuEventQuery(queue->head->event);
            if (res == CUDA_ERROR_NOT_READY)
                return done;
            if (res != CUDA_SUCCESS) {
                rc = cx_cuda_fail(cu, "a copy (cuEventQuery)", res);
                cu->cuStreamSynchronize(ctx->stream[dir]);
            }
        }
        finish_head(gpu, queue, rc);
        done++;
    }
    return done;
}

static unsigned fail_all(struct cx_gpu *gpu, struct context *ctx)
{
    unsigned long before = gpu->pending;

    cx_cuda_context_drop(gpu, ctx, CX_ERR_GPU);
    return (unsigned)(before - gpu->pending);
}

unsigned cx_cuda_progress(struct cx_gpu *gpu)
{
    const struct driver *cu;
    struct context *next;
    struct visit visit;
    unsigned done = 0;
    CUresult res;

    if (!gpu->pending)
        return 0;
    cu = cx_cuda_ready(gpu);
    if (!cu)
        return 0;
    for (struct context *ctx = gpu->contexts; ctx; ctx = next) {
        next = ctx->next;
        if (!ctx->queue[TO_DEVICE].head && !ctx->queue[TO_HOST].head)
            continue;
        res = cx_cuda_enter(cu, ctx->cu, &visit);
        if (res != CUDA_SUCCESS && !cx_cuda_gone(res))
            res = cx_cuda_enter(cu, ctx->cu, &visit); /* copies are under way */
        if (res != CUDA_SUCCESS) {
            cx_cuda_fail(cu, "cuCtxPushCurrent", res);
            done += fail_all(gpu, ctx);
            continue;
        }
        for (int dir = 0; dir < NDIRECTIONS; dir++)
            done += poll_queue(gpu, cu, ctx, dir);
        cx_cuda_leave(&visit);
    }
    return done;
}

/* Nothing can be taken back from a stream, so this waits for it. */
void cx_cuda_cancel(struct cx_gpu *gpu, struct cx_req *req)
{
    const struct driver *cu = cx_cuda_ready(gpu);
    struct node *node = req->impl;
    struct context *ctx;
    struct visit visit;

    if (req->status != CX_INPROGRESS || !node)
        return;
    ctx = node->ctx;
    if (!cu || cx_cuda_enter(cu, ctx->cu, &visit) != CUDA_SUCCESS) {
        fail_all(gpu, ctx);
        return;
    }
    if (cu->cuEventSynchronize(node->event) != CUDA_SUCCESS) {
        for (int dir = 0; dir < NDIRECTIONS; dir++)
            cu->cuStreamSynchronize(ctx->stream[dir]);
    }
    for (int dir = 0; dir < NDIRECTIONS; dir++)
        poll_queue(gpu, cu, ctx, dir);
    cx_cuda_leave(&visit);
    if (req->status == CX_INPROGRESS)
        fail_all(gpu, ctx);
}
