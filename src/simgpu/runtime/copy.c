/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.c - the runtime's copies and memsets, all by way of the driver's
 * two-dimensional calls, which take any kind of memory. */
#include "rt.h"

#include <stdbool.h>
#include <stdint.h>

/* Where a call is queued, and whether it is one of the Async calls. */
struct where {
    bool async;
    bool own; /* of the form whose default stream is the thread's own */
    cudaStream_t stream;
};

/* One side of a copy. The direction that the program names is checked by the
 * driver, against what the address is. */
static void side(enum cudaMemcpyKind kind, bool is_host, CUmemorytype *type)
{
    if (kind == cudaMemcpyDefault)
        *type = CU_MEMORYTYPE_UNIFIED;
    else
        *type = is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

struct area {
    void *dst;
    const void *src;
    size_t dpitch, spitch, width, height;
};

static cudaError_t copy(struct area a, enum cudaMemcpyKind kind, struct where w)
{
    if ((int)kind < 0 || kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (a.dpitch < a.width || a.spitch < a.width)
        return cudaErrorInvalidPitchValue;
    CUDA_MEMCPY2D c = {
        .srcHost = a.src,
        .srcDevice = (CUdeviceptr)(uintptr_t)a.src,
        .srcPitch = a.spitch,
        .dstHost = a.dst,
        .dstDevice = (CUdeviceptr)(uintptr_t)a.dst,
        .dstPitch = a.dpitch,
        .WidthInBytes = a.width,
        .Height = a.height,
    };
    side(kind, kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice,
         &c.srcMemoryType);
    side(kind, kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost,
         &c.dstMemoryType);
    if (w.async)
        return rt_error(
            rt.cuMemcpy2DAsync_v2(&c, w.own ? rt_own(w.stream) : w.stream));
    return rt_error(w.own ? rt.cuMemcpy2DUnaligned_v2_ptds(&c)
                          : rt.cuMemcpy2DUnaligned_v2(&c));
}

static cudaError_t fill(struct area a, int value, struct where w)
{
    CUdeviceptr d = (CUdeviceptr)(uintptr_t)a.dst;
    unsigned char byte = (unsigned char)value;
    if (w.async)
        return rt_error(
            rt.cuMemsetD2D8Async(d, a.dpitch, byte, a.width, a.height,
                                 w.own ? rt_own(w.stream) : w.stream));
    return rt_error(
        w.own ? rt.cuMemsetD2D8_v2_ptds(d, a.dpitch, byte, a.width, a.height)
              : rt.cuMemsetD2D8_v2(d, a.dpitch, byte, a.width, a.height));
}

static struct area row(void *dst, const void *src, size_t count)
{
    return (struct area){dst, src, count, count, count, 1};
}

static const struct where sync_call = {.async = false};
static const struct where sync_own_call = {.async = false, .own = true};

static struct where async_call(cudaStream_t stream)
{
    return (struct where){.async = true, .stream = stream};
}

cudaError_t CUDARTAPI cudaMemcpy(void *dst, const void *src, size_t count,
                                 enum cudaMemcpyKind kind)
{
    cudaError_t err = rt_enter(RT_cudaMemcpy, RT_BOUND);
    if (err == cudaSuccess)
        err = copy(row(dst, src, count), kind, sync_call);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemcpy_ptds(void *dst, const void *src, size_t count,
                                      enum cudaMemcpyKind kind)
{
    cudaError_t err = rt_enter(RT_cudaMemcpy, RT_BOUND);
    if (err == cudaSuccess)
        err = copy(row(dst, src, count), kind, sync_own_call);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemcpyAsync(void *dst, const void *src, size_t count,
                                      enum cudaMemcpyKind kind,
                                      cudaStream_t stream)
{
    cudaError_t err = rt_enter(RT_cudaMemcpyAsync, RT_BOUND);
    if (err == cudaSuccess)
        err = copy(row(dst, src, count), kind, async_call(stream));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemcpyAsync_ptsz(void *dst, const void *src,
                                           size_t count,
                                           enum cudaMemcpyKind kind,
                                           cudaStream_t stream)
{
    return cudaMemcpyAsync(dst, src, count, kind, rt_own(stream));
}

cudaError_t CUDARTAPI cudaMemcpy2D(void *dst, size_t dpitch, const void *src,
                                   size_t spitch, size_t width, size_t height,
                                   enum cudaMemcpyKind kind)
{
    cudaError_t err = rt_enter(RT_cudaMemcpy2D, RT_BOUND);
    if (err == cudaSuccess)
        err = copy((struct area){dst, src, dpitch, spitch, width, height}, kind,
                   sync_call);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemcpy2D_ptds(void *dst, size_t dpitch,
                                        const void *src, size_t spitch,
                                        size_t width, size_t height,
                                        enum cudaMemcpyKind kind)
{
    cudaError_t err = rt_enter(RT_cudaMemcpy2D, RT_BOUND);
    if (err == cudaSuccess)
        err = copy((struct area){dst, src, dpitch, spitch, width, height}, kind,
                   sync_own_call);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemcpy2DAsync(void *dst, size_t dpitch,
                                        const void *src, size_t spitch,
                                        size_t width, size_t height,
                                        enum cudaMemcpyKind kind,
                                        cudaStream_t stream)
{
    cudaError_t err = rt_enter(RT_cudaMemcpy2DAsync, RT_BOUND);
    if (err == cudaSuccess)
        err = copy((struct area){dst, src, dpitch, spitch, width, height}, kind,
                   async_call(stream));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemcpy2DAsync_ptsz(void *dst, size_t dpitch,
                                             const void *src, size_t spitch,
                                             size_t width, size_t height,
                                             enum cudaMemcpyKind kind,
                                             cudaStream_t stream)
{
    return cudaMemcpy2DAsync(dst, dpitch, src, spitch, width, height, kind,
                             rt_own(stream));
}

cudaError_t CUDARTAPI cudaMemset(void *devPtr, int value, size_t count)
{
    cudaError_t err = rt_enter(RT_cudaMemset, RT_BOUND);
    if (err == cudaSuccess)
        err = fill(row(devPtr, NULL, count), value, sync_call);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemset_ptds(void *devPtr, int value, size_t count)
{
    cudaError_t err = rt_enter(RT_cudaMemset, RT_BOUND);
    if (err == cudaSuccess)
        err = fill(row(devPtr, NULL, count), value, sync_own_call);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemsetAsync(void *devPtr, int value, size_t count,
                                      cudaStream_t stream)
{
    cudaError_t err = rt_enter(RT_cudaMemsetAsync, RT_BOUND);
    if (err == cudaSuccess)
        err = fill(row(devPtr, NULL, count), value, async_call(stream));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemsetAsync_ptsz(void *devPtr, int value,
                                           size_t count, cudaStream_t stream)
{
    return cudaMemsetAsync(devPtr, value, count, rt_own(stream));
}

cudaError_t CUDARTAPI cudaMemset2D(void *devPtr, size_t pitch, int value,
                                   size_t width, size_t height)
{
    cudaError_t err = rt_enter(RT_cudaMemset2D, RT_BOUND);
    if (err == cudaSuccess)
        err = fill((struct area){devPtr, NULL, pitch, pitch, width, height},
                   value, sync_call);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemset2D_ptds(void *devPtr, size_t pitch, int value,
                                        size_t width, size_t height)
{
    cudaError_t err = rt_enter(RT_cudaMemset2D, RT_BOUND);
    if (err == cudaSuccess)
        err = fill((struct area){devPtr, NULL, pitch, pitch, width, height},
                   value, sync_own_call);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemset2DAsync(void *devPtr, size_t pitch, int value,
                                        size_t width, size_t height,
                                        cudaStream_t stream)
{
    cudaError_t err = rt_enter(RT_cudaMemset2DAsync, RT_BOUND);
    if (err == cudaSuccess)
        err = fill((struct area){devPtr, NULL, pitch, pitch, width, height},
                   value, async_call(stream));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemset2DAsync_ptsz(void *devPtr, size_t pitch,
                                             int value, size_t width,
                                             size_t height, cudaStream_t stream)
{
    return cudaMemset2DAsync(devPtr, pitch, value, width, height,
                             rt_own(stream));
}

/* The devices are named by number, so their primary contexts are meant. */
static cudaError_t copy_peer(struct area a, int dstDevice, int srcDevice,
                             struct where w)
{
    CUcontext to, from;
    CUresult rc = rt_primary(dstDevice, &to);
    if (rc == CUDA_SUCCESS)
        rc = rt_primary(srcDevice, &from);
    if (rc != CUDA_SUCCESS)
        return rt_error(rc);
    CUdeviceptr dst = (CUdeviceptr)(uintptr_t)a.dst;
    CUdeviceptr src = (CUdeviceptr)(uintptr_t)a.src;
    return rt_error(
        w.async ? rt.cuMemcpyPeerAsync(dst, to, src, from, a.width, w.stream)
                : rt.cuMemcpyPeer(dst, to, src, from, a.width));
}

cudaError_t CUDARTAPI cudaMemcpyPeer(void *dst, int dstDevice, const void *src,
                                     int srcDevice, size_t count)
{
    cudaError_t err = rt_enter(RT_cudaMemcpyPeer, RT_BOUND);
    if (err == cudaSuccess)
        err = copy_peer(row(dst, src, count), dstDevice, srcDevice, sync_call);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemcpyPeerAsync(void *dst, int dstDevice,
                                          const void *src, int srcDevice,
                                          size_t count, cudaStream_t stream)
{
    cudaError_t err = rt_enter(RT_cudaMemcpyPeerAsync, RT_BOUND);
    if (err == cudaSuccess)
        err = copy_peer(row(dst, src, count), dstDevice, srcDevice,
                        async_call(stream));
    return rt_leave(err);
}
