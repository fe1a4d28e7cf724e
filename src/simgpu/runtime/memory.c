/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - the runtime's calls that allocate, free, register and share. */
#include "rt.h"

#include <stdint.h>
#include <string.h>

static CUdeviceptr address(const void *p)
{
    return (CUdeviceptr)(uintptr_t)p;
}

/* Hands an address from the driver to the program. */
static cudaError_t give(CUresult rc, const CUdeviceptr *d, void **out)
{
    if (rc == CUDA_SUCCESS)
        *out = (void *)(uintptr_t)*d;
    return rt_error(rc);
}

/* Nothing was asked for: that is no error here, unlike in the driver. */
static cudaError_t alloc_device(void **devPtr, size_t size)
{
    CUdeviceptr d = 0;
    if (devPtr == NULL)
        return cudaErrorInvalidValue;
    return give(size == 0 ? CUDA_SUCCESS : rt.cuMemAlloc_v2(&d, size), &d,
                devPtr);
}

static cudaError_t alloc_pitch(void **devPtr, size_t *pitch, size_t width,
                               size_t height)
{
    CUdeviceptr d = 0;
    if (devPtr == NULL || pitch == NULL)
        return cudaErrorInvalidValue;
    return give(rt.cuMemAllocPitch_v2(&d, pitch, width, height, 4), &d, devPtr);
}

static cudaError_t alloc_managed(void **devPtr, size_t size, unsigned flags)
{
    CUdeviceptr d = 0;
    if (devPtr == NULL || size == 0)
        return cudaErrorInvalidValue;
    return give(rt.cuMemAllocManaged(&d, size, flags), &d, devPtr);
}

static cudaError_t alloc_host(void **pHost, size_t size, unsigned flags)
{
    if (pHost == NULL)
        return cudaErrorInvalidValue;
    *pHost = NULL;
    return size == 0 ? cudaSuccess
                     : rt_error(rt.cuMemHostAlloc(pHost, size, flags));
}

static cudaError_t device_pointer(void **pDevice, void *pHost, unsigned flags)
{
    CUdeviceptr d = 0;
    if (pDevice == NULL)
        return cudaErrorInvalidValue;
    return give(rt.cuMemHostGetDevicePointer_v2(&d, pHost, flags), &d, pDevice);
}

