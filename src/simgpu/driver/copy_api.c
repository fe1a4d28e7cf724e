/* SPDX-License-Identifier: BSD-3-Clause */
/* copy_api.c - the driver's copies. Each in two forms: on the legacy default
 * stream, and, for programs built that way, on the thread's own. */
#include "copy.h"
#include "entry.h"

static CUresult copy_1d(enum sim_fn fn, struct sim_copy c, CUstream s,
                        bool sync)
{
    CUresult rc = sim_enter(fn);
    return rc != CUDA_SUCCESS ? rc : sim_copy(&c, s, sync);
}

static struct sim_copy any(CUdeviceptr dst, CUdeviceptr src, size_t n)
{
    return sim_copy_1d((uintptr_t)dst, (uintptr_t)src, n);
}

static struct sim_copy h2d(CUdeviceptr dst, const void *src, size_t n)
{
    struct sim_copy c = sim_copy_1d((uintptr_t)dst, (uintptr_t)src, n);
    c.dst_side = SIM_DEVICE_SIDE;
    c.src_side = SIM_HOST_SIDE;
    return c;
}

static struct sim_copy d2h(void *dst, CUdeviceptr src, size_t n)
{
    struct sim_copy c = sim_copy_1d((uintptr_t)dst, (uintptr_t)src, n);
    c.dst_side = SIM_HOST_SIDE;
    c.src_side = SIM_DEVICE_SIDE;
    return c;
}

static struct sim_copy d2d(CUdeviceptr dst, CUdeviceptr src, size_t n)
{
    struct sim_copy c = sim_copy_1d((uintptr_t)dst, (uintptr_t)src, n);
    c.dst_side = SIM_DEVICE_SIDE;
    c.src_side = SIM_DEVICE_SIDE;
    return c;
}

CUresult CUDAAPI cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    return copy_1d(SIM_FN_cuMemcpy, any(dst, src, ByteCount), NULL, true);
}

CUresult CUDAAPI cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src,
                               size_t ByteCount)
{
    return copy_1d(SIM_FN_cuMemcpy, any(dst, src, ByteCount),
                   CU_STREAM_PER_THREAD, true);
}

CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src,
                               size_t ByteCount, CUstream hStream)
{
    return copy_1d(SIM_FN_cuMemcpyAsync, any(dst, src, ByteCount), hStream,
                   false);
}

CUresult CUDAAPI cuMemcpyAsync_ptsz(CUdeviceptr dst, CUdeviceptr src,
                                    size_t ByteCount, CUstream hStream)
{
    return cuMemcpyAsync(dst, src, ByteCount, sim_own_stream(hStream));
}

CUresult CUDAAPI cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost,
                                 size_t ByteCount)
{
    return copy_1d(SIM_FN_cuMemcpyHtoD, h2d(dstDevice, srcHost, ByteCount),
                   NULL, true);
}

CUresult CUDAAPI cuMemcpyHtoD_v2_ptds(CUdeviceptr dstDevice,
                                      const void *srcHost, size_t ByteCount)
{
    return copy_1d(SIM_FN_cuMemcpyHtoD, h2d(dstDevice, srcHost, ByteCount),
                   CU_STREAM_PER_THREAD, true);
}

CUresult CUDAAPI cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice,
                                      const void *srcHost, size_t ByteCount,
                                      CUstream hStream)
{
    return copy_1d(SIM_FN_cuMemcpyHtoDAsync, h2d(dstDevice, srcHost, ByteCount),
                   hStream, false);
}

CUresult CUDAAPI cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr dstDevice,
                                           const void *srcHost,
                                           size_t ByteCount, CUstream hStream)
{
    return cuMemcpyHtoDAsync_v2(dstDevice, srcHost, ByteCount,
                                sim_own_stream(hStream));
}

CUresult CUDAAPI cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice,
                                 size_t ByteCount)
{
    return copy_1d(SIM_FN_cuMemcpyDtoH, d2h(dstHost, srcDevice, ByteCount),
                   NULL, true);
}

CUresult CUDAAPI cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr srcDevice,
                                      size_t ByteCount)
{
    return copy_1d(SIM_FN_cuMemcpyDtoH, d2h(dstHost, srcDevice, ByteCount),
                   CU_STREAM_PER_THREAD, true);
}

CUresult CUDAAPI cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice,
                                      size_t ByteCount, CUstream hStream)
{
    return copy_1d(SIM_FN_cuMemcpyDtoHAsync, d2h(dstHost, srcDevice, ByteCount),
                   hStream, false);
}

CUresult CUDAAPI cuMemcpyDtoHAsync_v2_ptsz(void *dstHost, CUdeviceptr srcDevice,
                                           size_t ByteCount, CUstream hStream)
{
    return cuMemcpyDtoHAsync_v2(dstHost, srcDevice, ByteCount,
                                sim_own_stream(hStream));
}

CUresult CUDAAPI cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice,
                                 size_t ByteCount)
{
    return copy_1d(SIM_FN_cuMemcpyDtoD, d2d(dstDevice, srcDevice, ByteCount),
                   NULL, true);
}

CUresult CUDAAPI cuMemcpyDtoD_v2_ptds(CUdeviceptr dstDevice,
                                      CUdeviceptr srcDevice, size_t ByteCount)
{
    return copy_1d(SIM_FN_cuMemcpyDtoD, d2d(dstDevice, srcDevice, ByteCount),
                   CU_STREAM_PER_THREAD, true);
}

