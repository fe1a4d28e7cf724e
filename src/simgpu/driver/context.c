/* SPDX-License-Identifier: BSD-3-Clause */
/* context.c - contexts: primary and others, and each thread's stack of them.
 *
 * Nothing here makes a context unless the program asks for one. */
#include "entry.h"
#include "memory.h"
#include "module.h"
#include "stream.h"

#include <stdlib.h>
#include <string.h>

CUcontext sim_context_check(CUcontext ctx)
{
    for (CUcontext c = sim.contexts; c != NULL; c = c->next)
        if (c == ctx)
            return c->active ? c : NULL;
    return NULL;
}

CUresult sim_current_locked(CUcontext *ctx)
{
    const struct sim_thread *t = sim_thread();
    CUcontext top = t->depth > 0 ? t->stack[t->depth - 1] : NULL;
    if (top == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!top->active)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (top->fault != CUDA_SUCCESS)
        return top->fault;
    *ctx = top;
    return CUDA_SUCCESS;
}

CUresult sim_synced(CUcontext ctx)
{
    sim_pools_synced();
    return ctx->fault;
}

void sim_context_fault(CUcontext ctx, CUresult fault)
{
    if (ctx->fault == CUDA_SUCCESS)
        ctx->fault = fault;
}

static CUcontext context_new(struct sim_device *dev, bool primary)
{
    CUcontext ctx = calloc(1, sizeof(*ctx));
    if (ctx == NULL)
        return NULL;
    ctx->dev = dev;
    ctx->primary = primary;
    ctx->next = sim.contexts;
    sim.contexts = ctx;
    return ctx;
}

static CUresult context_activate(CUcontext ctx, unsigned flags)
{
    CUresult rc = sim_stream_create(ctx, SIM_STREAM_LEGACY, 0, 0, &ctx->legacy);
    if (rc != CUDA_SUCCESS)
        return rc;
    ctx->flags = flags;
    ctx->id = sim_next_id();
    ctx->peers = 0;
    ctx->fault = CUDA_SUCCESS;
    ctx->active = true;
    sim_count(&sim_counters->contexts_made, 1);
    return CUDA_SUCCESS;
}

/* Waits for all work, then frees all that the context owns. */
static void context_deactivate(CUcontext ctx)
{
    ctx->active = false;
    sim_stream_drain_all();
    while (ctx->events != NULL)
        sim_event_destroy(ctx->events);
    CUstream s = ctx->streams;
    while (s != NULL) {
        CUstream next = s->next;
        if (!s->destroyed)
            sim_stream_destroy(s);
        s = next;
    }
    ctx->legacy = NULL;
    sim_module_unload_context(ctx);
    sim_mem_free_context(ctx);
}

static CUresult primary_retain(struct sim_device *dev, CUcontext *out)
{
    if (dev->primary == NULL)
        dev->primary = context_new(dev, true);
    CUcontext ctx = dev->primary;
    if (ctx == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!ctx->active) {
        CUresult rc = context_activate(ctx, ctx->flags);
        if (rc != CUDA_SUCCESS)
            return rc;
    }
    ctx->refs++;
    *out = ctx;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice ordinal)
{
    struct sim_device *dev;
    CUresult rc =
        sim_enter_device(SIM_FN_cuDevicePrimaryCtxRetain, ordinal, &dev);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (pctx == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sim_lock);
    rc = primary_retain(dev, pctx);
    pthread_mutex_unlock(&sim_lock);
    return rc;
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease_v2(CUdevice ordinal)
{
    struct sim_device *dev;
    CUresult rc =
        sim_enter_device(SIM_FN_cuDevicePrimaryCtxRelease, ordinal, &dev);
    if (rc != CUDA_SUCCESS)
        return rc;
    pthread_mutex_lock(&sim_lock);
    CUcontext ctx = dev->primary;
    if (ctx == NULL || ctx->refs == 0)
        rc = CUDA_ERROR_INVALID_CONTEXT;
    else if (--ctx->refs == 0)
        context_deactivate(ctx);
    pthread_mutex_unlock(&sim_lock);
    return rc;
}

CUresult CUDAAPI cuDevicePrimaryCtxReset_v2(CUdevice ordinal)
{
    struct sim_device *dev;
    CUresult rc =
        sim_enter_device(SIM_FN_cuDevicePrimaryCtxReset, ordinal, &dev);
    if (rc != CUDA_SUCCESS)
        return rc;
    pthread_mutex_lock(&sim_lock);
    CUcontext ctx = dev->primary;
    if (ctx != NULL && ctx->active) {
        ctx->refs = 0;
        context_deactivate(ctx);
    }
    pthread_mutex_unlock(&sim_lock);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal,
                                               unsigned int flags)
{
    struct sim_device *dev;
    CUresult rc =
        sim_enter_device(SIM_FN_cuDevicePrimaryCtxSetFlags, ordinal, &dev);
    if (rc != CUDA_SUCCESS)
        return rc;
    if ((flags & ~(unsigned)CU_CTX_FLAGS_MASK) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sim_lock);
    if (dev->primary == NULL)
        dev->primary = context_new(dev, true);
    if (dev->primary == NULL)
        rc = CUDA_ERROR_OUT_OF_MEMORY;
    else
        dev->primary->flags = flags;
    pthread_mutex_unlock(&sim_lock);
    return rc;
}

CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice ordinal,
                                            unsigned int *flags, int *active)
{
    struct sim_device *dev;
    CUresult rc =
        sim_enter_device(SIM_FN_cuDevicePrimaryCtxGetState, ordinal, &dev);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (flags == NULL || active == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sim_lock);
    *flags = dev->primary != NULL ? dev->primary->flags : 0;
    *active = dev->primary != NULL && dev->primary->active;
    pthread_mutex_unlock(&sim_lock);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice dev)
{
    return cuDevicePrimaryCtxRelease_v2(dev);
}

