/* SPDX-License-Identifier: BSD-3-Clause */
/* events.c - events mark a place in a stream: asking, waiting, making another
 * stream wait, measuring; streams that are destroyed finish their work; host
 * functions run in order and may not call CUDA. */
#include "t.h"

static CUdeviceptr d;

static void marks_a_place(CUstream a, CUstream b)
{
    CUevent e;
    struct t_gate gate;
    char host[64];
    OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    OK(cuEventQuery(e)); /* never recorded: nothing to wait for */
    OK(cuEventSynchronize(e));
    OK(cuStreamWaitEvent(b, e, 0));
    t_gate_close(&gate, a);
    OK(cuMemsetD8Async(d, 1, 64, a));
    OK(cuEventRecord(e, a));
    IS(cuEventQuery(e), CUDA_ERROR_NOT_READY);
    OK(cuStreamWaitEvent(b, e, 0));
    OK(cuMemsetD8Async(d, 2, 64, b));
    IS(cuStreamQuery(b), CUDA_ERROR_NOT_READY);
    t_gate_open(&gate);
    OK(cuStreamSynchronize(b));
    OK(cuEventQuery(e));
    OK(cuMemcpyDtoH(host, d, 64));
    CHECK(t_all(host, 2, 64));
    OK(cuEventRecord(e, b));
    OK(cuEventSynchronize(e));
    OK(cuEventDestroy(e));
    IS(cuEventDestroy(e), CUDA_ERROR_INVALID_HANDLE);
    IS(cuEventRecord(e, a), CUDA_ERROR_INVALID_HANDLE);
}

static void measures(CUstream s)
{
    CUevent start, end;
    float ms = -1;
    OK(cuEventCreate(&start, 0));
    OK(cuEventCreate(&end, 0));
    IS(cuEventElapsedTime(&ms, start, end), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventRecord(start, s));
    OK(cuMemsetD8Async(d, 3, 64, s));
    OK(cuEventRecord(end, s));
    OK(cuEventSynchronize(end));
    OK(cuEventElapsedTime(&ms, start, end));
    CHECK(ms >= 0);
    OK(cuEventDestroy(start));
    OK(cuEventDestroy(end));
}

static CUresult from_callback;

static void call_cuda(void *arg)
{
    CUcontext now;
    (void)arg;
    from_callback = cuCtxGetCurrent(&now);
}

static void destroyed_stream_finishes(void)
{
    CUstream s;
    struct t_gate gate;
    char *pinned;
    OK(cuMemHostAlloc((void **)&pinned, 64, 0));
    memset(pinned, 0, 64);
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuLaunchHostFunc(s, call_cuda, NULL));
    t_gate_close(&gate, s);
    OK(cuMemsetD8Async(d, 8, 64, s));
    OK(cuMemcpyDtoHAsync(pinned, d, 64, s));
    OK(cuStreamDestroy(s));
    IS(cuStreamQuery(s), CUDA_ERROR_INVALID_HANDLE);
    CHECK(t_all(pinned, 0, 64));
    t_gate_open(&gate);
    OK(cuCtxSynchronize());
    CHECK(t_all(pinned, 8, 64));
    CHECK(from_callback == CUDA_ERROR_NOT_PERMITTED);
}

int main(void)
{
    CUstream a, b;
    unsigned flags;
    int least, greatest, priority;
    unsigned long long ia, ib;
    CUstreamCaptureStatus capturing;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    t_context(0);
    OK(cuMemAlloc(&d, 64));
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    OK(cuStreamCreateWithPriority(&b, 0, greatest));
    OK(cuStreamGetPriority(b, &priority));
    CHECK(priority == greatest);
    OK(cuStreamGetFlags(a, &flags));
    CHECK(flags == CU_STREAM_NON_BLOCKING);
    OK(cuStreamGetId(a, &ia));
    OK(cuStreamGetId(b, &ib));
    CHECK(ia != ib);
    marks_a_place(a, b);
    marks_a_place(NULL, a);
    marks_a_place(CU_STREAM_PER_THREAD, a);
    measures(b);
    measures(NULL);
    destroyed_stream_finishes();
    OK(cuStreamIsCapturing(a, &capturing));
    CHECK(capturing == CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == CU_STREAM_CAPTURE_MODE_RELAXED);
    IS(cuStreamDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
    return 0;
}
