/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_api.c - the driver's calls on streams. */
#include "capture.h"
#include "entry.h"
#include "ipc_event.h"
#include "stream.h"

#include <stdlib.h>

static CUresult create(enum sim_fn fn, CUstream *out, unsigned flags,
                       int priority)
{
    CUcontext ctx;
    CUresult rc = sim_enter(fn);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (out == NULL || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sim_lock);
    rc = sim_current_locked(&ctx);
    if (rc == CUDA_SUCCESS)
        rc = sim_stream_create(ctx, SIM_STREAM_USER, flags, priority, out);
    return sim_end(rc);
}

CUresult CUDAAPI cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
    return create(SIM_FN_cuStreamCreate, phStream, Flags, 0);
}

CUresult CUDAAPI cuStreamCreateWithPriority(CUstream *phStream,
                                            unsigned int flags, int priority)
{
    return create(SIM_FN_cuStreamCreateWithPriority, phStream, flags,
                  priority > 0    ? 0
                  : priority < -5 ? -5
                                  : priority);
}

/* Queued work still runs; the handle is bad from here on. */
CUresult CUDAAPI cuStreamDestroy_v2(CUstream hStream)
{
    CUstream s;
    CUresult rc = sim_begin_stream(SIM_FN_cuStreamDestroy, hStream, &s);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (s->kind != SIM_STREAM_USER)
        return sim_end(CUDA_ERROR_INVALID_HANDLE);
    rc = sim_capture_refuse(s);
    if (rc == CUDA_SUCCESS)
        sim_stream_destroy(s);
    return sim_end(rc);
}

CUresult CUDAAPI cuStreamDestroy(CUstream hStream)
{
    return cuStreamDestroy_v2(hStream);
}

