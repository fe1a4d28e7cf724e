/* SPDX-License-Identifier: BSD-3-Clause */
/* capture_modes.c - who may call what is potentially unsafe while somebody
 * captures: all pairs of the mode of the capture and the mode of the thread,
 * on the capturing thread and on another. */
#include "t.h"

#include <pthread.h>

static CUcontext ctx;
static CUstream s;
static CUevent done;
static CUdeviceptr d;
static CUstreamCaptureMode thread_mode;
static CUresult want;

static CUresult allocate(void)
{
    CUdeviceptr more = 0;
    CUresult rc = cuMemAlloc(&more, 64);
    if (rc == CUDA_SUCCESS)
        rc = cuMemFree(more);
    return rc;
}

static CUresult query_event(void)
{
    return cuEventQuery(done);
}

static CUresult synchronize_event(void)
{
    return cuEventSynchronize(done);
}

static CUresult synchronize_legacy(void)
{
    return cuStreamSynchronize(NULL);
}

static CUresult copy(void)
{
    char byte;
    return cuMemcpyDtoH(&byte, d, 1);
}

static CUresult pin(void)
{
    void *p = NULL;
    CUresult rc = cuMemHostAlloc(&p, 64, 0);
    if (rc == CUDA_SUCCESS)
        rc = cuMemFreeHost(p);
    return rc;
}

static CUresult (*const calls[])(void) = {
    allocate, query_event, synchronize_event, synchronize_legacy, copy, pin};
#define NCALLS ((int)(sizeof(calls) / sizeof(calls[0])))
static int call;

static void *attempt(void *arg)
{
    CUstreamCaptureMode mode = thread_mode;
    (void)arg;
    OK(cuCtxSetCurrent(ctx));
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    IS(calls[call](), want);
    mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    IS(mode, thread_mode);
    return NULL;
}

static void try(CUstreamCaptureMode capture, int elsewhere)
{
    CUgraph graph;
    int allowed = thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
                  capture == CU_STREAM_CAPTURE_MODE_RELAXED;
    if (elsewhere && !allowed)
        allowed = thread_mode != CU_STREAM_CAPTURE_MODE_GLOBAL ||
                  capture != CU_STREAM_CAPTURE_MODE_GLOBAL;
    want = allowed ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    OK(cuStreamBeginCapture(s, capture));
    OK(cuMemsetD8Async(d, 1, 64, s));
    if (elsewhere) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, attempt, NULL) == 0);
        pthread_join(thread, NULL);
    } else {
        attempt(NULL);
    }
    IS(cuStreamEndCapture(s, &graph),
       allowed ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    if (allowed)
        OK(cuGraphDestroy(graph));
}

static void *end_elsewhere(void *arg)
{
    CUgraph graph;
    (void)arg;
    OK(cuCtxSetCurrent(ctx));
    IS(cuStreamEndCapture(s, &graph), want);
    if (want == CUDA_SUCCESS)
        OK(cuGraphDestroy(graph));
    return NULL;
}

static void who_may_end(CUstreamCaptureMode capture, CUresult elsewhere)
{
    pthread_t thread;
    want = elsewhere;
    OK(cuStreamBeginCapture(s, capture));
    CHECK(pthread_create(&thread, NULL, end_elsewhere, NULL) == 0);
    pthread_join(thread, NULL);
    want = CUDA_SUCCESS;
    if (elsewhere != CUDA_SUCCESS)
        end_elsewhere(NULL);
}

int main(void)
{
    ctx = t_context(0);
    OK(cuMemAlloc(&d, 64));
    OK(cuEventCreate(&done, 0));
    OK(cuEventRecord(done, NULL));
    OK(cuEventSynchronize(done));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    for (call = 0; call < NCALLS; call++)
        for (int capture = 0; capture < 3; capture++)
            for (int mode = 0; mode < 3; mode++)
                for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
                    thread_mode = (CUstreamCaptureMode)mode;
                    try((CUstreamCaptureMode)capture, elsewhere);
                }
    who_may_end(CU_STREAM_CAPTURE_MODE_GLOBAL,
                CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    who_may_end(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    who_may_end(CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_SUCCESS);
    return 0;
}
