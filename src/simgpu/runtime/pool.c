/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c - the runtime's calls on memory pools. Its structs and numbers are
 * those of the driver. */
#include "rt.h"

#include <stdint.h>

_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps),
               "pool properties");
_Static_assert(sizeof(struct cudaMemAccessDesc) == sizeof(CUmemAccessDesc),
               "access descriptor");

cudaError_t CUDARTAPI cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool,
                                                  int device)
{
    cudaError_t err = rt_enter(RT_cudaDeviceGetDefaultMemPool, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(rt.cuDeviceGetDefaultMemPool(memPool, device));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device)
{
    cudaError_t err = rt_enter(RT_cudaDeviceGetMemPool, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(rt.cuDeviceGetMemPool(memPool, device));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaDeviceSetMemPool(int device, cudaMemPool_t memPool)
{
    cudaError_t err = rt_enter(RT_cudaDeviceSetMemPool, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(rt.cuDeviceSetMemPool(device, memPool));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemPoolCreate(
    cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps)
{
    cudaError_t err = rt_enter(RT_cudaMemPoolCreate, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(
            rt.cuMemPoolCreate(memPool, (const CUmemPoolProps *)poolProps));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemPoolDestroy(cudaMemPool_t memPool)
{
    cudaError_t err = rt_enter(RT_cudaMemPoolDestroy, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(rt.cuMemPoolDestroy(memPool));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemPoolSetAttribute(cudaMemPool_t memPool,
                                              enum cudaMemPoolAttr attr,
                                              void *value)
{
    cudaError_t err = rt_enter(RT_cudaMemPoolSetAttribute, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(rt.cuMemPoolSetAttribute(
            memPool, (CUmemPool_attribute)attr, value));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemPoolGetAttribute(cudaMemPool_t memPool,
                                              enum cudaMemPoolAttr attr,
                                              void *value)
{
    cudaError_t err = rt_enter(RT_cudaMemPoolGetAttribute, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(rt.cuMemPoolGetAttribute(
            memPool, (CUmemPool_attribute)attr, value));
    return rt_leave(err);
}

cudaError_t CUDARTAPI
cudaMemPoolSetAccess(cudaMemPool_t memPool,
                     const struct cudaMemAccessDesc *descList, size_t count)
{
    cudaError_t err = rt_enter(RT_cudaMemPoolSetAccess, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(rt.cuMemPoolSetAccess(
            memPool, (const CUmemAccessDesc *)descList, count));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags,
                                           cudaMemPool_t memPool,
                                           struct cudaMemLocation *location)
{
    CUmemAccess_flags got;
    cudaError_t err = rt_enter(RT_cudaMemPoolGetAccess, RT_INITED);
    if (err == cudaSuccess && flags == NULL)
        err = cudaErrorInvalidValue;
    if (err == cudaSuccess)
        err = rt_error(
            rt.cuMemPoolGetAccess(&got, memPool, (CUmemLocation *)location));
    if (err == cudaSuccess)
        *flags = (enum cudaMemAccessFlags)got;
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemPoolTrimTo(cudaMemPool_t memPool,
                                        size_t minBytesToKeep)
{
    cudaError_t err = rt_enter(RT_cudaMemPoolTrimTo, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(rt.cuMemPoolTrimTo(memPool, minBytesToKeep));
    return rt_leave(err);
}

/* memPool NULL: the current one of the stream's device. Nothing was asked
 * for: that is no error here, unlike in the driver. */
static cudaError_t alloc(void **ptr, size_t size, cudaMemPool_t memPool,
                         cudaStream_t stream)
{
    CUdeviceptr d = 0;
    CUresult rc = CUDA_SUCCESS;
    if (ptr == NULL)
        return cudaErrorInvalidValue;
    if (size != 0 && memPool == NULL)
        rc = rt.cuMemAllocAsync(&d, size, stream);
    else if (size != 0)
        rc = rt.cuMemAllocFromPoolAsync(&d, size, memPool, stream);
    if (rc == CUDA_SUCCESS)
        *ptr = (void *)(uintptr_t)d;
    return rt_error(rc);
}

cudaError_t CUDARTAPI cudaMallocAsync(void **devPtr, size_t size,
                                      cudaStream_t hStream)
{
    cudaError_t err = rt_enter(RT_cudaMallocAsync, RT_BOUND);
    if (err == cudaSuccess)
        err = alloc(devPtr, size, NULL, hStream);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMallocFromPoolAsync(void **ptr, size_t size,
                                              cudaMemPool_t memPool,
                                              cudaStream_t stream)
{
    cudaError_t err = rt_enter(RT_cudaMallocFromPoolAsync, RT_BOUND);
    if (err == cudaSuccess && memPool == NULL)
        err = cudaErrorInvalidValue;
    if (err == cudaSuccess)
        err = alloc(ptr, size, memPool, stream);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaFreeAsync(void *devPtr, cudaStream_t hStream)
{
    cudaError_t err = rt_enter(RT_cudaFreeAsync, RT_BOUND);
    if (err == cudaSuccess && devPtr != NULL)
        err = rt_error(
            rt.cuMemFreeAsync((CUdeviceptr)(uintptr_t)devPtr, hStream));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMallocAsync_ptsz(void **devPtr, size_t size,
                                           cudaStream_t hStream)
{
    return cudaMallocAsync(devPtr, size, rt_own(hStream));
}

cudaError_t CUDARTAPI cudaMallocFromPoolAsync_ptsz(void **ptr, size_t size,
                                                   cudaMemPool_t memPool,
                                                   cudaStream_t stream)
{
    return cudaMallocFromPoolAsync(ptr, size, memPool, rt_own(stream));
}

cudaError_t CUDARTAPI cudaFreeAsync_ptsz(void *devPtr, cudaStream_t hStream)
{
    return cudaFreeAsync(devPtr, rt_own(hStream));
}