cudaError_t CUDARTAPI cudaMalloc(void **devPtr, size_t size)
{
    cudaError_t err = rt_enter(RT_cudaMalloc, RT_BOUND);
    if (err == cudaSuccess)
        err = alloc_device(devPtr, size);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMallocPitch(void **devPtr, size_t *pitch,
                                      size_t width, size_t height)
{
    cudaError_t err = rt_enter(RT_cudaMallocPitch, RT_BOUND);
    if (err == cudaSuccess)
        err = alloc_pitch(devPtr, pitch, width, height);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMallocManaged(void **devPtr, size_t size,
                                        unsigned int flags)
{
    cudaError_t err = rt_enter(RT_cudaMallocManaged, RT_BOUND);
    if (err == cudaSuccess)
        err = alloc_managed(devPtr, size, flags);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMallocHost(void **ptr, size_t size)
{
    cudaError_t err = rt_enter(RT_cudaMallocHost, RT_BOUND);
    if (err == cudaSuccess)
        err = alloc_host(ptr, size, 0);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaHostAlloc(void **pHost, size_t size,
                                    unsigned int flags)
{
    cudaError_t err = rt_enter(RT_cudaHostAlloc, RT_BOUND);
    if (err == cudaSuccess)
        err = alloc_host(pHost, size, flags);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaHostRegister(void *ptr, size_t size,
                                       unsigned int flags)
{
    cudaError_t err = rt_enter(RT_cudaHostRegister, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuMemHostRegister_v2(ptr, size, flags));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaHostUnregister(void *ptr)
{
    cudaError_t err = rt_enter(RT_cudaHostUnregister, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuMemHostUnregister(ptr));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaHostGetDevicePointer(void **pDevice, void *pHost,
                                               unsigned int flags)
{
    cudaError_t err = rt_enter(RT_cudaHostGetDevicePointer, RT_BOUND);
    if (err == cudaSuccess)
        err = device_pointer(pDevice, pHost, flags);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaHostGetFlags(unsigned int *pFlags, void *pHost)
{
    cudaError_t err = rt_enter(RT_cudaHostGetFlags, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuMemHostGetFlags(pFlags, pHost));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaFree(void *devPtr)
{
    cudaError_t err = rt_enter(RT_cudaFree, RT_BOUND);
    if (err == cudaSuccess && devPtr != NULL)
        err = rt_error(rt.cuMemFree_v2(address(devPtr)));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaFreeHost(void *ptr)
{
    cudaError_t err = rt_enter(RT_cudaFreeHost, RT_BOUND);
    if (err == cudaSuccess && ptr != NULL)
        err = rt_error(rt.cuMemFreeHost(ptr));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemGetInfo(size_t *free, size_t *total)
{
    cudaError_t err = rt_enter(RT_cudaMemGetInfo, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuMemGetInfo_v2(free, total));
    return rt_leave(err);
}

static cudaError_t pointer_attributes(struct cudaPointerAttributes *out,
                                      const void *ptr)
{
    unsigned type = 0, managed = 0;
    int ordinal = 0;
    CUdeviceptr device = 0;
    void *host = NULL;
    CUpointer_attribute names[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void *values[] = {&type, &managed, &ordinal, &device, &host};
    if (out == NULL)
        return cudaErrorInvalidValue;
    CUresult rc = rt.cuPointerGetAttributes(5, names, values, address(ptr));
    if (rc != CUDA_SUCCESS)
        return rt_error(rc);
    memset(out, 0, sizeof(*out));
    out->device = ordinal;
    out->devicePointer = (void *)(uintptr_t)device;
    out->hostPointer = host;
    if (managed != 0)
        out->type = cudaMemoryTypeManaged;
    else if (type == CU_MEMORYTYPE_DEVICE)
        out->type = cudaMemoryTypeDevice;
    else if (type == CU_MEMORYTYPE_HOST)
        out->type = cudaMemoryTypeHost;
    else
        out->hostPointer = (void *)(uintptr_t)ptr;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaPointerGetAttributes(
    struct cudaPointerAttributes *attributes, const void *ptr)
{
    cudaError_t err = rt_enter(RT_cudaPointerGetAttributes, RT_INITED);
    if (err == cudaSuccess)
        err = pointer_attributes(attributes, ptr);
    return rt_leave(err);
}

_Static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle), "handle");

static cudaError_t ipc_open(void **devPtr, const cudaIpcMemHandle_t *handle,
                            unsigned flags)
{
    CUipcMemHandle h;
    CUdeviceptr d = 0;
    if (devPtr == NULL)
        return cudaErrorInvalidValue;
    memcpy(&h, handle, sizeof(h));
    return give(rt.cuIpcOpenMemHandle_v2(&d, h, flags), &d, devPtr);
}

cudaError_t CUDARTAPI cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle,
                                          void *devPtr)
{
    cudaError_t err = rt_enter(RT_cudaIpcGetMemHandle, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuIpcGetMemHandle((CUipcMemHandle *)(void *)handle,
                                            address(devPtr)));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaIpcOpenMemHandle(void **devPtr,
                                           cudaIpcMemHandle_t handle,
                                           unsigned int flags)
{
    cudaError_t err = rt_enter(RT_cudaIpcOpenMemHandle, RT_BOUND);
    if (err == cudaSuccess)
        err = ipc_open(devPtr, &handle, flags);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaIpcCloseMemHandle(void *devPtr)
{
    cudaError_t err = rt_enter(RT_cudaIpcCloseMemHandle, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuIpcCloseMemHandle(address(devPtr)));
    return rt_leave(err);
}

/* Hints about managed memory: checked, then without effect. */
static cudaError_t hint(const void *devPtr)
{
    unsigned managed = 0;
    CUpointer_attribute name = CU_POINTER_ATTRIBUTE_IS_MANAGED;
    void *value = &managed;
    CUresult rc = rt.cuPointerGetAttributes(1, &name, &value, address(devPtr));
    if (rc == CUDA_SUCCESS && managed == 0)
        rc = CUDA_ERROR_INVALID_VALUE;
    return rt_error(rc);
}

cudaError_t CUDARTAPI cudaMemPrefetchAsync(const void *devPtr, size_t count,
                                           struct cudaMemLocation location,
                                           unsigned int flags,
                                           cudaStream_t stream)
{
    cudaError_t err = rt_enter(RT_cudaMemPrefetchAsync, RT_BOUND);
    (void)count;
    (void)location;
    (void)flags;
    (void)stream;
    if (err == cudaSuccess)
        err = hint(devPtr);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemPrefetchAsync_ptsz(const void *devPtr,
                                                size_t count,
                                                struct cudaMemLocation location,
                                                unsigned int flags,
                                                cudaStream_t stream)
{
    return cudaMemPrefetchAsync(devPtr, count, location, flags, stream);
}

cudaError_t CUDARTAPI cudaMemAdvise(const void *devPtr, size_t count,
                                    enum cudaMemoryAdvise advice,
                                    struct cudaMemLocation location)
{
    cudaError_t err = rt_enter(RT_cudaMemAdvise, RT_BOUND);
    (void)count;
    (void)advice;
    (void)location;
    if (err == cudaSuccess)
        err = hint(devPtr);
    return rt_leave(err);
}
