/* SPDX-License-Identifier: BSD-3-Clause */
/* context_api.c - what may be asked of and done to the current context. */
#include "capture.h"
#include "stream.h"

/* Begins a call that needs a current context: on success the lock is held
 * until finish(). */
static CUresult begin(enum sim_fn fn, CUcontext *ctx)
{
    CUresult rc = sim_enter(fn);
    if (rc != CUDA_SUCCESS)
        return rc;
    pthread_mutex_lock(&sim_lock);
    rc = sim_current_locked(ctx);
    if (rc != CUDA_SUCCESS)
        pthread_mutex_unlock(&sim_lock);
    return rc;
}

static CUresult finish(CUresult rc)
{
    pthread_mutex_unlock(&sim_lock);
    return rc;
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice *device)
{
    CUcontext ctx;
    CUresult rc = begin(SIM_FN_cuCtxGetDevice, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (device == NULL)
        return finish(CUDA_ERROR_INVALID_VALUE);
    *device = ctx->dev->ordinal;
    return finish(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxGetFlags(unsigned int *flags)
{
    CUcontext ctx;
    CUresult rc = begin(SIM_FN_cuCtxGetFlags, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (flags == NULL)
        return finish(CUDA_ERROR_INVALID_VALUE);
    *flags = ctx->flags;
    return finish(CUDA_SUCCESS);
}

/* ctx, or the current one for NULL. */
static CUresult context_or_current(CUcontext *ctx)
{
    if (*ctx == NULL)
        return sim_current_locked(ctx);
    return sim_context_check(*ctx) != NULL ? CUDA_SUCCESS
                                           : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult CUDAAPI cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
    CUresult rc = sim_enter(SIM_FN_cuCtxGetId);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (ctxId == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sim_lock);
    rc = context_or_current(&ctx);
    if (rc == CUDA_SUCCESS)
        *ctxId = ctx->id;
    return finish(rc);
}

CUresult CUDAAPI cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
    CUresult rc = sim_enter(SIM_FN_cuCtxGetApiVersion);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (version == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sim_lock);
    rc = context_or_current(&ctx);
    if (rc == CUDA_SUCCESS)
        *version = 3020;
    return finish(rc);
}

CUresult CUDAAPI cuCtxGetStreamPriorityRange(int *leastPriority,
                                             int *greatestPriority)
{
    CUcontext ctx;
    CUresult rc = begin(SIM_FN_cuCtxGetStreamPriorityRange, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (leastPriority != NULL)
        *leastPriority = 0;
    if (greatestPriority != NULL)
        *greatestPriority = -5;
    return finish(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxSynchronize(void)
{
    CUcontext ctx;
    CUresult rc = begin(SIM_FN_cuCtxSynchronize, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = sim_capture_ask_context(ctx);
    if (rc != CUDA_SUCCESS)
        return finish(rc);
    sim_stream_drain(ctx);
    return finish(sim_synced(ctx));
}

/* The peer's device in *bit, after the checks that both calls share. */
static CUresult peer_bit(CUcontext ctx, CUcontext peer, uint32_t *bit)
{
    if (sim_context_check(peer) == NULL || peer == ctx)
        return CUDA_ERROR_INVALID_CONTEXT;
    *bit = UINT32_C(1) << peer->dev->ordinal;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxEnablePeerAccess(CUcontext peerContext,
                                       unsigned int Flags)
{
    CUcontext ctx;
    uint32_t bit;
    CUresult rc = begin(SIM_FN_cuCtxEnablePeerAccess, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = peer_bit(ctx, peerContext, &bit);
    if (rc != CUDA_SUCCESS)
        return finish(rc);
    if (Flags != 0)
        return finish(CUDA_ERROR_INVALID_VALUE);
    if (!sim_peer_reachable(ctx->dev, peerContext->dev))
        return finish(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    if ((ctx->peers & bit) != 0)
        return finish(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    ctx->peers |= bit;
    return finish(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxDisablePeerAccess(CUcontext peerContext)
{
    CUcontext ctx;
    uint32_t bit;
    CUresult rc = begin(SIM_FN_cuCtxDisablePeerAccess, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = peer_bit(ctx, peerContext, &bit);
    if (rc != CUDA_SUCCESS)
        return finish(rc);
    if ((ctx->peers & bit) == 0)
        return finish(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    ctx->peers &= ~bit;
    return finish(CUDA_SUCCESS);
}
