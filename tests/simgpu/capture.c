/* SPDX-License-Identifier: BSD-3-Clause */
/* capture.c - what a program may not do to a stream that captures: each breach
 * gives its error, and those that would connect captured work with other work
 * invalidate the capture, which still has to be ended. */
#include "t.h"

static CUstream s, other, apart;
static CUevent e;
static CUdeviceptr d;

static void is_status(CUstream stream, CUstreamCaptureStatus want)
{
    CUstreamCaptureStatus status;
    OK(cuStreamIsCapturing(stream, &status));
    IS(status, want);
}

static void begin(CUstream stream, CUstreamCaptureMode mode)
{
    OK(cuStreamBeginCapture(stream, mode));
    is_status(stream, CU_STREAM_CAPTURE_STATUS_ACTIVE);
}

static void end(CUstream stream, CUresult want)
{
    CUgraph graph = (CUgraph)&stream;
    IS(cuStreamEndCapture(stream, &graph), want);
    is_status(stream, CU_STREAM_CAPTURE_STATUS_NONE);
    CHECK((graph == NULL) == (want != CUDA_SUCCESS));
    if (want == CUDA_SUCCESS)
        OK(cuGraphDestroy(graph));
}

/* The capture that goes on in s must have been broken by what was done. */
static void broken(void)
{
    CUevent mark;
    is_status(s, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    IS(cuMemsetD8Async(d, 1, 64, s), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuEventCreate(&mark, 0));
    IS(cuEventRecord(mark, s), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuEventDestroy(mark));
    end(s, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuMemsetD8Async(d, 1, 64, s));
    OK(cuStreamSynchronize(s));
}

static void asked_for_its_state(void)
{
    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    IS(cuStreamSynchronize(s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    broken();
    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    IS(cuStreamQuery(s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    broken();
    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    IS(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    broken();
    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    OK(cuEventRecord(e, s));
    IS(cuEventQuery(e), CUDA_ERROR_CAPTURED_EVENT);
    broken();
    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    OK(cuEventRecord(e, s));
    IS(cuEventSynchronize(e), CUDA_ERROR_CAPTURED_EVENT);
    broken();
    /* until it is recorded again, elsewhere */
    IS(cuEventQuery(e), CUDA_ERROR_CAPTURED_EVENT);
    OK(cuEventRecord(e, other));
    OK(cuEventSynchronize(e));
}

/* The legacy stream stands for the blocking streams too. */
static void legacy_stream(void)
{
    CUstreamCaptureStatus status;
    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    IS(cuStreamIsCapturing(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    is_status(s, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    IS(cuMemsetD8Async(d, 1, 64, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    broken();
    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    IS(cuStreamSynchronize(CU_STREAM_LEGACY),
       CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    broken();
    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    IS(cuStreamQuery(NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    broken();
    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    IS(cuEventRecord(e, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    broken();
    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    IS(cuMemcpyHtoD(d, "x", 1), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    broken();
    /* a capture in a non-blocking stream is not in its way */
    begin(apart, CU_STREAM_CAPTURE_MODE_RELAXED);
    is_status(NULL, CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuMemsetD8Async(d, 1, 64, NULL));
    OK(cuEventRecord(e, NULL));
    end(apart, CUDA_SUCCESS);
    /* other blocking streams go on */
    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    OK(cuMemsetD8Async(d, 1, 64, other));
    OK(cuStreamSynchronize(other));
    end(s, CUDA_SUCCESS);
}

static void other_work(void)
{
    CUgraph graph;
    /* captured work may not wait for work that is not */
    OK(cuEventRecord(e, other));
    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    IS(cuStreamWaitEvent(s, e, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    broken();
    /* nor two captures meet */
    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    begin(apart, CU_STREAM_CAPTURE_MODE_RELAXED);
    OK(cuEventRecord(e, apart));
    IS(cuStreamWaitEvent(s, e, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
    end(apart, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    broken();
    /* what joined has to come back */
    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    OK(cuEventRecord(e, s));
    OK(cuStreamWaitEvent(apart, e, 0));
    is_status(apart, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuMemsetD8Async(d, 1, 64, apart));
    IS(cuStreamEndCapture(apart, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    end(s, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    is_status(apart, CU_STREAM_CAPTURE_STATUS_NONE);
    IS(cuStreamWaitEvent(apart, e, 0), CUDA_ERROR_CAPTURED_EVENT);
}

static void a_callback(CUstream stream, CUresult rc, void *user)
{
    (void)stream;
    (void)rc;
    (void)user;
}

static void not_possible(void)
{
    CUgraph graph;
    IS(cuStreamEndCapture(s, &graph), CUDA_ERROR_ILLEGAL_STATE);
    IS(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_RELAXED),
       CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    IS(cuStreamBeginCapture(s, (CUstreamCaptureMode)3),
       CUDA_ERROR_INVALID_VALUE);
    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    IS(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED),
       CUDA_ERROR_ILLEGAL_STATE);
    end(s, CUDA_SUCCESS);
    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    IS(cuStreamAddCallback(s, a_callback, NULL, 0),
       CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    broken();
    begin(s, CU_STREAM_CAPTURE_MODE_RELAXED);
    IS(cuStreamDestroy(s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    broken();
}

int main(void)
{
    t_context(0);
    OK(cuMemAlloc(&d, 64));
    OK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&other, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&apart, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    asked_for_its_state();
    legacy_stream();
    other_work();
    not_possible();
    /* a thread's own stream is a blocking one */
    begin(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED);
    IS(cuStreamQuery(NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    end(CU_STREAM_PER_THREAD, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    /* a context that goes takes its captures along */
    begin(s, CU_STREAM_CAPTURE_MODE_GLOBAL);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    OK(cuDevicePrimaryCtxReset(0));
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    t_context(0);
    OK(cuMemAlloc(&d, 64));
    return 0;
}
