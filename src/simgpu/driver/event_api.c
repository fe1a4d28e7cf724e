/* SPDX-License-Identifier: BSD-3-Clause */
/* event_api.c - the driver's calls on events. */
#include "capture.h"
#include "entry.h"
#include "ipc_event.h"
#include "stream.h"

/* Begins a call on an event: on success the lock is held until sim_end(). */
static CUresult begin(enum sim_fn fn, CUevent handle)
{
    CUresult rc = sim_enter(fn);
    if (rc != CUDA_SUCCESS)
        return rc;
    pthread_mutex_lock(&sim_lock);
    CUevent e = sim_event_find(handle);
    rc = e != NULL ? e->ctx->fault : CUDA_ERROR_INVALID_HANDLE;
    if (rc != CUDA_SUCCESS)
        pthread_mutex_unlock(&sim_lock);
    return rc;
}

static bool reached(CUevent e)
{
    if (e->shared != NULL)
        return sim_ipc_event_reached(e);
    return e->stamp == NULL || e->stamp->stream->completed >= e->stamp->seq;
}

CUresult CUDAAPI cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    CUcontext ctx;
    CUresult rc = sim_enter(SIM_FN_cuEventCreate);
    if (rc != CUDA_SUCCESS)
        return rc;
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING |
                           CU_EVENT_INTERPROCESS;
    if (phEvent == NULL || (Flags & ~known) != 0 ||
        ((Flags & CU_EVENT_INTERPROCESS) != 0 &&
         (Flags & CU_EVENT_DISABLE_TIMING) == 0))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sim_lock);
    rc = sim_current_locked(&ctx);
    if (rc == CUDA_SUCCESS)
        rc = sim_event_create(ctx, Flags, phEvent);
    return sim_end(rc);
}

static CUresult record(enum sim_fn fn, CUevent e, CUstream handle)
{
    CUcontext ctx;
    CUstream s;
    CUresult rc = begin(fn, e);
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = sim_current_locked(&ctx);
    if (rc == CUDA_SUCCESS)
        rc = sim_stream_find(ctx, handle, &s);
    if (rc == CUDA_SUCCESS && s->ctx != e->ctx)
        rc = CUDA_ERROR_INVALID_HANDLE;
    if (rc == CUDA_SUCCESS)
        rc = sim_event_record(e, s);
    return sim_end(rc);
}

CUresult CUDAAPI cuEventRecord(CUevent hEvent, CUstream hStream)
{
    return record(SIM_FN_cuEventRecord, hEvent, hStream);
}

CUresult CUDAAPI cuEventRecord_ptsz(CUevent hEvent, CUstream hStream)
{
    return record(SIM_FN_cuEventRecord, hEvent, sim_own_stream(hStream));
}

CUresult CUDAAPI cuEventRecordWithFlags(CUevent hEvent, CUstream hStream,
                                        unsigned int flags)
{
    if (flags != CU_EVENT_RECORD_DEFAULT)
        return flags == CU_EVENT_RECORD_EXTERNAL ? CUDA_ERROR_NOT_SUPPORTED
                                                 : CUDA_ERROR_INVALID_VALUE;
    return record(SIM_FN_cuEventRecordWithFlags, hEvent, hStream);
}

CUresult CUDAAPI cuEventRecordWithFlags_ptsz(CUevent hEvent, CUstream hStream,
                                             unsigned int flags)
{
    return cuEventRecordWithFlags(hEvent, sim_own_stream(hStream), flags);
}

/* Whether e may be asked whether it is reached. */
static CUresult ask(CUevent e)
{
    return e->shared != NULL ? sim_ipc_event_check(e)
                             : sim_capture_ask_event(e);
}

CUresult CUDAAPI cuEventQuery(CUevent hEvent)
{
    CUresult rc = begin(SIM_FN_cuEventQuery, hEvent);
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = ask(hEvent);
    if (rc != CUDA_SUCCESS)
        return sim_end(rc);
    return sim_end(reached(hEvent) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
}

CUresult CUDAAPI cuEventSynchronize(CUevent hEvent)
{
    CUresult rc = begin(SIM_FN_cuEventSynchronize, hEvent);
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = ask(hEvent);
    if (rc != CUDA_SUCCESS)
        return sim_end(rc);
    CUcontext ctx = hEvent->ctx;
    if (hEvent->shared != NULL)
        sim_ipc_event_sync(hEvent);
    else if (hEvent->stamp != NULL)
        sim_stream_wait(hEvent->stamp->stream, hEvent->stamp->seq);
    return sim_end(sim_synced(ctx));
}

static CUresult elapsed(float *ms, CUevent start, CUevent end)
{
    if (sim_event_find(end) == NULL || start->stamp == NULL ||
        end->stamp == NULL ||
        ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!reached(start) || !reached(end))
        return CUDA_ERROR_NOT_READY;
    *ms = (float)((double)(int64_t)(end->stamp->t_ns - start->stamp->t_ns) *
                  1e-6);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart,
                                       CUevent hEnd)
{
    CUresult rc = begin(SIM_FN_cuEventElapsedTime, hStart);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (pMilliseconds == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    return sim_end(elapsed(pMilliseconds, hStart, hEnd));
}

CUresult CUDAAPI cuEventElapsedTime(float *pMilliseconds, CUevent hStart,
                                    CUevent hEnd)
{
    return cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd);
}

CUresult CUDAAPI cuEventDestroy_v2(CUevent hEvent)
{
    CUresult rc = begin(SIM_FN_cuEventDestroy, hEvent);
    if (rc != CUDA_SUCCESS)
        return rc;
    sim_event_destroy(hEvent);
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuEventDestroy(CUevent hEvent)
{
    return cuEventDestroy_v2(hEvent);
}
