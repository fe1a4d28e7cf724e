/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.c - the runtime's calls on streams and events. */
#include "rt.h"

#include <stdlib.h>
#include <string.h>

cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t *pStream)
{
    cudaError_t err = rt_enter(RT_cudaStreamCreate, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(
            rt.cuStreamCreateWithPriority(pStream, CU_STREAM_DEFAULT, 0));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t *pStream,
                                                unsigned int flags)
{
    cudaError_t err = rt_enter(RT_cudaStreamCreateWithFlags, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuStreamCreateWithPriority(pStream, flags, 0));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaStreamCreateWithPriority(cudaStream_t *pStream,
                                                   unsigned int flags,
                                                   int priority)
{
    cudaError_t err = rt_enter(RT_cudaStreamCreateWithPriority, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuStreamCreateWithPriority(pStream, flags, priority));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t stream)
{
    cudaError_t err = rt_enter(RT_cudaStreamDestroy, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuStreamDestroy_v2(stream));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    cudaError_t err = rt_enter(RT_cudaStreamGetPriority, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuStreamGetPriority(stream, priority));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaStreamGetPriority_ptsz(cudaStream_t stream,
                                                 int *priority)
{
    return cudaStreamGetPriority(rt_own(stream), priority);
}

cudaError_t CUDARTAPI cudaStreamGetFlags(cudaStream_t stream,
                                         unsigned int *flags)
{
    cudaError_t err = rt_enter(RT_cudaStreamGetFlags, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuStreamGetFlags(stream, flags));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaStreamGetFlags_ptsz(cudaStream_t stream,
                                              unsigned int *flags)
{
    return cudaStreamGetFlags(rt_own(stream), flags);
}

cudaError_t CUDARTAPI cudaStreamGetId(cudaStream_t stream,
                                      unsigned long long *streamId)
{
    cudaError_t err = rt_enter(RT_cudaStreamGetId, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuStreamGetId(stream, streamId));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaStreamGetId_ptsz(cudaStream_t stream,
                                           unsigned long long *streamId)
{
    return cudaStreamGetId(rt_own(stream), streamId);
}

cudaError_t CUDARTAPI cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    cudaError_t err = rt_enter(RT_cudaStreamGetDevice, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuStreamGetDevice(stream, device));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaStreamGetDevice_ptsz(cudaStream_t stream, int *device)
{
    return cudaStreamGetDevice(rt_own(stream), device);
}

cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t stream)
{
    cudaError_t err = rt_enter(RT_cudaStreamQuery, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuStreamQuery(stream));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaStreamQuery_ptsz(cudaStream_t stream)
{
    return cudaStreamQuery(rt_own(stream));
}

cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t stream)
{
    cudaError_t err = rt_enter(RT_cudaStreamSynchronize, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuStreamSynchronize(stream));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaStreamSynchronize_ptsz(cudaStream_t stream)
{
    return cudaStreamSynchronize(rt_own(stream));
}

cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t stream,
                                          cudaEvent_t event, unsigned int flags)
{
    cudaError_t err = rt_enter(RT_cudaStreamWaitEvent, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuStreamWaitEvent(stream, event, flags));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaStreamWaitEvent_ptsz(cudaStream_t stream,
                                               cudaEvent_t event,
                                               unsigned int flags)
{
    return cudaStreamWaitEvent(rt_own(stream), event, flags);
}

cudaError_t CUDARTAPI cudaStreamIsCapturing(
    cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus)
{
    cudaError_t err = rt_enter(RT_cudaStreamIsCapturing, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuStreamIsCapturing(
            stream, (CUstreamCaptureStatus *)pCaptureStatus));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaStreamIsCapturing_ptsz(
    cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus)
{
    return cudaStreamIsCapturing(rt_own(stream), pCaptureStatus);
}

cudaError_t CUDARTAPI
cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    cudaError_t err =
        rt_enter(RT_cudaThreadExchangeStreamCaptureMode, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(
            rt.cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn,
                                         void *userData)
{
    cudaError_t err = rt_enter(RT_cudaLaunchHostFunc, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuLaunchHostFunc(stream, fn, userData));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaLaunchHostFunc_ptsz(cudaStream_t stream,
                                              cudaHostFn_t fn, void *userData)
{
    return cudaLaunchHostFunc(rt_own(stream), fn, userData);
}

struct callback {
    cudaStreamCallback_t fn;
    cudaStream_t stream;
    void *user;
};

static void run_callback(void *arg)
{
    struct callback *c = arg;
    c->fn(c->stream, cudaSuccess, c->user);
    free(c);
}

static cudaError_t add_callback(cudaStream_t stream, struct callback from)
{
    struct callback *c = malloc(sizeof(*c));
    if (c == NULL)
        return cudaErrorMemoryAllocation;
    *c = from;
    CUresult rc = rt.cuLaunchHostFunc(stream, run_callback, c);
    if (rc != CUDA_SUCCESS)
        free(c);
    return rt_error(rc);
}

cudaError_t CUDARTAPI cudaStreamAddCallback(cudaStream_t stream,
                                            cudaStreamCallback_t callback,
                                            void *userData, unsigned int flags)
{
    cudaError_t err = rt_enter(RT_cudaStreamAddCallback, RT_BOUND);
    if (err == cudaSuccess && (callback == NULL || flags != 0))
        err = cudaErrorInvalidValue;
    if (err == cudaSuccess)
        err =
            add_callback(stream, (struct callback){callback, stream, userData});
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaStreamAddCallback_ptsz(cudaStream_t stream,
                                                 cudaStreamCallback_t callback,
                                                 void *userData,
                                                 unsigned int flags)
{
    return cudaStreamAddCallback(rt_own(stream), callback, userData, flags);
}

cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t *event)
{
    cudaError_t err = rt_enter(RT_cudaEventCreate, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuEventCreate(event, CU_EVENT_DEFAULT));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t *event,
                                               unsigned int flags)
{
    cudaError_t err = rt_enter(RT_cudaEventCreateWithFlags, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuEventCreate(event, flags));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    cudaError_t err = rt_enter(RT_cudaEventRecord, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuEventRecord(event, stream));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaEventRecord_ptsz(cudaEvent_t event,
                                           cudaStream_t stream)
{
    return cudaEventRecord(event, rt_own(stream));
}

cudaError_t CUDARTAPI cudaEventRecordWithFlags(cudaEvent_t event,
                                               cudaStream_t stream,
                                               unsigned int flags)
{
    cudaError_t err = rt_enter(RT_cudaEventRecordWithFlags, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuEventRecordWithFlags(event, stream, flags));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaEventRecordWithFlags_ptsz(cudaEvent_t event,
                                                    cudaStream_t stream,
                                                    unsigned int flags)
{
    return cudaEventRecordWithFlags(event, rt_own(stream), flags);
}

cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t event)
{
    cudaError_t err = rt_enter(RT_cudaEventQuery, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(rt.cuEventQuery(event));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t event)
{
    cudaError_t err = rt_enter(RT_cudaEventSynchronize, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(rt.cuEventSynchronize(event));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaEventElapsedTime(float *ms, cudaEvent_t start,
                                           cudaEvent_t end)
{
    cudaError_t err = rt_enter(RT_cudaEventElapsedTime, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(rt.cuEventElapsedTime_v2(ms, start, end));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event)
{
    cudaError_t err = rt_enter(RT_cudaEventDestroy, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(rt.cuEventDestroy_v2(event));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle,
                                            cudaEvent_t event)
{
    cudaError_t err = rt_enter(RT_cudaIpcGetEventHandle, RT_BOUND);
    if (err == cudaSuccess)
        err =
            rt_error(rt.cuIpcGetEventHandle((CUipcEventHandle *)handle, event));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaIpcOpenEventHandle(cudaEvent_t *event,
                                             cudaIpcEventHandle_t handle)
{
    CUipcEventHandle h;
    cudaError_t err = rt_enter(RT_cudaIpcOpenEventHandle, RT_BOUND);
    memcpy(&h, &handle, sizeof(h));
    if (err == cudaSuccess)
        err = rt_error(rt.cuIpcOpenEventHandle(event, h));
    return rt_leave(err);
}
