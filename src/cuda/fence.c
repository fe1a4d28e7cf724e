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

static enum cx_status wait_for(const struct driver *cu, struct context *ctx,
                               CUstream theirs, CUevent mark)
{
    CUresult res;

    if (is_capturing(cu, theirs)) {
        cx_debug("the program captures a graph: queued work is not waited for");
        return CX_OK;
    }
    res = cu->cuEventRecord(mark, theirs);
    if (res != CUDA_SUCCESS)
        return cx_cuda_fail(cu, "cuEventRecord", res);
    for (int dir = 0; dir < NDIRECTIONS; dir++) {
        res = cu->cuStreamWaitEvent(ctx->stream[dir], mark, 0);
        if (res != CUDA_SUCCESS)
            return cx_cuda_fail(cu, "cuStreamWaitEvent", res);
    }
    return CX_OK;
}

enum cx_status cx_cuda_fence(struct cx_gpu *gpu, const struct cx_mem *mem)
{
    struct context *ctx;
    struct visit visit;
    enum cx_status rc;

    if (!cx_mem_on_gpu(mem))
        return CX_OK;
    rc = cx_cuda_visit(gpu, mem, &ctx, &visit);
    if (rc != CX_OK)
        return rc;
    rc = wait_for(visit.cu, ctx, CU_STREAM_LEGACY, ctx->mark[0]);
    if (rc == CX_OK)
        rc = wait_for(visit.cu, ctx, CU_STREAM_PER_THREAD, ctx->mark[1]);
    cx_cuda_leave(&visit);
    return rc;
}
