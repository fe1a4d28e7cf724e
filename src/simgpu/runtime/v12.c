/* SPDX-License-Identifier: BSD-3-Clause */
/* v12.c - see v12.h. */
#include "v12.h"

#include <string.h>

static int attribute(int device, CUdevice_attribute attr)
{
    int value = 0;
    rt.cuDeviceGetAttribute(&value, attr, device);
    return value;
}

/* What the two structs have in common, by name. */
static void copy_common(struct rt_properties_12 *to,
                        const struct cudaDeviceProp *from)
{
    memcpy(to->name, from->name, sizeof(to->name));
    memcpy(to->uuid, &from->uuid, sizeof(to->uuid));
    to->totalGlobalMem = from->totalGlobalMem;
    to->sharedMemPerBlock = from->sharedMemPerBlock;
    to->regsPerBlock = from->regsPerBlock;
    to->warpSize = from->warpSize;
    to->memPitch = from->memPitch;
    to->maxThreadsPerBlock = from->maxThreadsPerBlock;
    memcpy(to->maxThreadsDim, from->maxThreadsDim, sizeof(to->maxThreadsDim));
    memcpy(to->maxGridSize, from->maxGridSize, sizeof(to->maxGridSize));
    to->totalConstMem = from->totalConstMem;
    to->major = from->major;
    to->minor = from->minor;
    to->multiProcessorCount = from->multiProcessorCount;
    to->canMapHostMemory = from->canMapHostMemory;
    to->concurrentKernels = from->concurrentKernels;
    to->pciBusID = from->pciBusID;
    to->pciDeviceID = from->pciDeviceID;
    to->pciDomainID = from->pciDomainID;
    to->asyncEngineCount = from->asyncEngineCount;
    to->unifiedAddressing = from->unifiedAddressing;
    to->memoryBusWidth = from->memoryBusWidth;
    to->l2CacheSize = from->l2CacheSize;
    to->maxThreadsPerMultiProcessor = from->maxThreadsPerMultiProcessor;
    to->streamPrioritiesSupported = from->streamPrioritiesSupported;
    to->managedMemory = from->managedMemory;
    to->concurrentManagedAccess = from->concurrentManagedAccess;
    to->canUseHostPointerForRegisteredMem =
        from->canUseHostPointerForRegisteredMem;
    to->hostRegisterSupported = from->hostRegisterSupported;
    to->memoryPoolsSupported = from->memoryPoolsSupported;
    to->ipcEventSupported = from->ipcEventSupported;
}

cudaError_t CUDARTAPI cudaGetDeviceProperties_v2(struct rt_properties_12 *prop,
                                                 int device)
{
    struct cudaDeviceProp now;
    if (prop == NULL)
        return cudaErrorInvalidValue;
    cudaError_t err = cudaGetDeviceProperties(&now, device);
    if (err != cudaSuccess)
        return err;
    memset(prop, 0, sizeof(*prop));
    copy_common(prop, &now);
    prop->clockRate = attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    prop->memoryClockRate =
        attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    prop->deviceOverlap = 1;
    return cudaSuccess;
}

static struct cudaMemLocation location(int device)
{
    struct cudaMemLocation at = {.type = cudaMemLocationTypeDevice,
                                 .id = device};
    if (device == cudaCpuDeviceId)
        at.type = cudaMemLocationTypeHost;
    return at;
}

cudaError_t CUDARTAPI rt_advise_12(const void *devPtr, size_t count,
                                   enum cudaMemoryAdvise advice, int device)
{
    return cudaMemAdvise(devPtr, count, advice, location(device));
}

cudaError_t CUDARTAPI rt_prefetch_12(const void *devPtr, size_t count,
                                     int dstDevice, cudaStream_t stream)
{
    return cudaMemPrefetchAsync(devPtr, count, location(dstDevice), 0, stream);
}

cudaError_t CUDARTAPI rt_prefetch_12_ptsz(const void *devPtr, size_t count,
                                          int dstDevice, cudaStream_t stream)
{
    return rt_prefetch_12(devPtr, count, dstDevice, rt_own(stream));
}

cudaError_t CUDARTAPI cudaStreamGetCaptureInfo_v2(
    cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
    unsigned long long *id_out, cudaGraph_t *graph_out,
    const cudaGraphNode_t **dependencies_out, size_t *numDependencies_out)
{
    return cudaStreamGetCaptureInfo(stream, captureStatus_out, id_out,
                                    graph_out, dependencies_out, NULL,
                                    numDependencies_out);
}

cudaError_t CUDARTAPI cudaStreamGetCaptureInfo_v2_ptsz(
    cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
    unsigned long long *id_out, cudaGraph_t *graph_out,
    const cudaGraphNode_t **dependencies_out, size_t *numDependencies_out)
{
    return cudaStreamGetCaptureInfo_v2(rt_own(stream), captureStatus_out,
                                       id_out, graph_out, dependencies_out,
                                       numDependencies_out);
}