CUresult CUDAAPI cuDevicePrimaryCtxReset(CUdevice dev)
{
    return cuDevicePrimaryCtxReset_v2(dev);
}

CUresult CUDAAPI cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
    return cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

static CUresult push(CUcontext ctx)
{
    struct sim_thread *t = sim_thread();
    if (t->depth == SIM_STACK_MAX)
        return CUDA_ERROR_OUT_OF_MEMORY;
    t->stack[t->depth++] = ctx;
    return CUDA_SUCCESS;
}

static CUresult create(CUcontext *pctx, unsigned flags, CUdevice ordinal)
{
    struct sim_device *dev;
    CUresult rc = sim_enter_device(SIM_FN_cuCtxCreate, ordinal, &dev);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (pctx == NULL || (flags & ~(unsigned)CU_CTX_FLAGS_MASK) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sim_lock);
    CUcontext ctx = context_new(dev, false);
    rc = ctx == NULL ? CUDA_ERROR_OUT_OF_MEMORY : context_activate(ctx, flags);
    if (rc == CUDA_SUCCESS)
        rc = push(ctx);
    if (rc == CUDA_SUCCESS)
        *pctx = ctx;
    else if (ctx != NULL && ctx->active)
        context_deactivate(ctx);
    pthread_mutex_unlock(&sim_lock);
    return rc;
}

CUresult CUDAAPI cuCtxCreate_v2(CUcontext *pctx, unsigned int flags,
                                CUdevice dev)
{
    return create(pctx, flags, dev);
}

CUresult CUDAAPI cuCtxCreate_v3(CUcontext *pctx,
                                CUexecAffinityParam *paramsArray, int numParams,
                                unsigned int flags, CUdevice dev)
{
    if (paramsArray != NULL || numParams != 0)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return create(pctx, flags, dev);
}

CUresult CUDAAPI cuCtxCreate_v4(CUcontext *pctx,
                                CUctxCreateParams *ctxCreateParams,
                                unsigned int flags, CUdevice dev)
{
    if (ctxCreateParams != NULL)
        return CUDA_ERROR_NOT_SUPPORTED;
    return create(pctx, flags, dev);
}

CUresult CUDAAPI cuCtxDestroy_v2(CUcontext ctx)
{
    CUresult rc = sim_enter(SIM_FN_cuCtxDestroy);
    if (rc != CUDA_SUCCESS)
        return rc;
    struct sim_thread *t = sim_thread();
    pthread_mutex_lock(&sim_lock);
    if (sim_context_check(ctx) == NULL || ctx->primary) {
        rc = CUDA_ERROR_INVALID_CONTEXT;
    } else {
        context_deactivate(ctx);
        if (t->depth > 0 && t->stack[t->depth - 1] == ctx)
            t->depth--;
    }
    pthread_mutex_unlock(&sim_lock);
    return rc;
}

CUresult CUDAAPI cuCtxPushCurrent_v2(CUcontext ctx)
{
    CUresult rc = sim_enter(SIM_FN_cuCtxPushCurrent);
    if (rc != CUDA_SUCCESS)
        return rc;
    pthread_mutex_lock(&sim_lock);
    rc =
        sim_context_check(ctx) == NULL ? CUDA_ERROR_INVALID_CONTEXT : push(ctx);
    pthread_mutex_unlock(&sim_lock);
    return rc;
}

CUresult CUDAAPI cuCtxPopCurrent_v2(CUcontext *pctx)
{
    CUresult rc = sim_enter(SIM_FN_cuCtxPopCurrent);
    if (rc != CUDA_SUCCESS)
        return rc;
    struct sim_thread *t = sim_thread();
    if (t->depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    t->depth--;
    if (pctx != NULL)
        *pctx = t->stack[t->depth];
    return CUDA_SUCCESS;
}

/* Replaces the top of the stack; NULL takes it away. */
CUresult CUDAAPI cuCtxSetCurrent(CUcontext ctx)
{
    CUresult rc = sim_enter(SIM_FN_cuCtxSetCurrent);
    if (rc != CUDA_SUCCESS)
        return rc;
    struct sim_thread *t = sim_thread();
    pthread_mutex_lock(&sim_lock);
    if (ctx != NULL && sim_context_check(ctx) == NULL) {
        rc = CUDA_ERROR_INVALID_CONTEXT;
    } else {
        if (t->depth > 0)
            t->depth--;
        if (ctx != NULL)
            rc = push(ctx);
    }
    pthread_mutex_unlock(&sim_lock);
    return rc;
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext *pctx)
{
    CUresult rc = sim_enter(SIM_FN_cuCtxGetCurrent);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (pctx == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const struct sim_thread *t = sim_thread();
    *pctx = t->depth > 0 ? t->stack[t->depth - 1] : NULL;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxDestroy(CUcontext ctx)
{
    return cuCtxDestroy_v2(ctx);
}

CUresult CUDAAPI cuCtxPopCurrent(CUcontext *pctx)
{
    return cuCtxPopCurrent_v2(pctx);
}

CUresult CUDAAPI cuCtxPushCurrent(CUcontext ctx)
{
    return cuCtxPushCurrent_v2(ctx);
}
