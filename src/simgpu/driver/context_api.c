/* SPDX-License-Identifier: BSD-3-Clause */
/* context_api.c - what may be asked of and done to the current context. */
#include "capture.h"
#include "entry.h"
#include "stream.h"

CUresult CUDAAPI cuCtxGetDevice(CUdevice *device)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(SIM_FN_cuCtxGetDevice, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (device == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    *device = ctx->dev->ordinal;
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxGetFlags(unsigned int *flags)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(SIM_FN_cuCtxGetFlags, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (flags == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    *flags = ctx->flags;
    return sim_end(CUDA_SUCCESS);
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
    return sim_end(rc);
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
    return sim_end(rc);
}

CUresult CUDAAPI cuCtxGetStreamPriorityRange(int *leastPriority,
                                             int *greatestPriority)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(SIM_FN_cuCtxGetStreamPriorityRange, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (leastPriority != NULL)
        *leastPriority = 0;
    if (greatestPriority != NULL)
        *greatestPriority = -5;
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxSynchronize(void)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(SIM_FN_cuCtxSynchronize, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = sim_capture_ask_context(ctx);
    if (rc != CUDA_SUCCESS)
        return sim_end(rc);
    sim_stream_drain(ctx);
    return sim_end(sim_synced(ctx));
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
    CUresult rc = sim_begin_current(SIM_FN_cuCtxEnablePeerAccess, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = peer_bit(ctx, peerContext, &bit);
    if (rc != CUDA_SUCCESS)
        return sim_end(rc);
    if (Flags != 0)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    if (!sim_peer_reachable(ctx->dev, peerContext->dev))
        return sim_end(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    if ((ctx->peers & bit) != 0)
        return sim_end(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    ctx->peers |= bit;
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuCtxDisablePeerAccess(CUcontext peerContext)
{
    CUcontext ctx;
    uint32_t bit;
    CUresult rc = sim_begin_current(SIM_FN_cuCtxDisablePeerAccess, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = peer_bit(ctx, peerContext, &bit);
    if (rc != CUDA_SUCCESS)
        return sim_end(rc);
    if ((ctx->peers & bit) == 0)
        return sim_end(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    ctx->peers &= ~bit;
    return sim_end(CUDA_SUCCESS);
}