CUresult CUDAAPI cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice,
                                      CUdeviceptr srcDevice, size_t ByteCount,
                                      CUstream hStream)
{
    return copy_1d(SIM_FN_cuMemcpyDtoDAsync,
                   d2d(dstDevice, srcDevice, ByteCount), hStream, false);
}

CUresult CUDAAPI cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr dstDevice,
                                           CUdeviceptr srcDevice,
                                           size_t ByteCount, CUstream hStream)
{
    return cuMemcpyDtoDAsync_v2(dstDevice, srcDevice, ByteCount,
                                sim_own_stream(hStream));
}

/* The contexts say where the addresses are, which addresses say themselves;
 * they must be good all the same. */
static CUresult copy_peer(enum sim_fn fn, struct sim_copy c, CUcontext a,
                          CUcontext b, CUstream s)
{
    CUresult rc = sim_enter(fn);
    if (rc != CUDA_SUCCESS)
        return rc;
    pthread_mutex_lock(&sim_lock);
    if (sim_context_check(a) == NULL || sim_context_check(b) == NULL)
        rc = CUDA_ERROR_INVALID_CONTEXT;
    c.dst_ctx = a;
    c.src_ctx = b;
    pthread_mutex_unlock(&sim_lock);
    return rc != CUDA_SUCCESS ? rc : sim_copy(&c, s, false);
}

CUresult CUDAAPI cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext,
                              CUdeviceptr srcDevice, CUcontext srcContext,
                              size_t ByteCount)
{
    return copy_peer(SIM_FN_cuMemcpyPeer, d2d(dstDevice, srcDevice, ByteCount),
                     dstContext, srcContext, NULL);
}

CUresult CUDAAPI cuMemcpyPeer_ptds(CUdeviceptr dstDevice, CUcontext dstContext,
                                   CUdeviceptr srcDevice, CUcontext srcContext,
                                   size_t ByteCount)
{
    return copy_peer(SIM_FN_cuMemcpyPeer, d2d(dstDevice, srcDevice, ByteCount),
                     dstContext, srcContext, CU_STREAM_PER_THREAD);
}

CUresult CUDAAPI cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext,
                                   CUdeviceptr srcDevice, CUcontext srcContext,
                                   size_t ByteCount, CUstream hStream)
{
    return copy_peer(SIM_FN_cuMemcpyPeerAsync,
                     d2d(dstDevice, srcDevice, ByteCount), dstContext,
                     srcContext, hStream);
}

CUresult CUDAAPI cuMemcpyPeerAsync_ptsz(CUdeviceptr dstDevice,
                                        CUcontext dstContext,
                                        CUdeviceptr srcDevice,
                                        CUcontext srcContext, size_t ByteCount,
                                        CUstream hStream)
{
    return cuMemcpyPeerAsync(dstDevice, dstContext, srcDevice, srcContext,
                             ByteCount, sim_own_stream(hStream));
}

/* One side of a two-dimensional copy: its first byte, and which side of the
 * bus it is on. false: arrays, which are not simulated, or no such type. */
static bool side_2d(CUmemorytype type, const void *host, CUdeviceptr device,
                    uintptr_t *addr, enum sim_side *side)
{
    *addr = (uintptr_t)device;
    *side = type == CU_MEMORYTYPE_DEVICE ? SIM_DEVICE_SIDE : SIM_ANY_SIDE;
    if (type == CU_MEMORYTYPE_HOST) {
        *addr = (uintptr_t)host;
        *side = SIM_HOST_SIDE;
    }
    return type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE ||
           type == CU_MEMORYTYPE_UNIFIED;
}

static CUresult copy_2d(enum sim_fn fn, const CUDA_MEMCPY2D *p, CUstream s,
                        bool sync)
{
    CUresult rc = sim_enter(fn);
    struct sim_copy c = {0};
    if (rc != CUDA_SUCCESS)
        return rc;
    if (p == NULL ||
        !side_2d(p->dstMemoryType, p->dstHost, p->dstDevice, &c.dst,
                 &c.dst_side) ||
        !side_2d(p->srcMemoryType, p->srcHost, p->srcDevice, &c.src,
                 &c.src_side))
        return CUDA_ERROR_INVALID_VALUE;
    c.width = p->WidthInBytes;
    c.height = p->Height;
    c.dpitch = p->dstPitch != 0 ? p->dstPitch : c.width;
    c.spitch = p->srcPitch != 0 ? p->srcPitch : c.width;
    c.dst += p->dstY * c.dpitch + p->dstXInBytes;
    c.src += p->srcY * c.spitch + p->srcXInBytes;
    return sim_copy(&c, s, sync);
}

CUresult CUDAAPI cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(SIM_FN_cuMemcpy2D, pCopy, NULL, true);
}

CUresult CUDAAPI cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(SIM_FN_cuMemcpy2D, pCopy, CU_STREAM_PER_THREAD, true);
}

CUresult CUDAAPI cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(SIM_FN_cuMemcpy2DUnaligned, pCopy, NULL, true);
}

CUresult CUDAAPI cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(SIM_FN_cuMemcpy2DUnaligned, pCopy, CU_STREAM_PER_THREAD,
                   true);
}

CUresult CUDAAPI cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy,
                                    CUstream hStream)
{
    return copy_2d(SIM_FN_cuMemcpy2DAsync, pCopy, hStream, false);
}

CUresult CUDAAPI cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *pCopy,
                                         CUstream hStream)
{
    return cuMemcpy2DAsync_v2(pCopy, sim_own_stream(hStream));
}
