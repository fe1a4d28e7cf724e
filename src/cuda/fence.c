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
 * While the context captures a graph, nothing may be recorded on a stream of
 * the capture, nor on the legacy stream: both would break the capture. What
 * the program captures does not run yet, so there is nothing to wait for
 * there. */
#include "cuda/internal.h"

#include "base/log.h"

static int is_capturing(const struct driver *cu, CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

    if (!cu->cuStreamIsCapturing)
        return 0;
    /* For the legacy stream an error says that another stream captures. */
    return cu->cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* `*call` names the function that failed. */
static CUresult wait_for(const struct driver *cu, struct context *ctx,
                         CUstream theirs, CUevent mark, const char **call)
{
    CUresult res;

    if (is_capturing(cu, theirs)) {
        cx_debug("the program captures a graph: queued work is not waited for");
        return CUDA_SUCCESS;
    }
    *call = "cuEventRecord";
    res = cu->cuEventRecord(mark, theirs);
    for (int dir = 0; dir < NDIRECTIONS && res == CUDA_SUCCESS; dir++) {
        *call = "cuStreamWaitEvent";
        res = cu->cuStreamWaitEvent(ctx->stream[dir], mark, 0);
    }
    return res;
}

enum cx_status cx_cuda_fence(struct cx_gpu *gpu, const struct cx_mem *mem)
{
    const char *call = NULL;
    struct context *ctx;
    struct visit visit;
    enum cx_status rc;
    CUresult res;

    if (!cx_mem_on_gpu(mem))
        return CX_OK;
    for (int again = 1;; again--) {
        rc = cx_cuda_visit(gpu, mem, &ctx, &visit);
        if (rc != CX_OK)
            return rc;
        res = wait_for(visit.cu, ctx, CU_STREAM_LEGACY, ctx->mark[0], &call);
        if (res == CUDA_SUCCESS)
            res = wait_for(visit.cu, ctx, CU_STREAM_PER_THREAD, ctx->mark[1],
                           &call);
        cx_cuda_leave(&visit);
        if (!cx_cuda_gone(res))
            break;
        cx_cuda_context_drop(gpu, ctx, CX_ERR_GPU);
        if (!again)
            break;
    }
    return res == CUDA_SUCCESS ? CX_OK : cx_cuda_fail(visit.cu, call, res);
}