CUresult CUDAAPI cuStreamGetPriority(CUstream hStream, int *priority)
{
    CUstream s;
    CUresult rc = sim_begin_stream(SIM_FN_cuStreamGetPriority, hStream, &s);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (priority == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    *priority = s->priority;
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamGetFlags(CUstream hStream, unsigned int *flags)
{
    CUstream s;
    CUresult rc = sim_begin_stream(SIM_FN_cuStreamGetFlags, hStream, &s);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (flags == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    *flags = s->flags;
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamGetId(CUstream hStream, unsigned long long *streamId)
{
    CUstream s;
    CUresult rc = sim_begin_stream(SIM_FN_cuStreamGetId, hStream, &s);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (streamId == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    *streamId = s->id;
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamGetCtx(CUstream hStream, CUcontext *pctx)
{
    CUstream s;
    CUresult rc = sim_begin_stream(SIM_FN_cuStreamGetCtx, hStream, &s);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (pctx == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    *pctx = s->ctx;
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamGetDevice(CUstream hStream, CUdevice *device)
{
    CUstream s;
    CUresult rc = sim_begin_stream(SIM_FN_cuStreamGetDevice, hStream, &s);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (device == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    *device = s->ctx->dev->ordinal;
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamQuery(CUstream hStream)
{
    CUstream s;
    CUresult rc = sim_begin_stream(SIM_FN_cuStreamQuery, hStream, &s);
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = sim_capture_ask_stream(s);
    if (rc == CUDA_SUCCESS && !sim_stream_done(s))
        rc = CUDA_ERROR_NOT_READY;
    return sim_end(rc);
}

CUresult CUDAAPI cuStreamSynchronize(CUstream hStream)
{
    CUstream s;
    CUresult rc = sim_begin_stream(SIM_FN_cuStreamSynchronize, hStream, &s);
    if (rc != CUDA_SUCCESS)
        return rc;
    CUcontext ctx = s->ctx;
    rc = sim_capture_ask_stream(s);
    if (rc != CUDA_SUCCESS)
        return sim_end(rc);
    sim_stream_sync(s);
    return sim_end(sim_synced(ctx));
}

static void nothing_run(struct sim_op *op)
{
    (void)op;
}

static void plain_done(struct sim_op *op)
{
    free(op);
}

/* What follows in s waits until the event's place has been reached. */
CUresult CUDAAPI cuStreamWaitEvent(CUstream hStream, CUevent hEvent,
                                   unsigned int Flags)
{
    CUstream s;
    uint64_t seq;
    CUresult rc = sim_begin_stream(SIM_FN_cuStreamWaitEvent, hStream, &s);
    if (rc != CUDA_SUCCESS)
        return rc;
    CUevent e = sim_event_find(hEvent);
    if (e == NULL)
        return sim_end(CUDA_ERROR_INVALID_HANDLE);
    if (Flags != CU_EVENT_WAIT_DEFAULT)
        return sim_end(Flags == CU_EVENT_WAIT_EXTERNAL && s->capture != NULL
                           ? CUDA_ERROR_NOT_SUPPORTED
                           : CUDA_ERROR_INVALID_VALUE);
    if (e->shared != NULL)
        return sim_end(sim_ipc_event_wait(e, s));
    if (s->capture != NULL || e->captured != 0)
        return sim_end(sim_capture_wait(s, e));
    if (e->stamp == NULL)
        return sim_end(CUDA_SUCCESS);
    struct sim_op *op = calloc(1, sizeof(*op));
    if (op == NULL)
        return sim_end(CUDA_ERROR_OUT_OF_MEMORY);
    op->run = nothing_run;
    op->done = plain_done;
    op->prompt = true;
    rc = sim_stream_submit(s, op, e->stamp, &seq);
    if (rc != CUDA_SUCCESS)
        free(op);
    return sim_end(rc);
}

/* A function of the program, in either of two forms. */
struct host_op {
    struct sim_op op; /* first */
    CUhostFn fn;
    CUstreamCallback callback;
    CUstream stream;
    void *user;
};

static void host_run(struct sim_op *op)
{
    struct host_op *h = (struct host_op *)op;
    sim_thread()->in_callback = true;
    if (h->fn != NULL)
        h->fn(h->user);
    else
        h->callback(h->stream, CUDA_SUCCESS, h->user);
    sim_thread()->in_callback = false;
}

static CUresult queue_host_fn(CUstream s, const struct host_op *from)
{
    struct host_op *h = malloc(sizeof(*h));
    if (h == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *h = *from;
    h->op = (struct sim_op){.run = host_run, .done = plain_done};
    if (h->fn != NULL) /* the older form cannot be captured */
        h->op.size = sizeof(*h);
    uint64_t seq;
    CUresult rc = sim_stream_submit(s, &h->op, NULL, &seq);
    if (rc != CUDA_SUCCESS)
        free(h);
    return rc;
}

CUresult CUDAAPI cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    CUstream s;
    CUresult rc = sim_begin_stream(SIM_FN_cuLaunchHostFunc, hStream, &s);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (fn == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    return sim_end(
        queue_host_fn(s, &(struct host_op){.fn = fn, .user = userData}));
}

CUresult CUDAAPI cuStreamAddCallback(CUstream hStream,
                                     CUstreamCallback callback, void *userData,
                                     unsigned int flags)
{
    CUstream s;
    CUresult rc = sim_begin_stream(SIM_FN_cuStreamAddCallback, hStream, &s);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (callback == NULL || flags != 0)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    return sim_end(queue_host_fn(s, &(struct host_op){.callback = callback,
                                                      .stream = hStream,
                                                      .user = userData}));
}

/* The same calls for programs whose default stream is the thread's own. */

CUresult CUDAAPI cuStreamGetPriority_ptsz(CUstream hStream, int *priority)
{
    return cuStreamGetPriority(sim_own_stream(hStream), priority);
}

CUresult CUDAAPI cuStreamGetFlags_ptsz(CUstream hStream, unsigned int *flags)
{
    return cuStreamGetFlags(sim_own_stream(hStream), flags);
}

CUresult CUDAAPI cuStreamGetId_ptsz(CUstream hStream,
                                    unsigned long long *streamId)
{
    return cuStreamGetId(sim_own_stream(hStream), streamId);
}

CUresult CUDAAPI cuStreamGetCtx_ptsz(CUstream hStream, CUcontext *pctx)
{
    return cuStreamGetCtx(sim_own_stream(hStream), pctx);
}

CUresult CUDAAPI cuStreamGetDevice_ptsz(CUstream hStream, CUdevice *device)
{
    return cuStreamGetDevice(sim_own_stream(hStream), device);
}

CUresult CUDAAPI cuStreamQuery_ptsz(CUstream hStream)
{
    return cuStreamQuery(sim_own_stream(hStream));
}

CUresult CUDAAPI cuStreamSynchronize_ptsz(CUstream hStream)
{
    return cuStreamSynchronize(sim_own_stream(hStream));
}

CUresult CUDAAPI cuStreamWaitEvent_ptsz(CUstream hStream, CUevent hEvent,
                                        unsigned int Flags)
{
    return cuStreamWaitEvent(sim_own_stream(hStream), hEvent, Flags);
}

CUresult CUDAAPI cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn,
                                       void *userData)
{
    return cuLaunchHostFunc(sim_own_stream(hStream), fn, userData);
}

CUresult CUDAAPI cuStreamAddCallback_ptsz(CUstream hStream,
                                          CUstreamCallback callback,
                                          void *userData, unsigned int flags)
{
    return cuStreamAddCallback(sim_own_stream(hStream), callback, userData,
                               flags);
}
