/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c - the runtime's calls on devices and versions. */
#include "rt.h"

#include <string.h>

cudaError_t CUDARTAPI cudaDriverGetVersion(int *driverVersion)
{
    cudaError_t err = rt_enter(RT_cudaDriverGetVersion, RT_DRIVER_ONLY);
    if (err == cudaSuccess)
        err = rt_error(rt.cuDriverGetVersion(driverVersion));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaRuntimeGetVersion(int *runtimeVersion)
{
    if (runtimeVersion == NULL)
        return cudaErrorInvalidValue;
    *runtimeVersion = RT_VERSION;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGetDeviceCount(int *count)
{
    cudaError_t err = rt_enter(RT_cudaGetDeviceCount, RT_INITED);
    if (count != NULL)
        *count = 0;
    if (err == cudaSuccess)
        err = rt_error(rt.cuDeviceGetCount(count));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaGetDevice(int *device)
{
    cudaError_t err = rt_enter(RT_cudaGetDevice, RT_INITED);
    if (err == cudaSuccess && device == NULL)
        err = cudaErrorInvalidValue;
    if (err == cudaSuccess)
        *device = rt_device();
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaSetDevice(int device)
{
    cudaError_t err = rt_enter(RT_cudaSetDevice, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(rt_set_device(device));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaInitDevice(int device, unsigned int deviceFlags,
                                     unsigned int flags)
{
    CUcontext ctx;
    cudaError_t err = rt_enter(RT_cudaInitDevice, RT_INITED);
    (void)deviceFlags;
    if (err == cudaSuccess && flags != 0)
        err = cudaErrorInvalidValue;
    if (err == cudaSuccess)
        err = rt_error(rt_primary(device, &ctx));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaGetDeviceFlags(unsigned int *flags)
{
    cudaError_t err = rt_enter(RT_cudaGetDeviceFlags, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuCtxGetFlags(flags));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaSetDeviceFlags(unsigned int flags)
{
    cudaError_t err = rt_enter(RT_cudaSetDeviceFlags, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(rt.cuDevicePrimaryCtxSetFlags_v2(rt_device(), flags));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaDeviceGetAttribute(int *value,
                                             enum cudaDeviceAttr attr,
                                             int device)
{
    cudaError_t err = rt_enter(RT_cudaDeviceGetAttribute, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(
            rt.cuDeviceGetAttribute(value, (CUdevice_attribute)attr, device));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
    cudaError_t err = rt_enter(RT_cudaDeviceGetPCIBusId, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(rt.cuDeviceGetPCIBusId(pciBusId, len, device));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaDeviceGetByPCIBusId(int *device, const char *pciBusId)
{
    cudaError_t err = rt_enter(RT_cudaDeviceGetByPCIBusId, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(rt.cuDeviceGetByPCIBusId(device, pciBusId));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaDeviceGetStreamPriorityRange(int *leastPriority,
                                                       int *greatestPriority)
{
    cudaError_t err = rt_enter(RT_cudaDeviceGetStreamPriorityRange, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(
            rt.cuCtxGetStreamPriorityRange(leastPriority, greatestPriority));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaDeviceSynchronize(void)
{
    cudaError_t err = rt_enter(RT_cudaDeviceSynchronize, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuCtxSynchronize());
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaDeviceReset(void)
{
    cudaError_t err = rt_enter(RT_cudaDeviceReset, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(rt_reset_device());
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaDeviceCanAccessPeer(int *canAccessPeer, int device,
                                              int peerDevice)
{
    cudaError_t err = rt_enter(RT_cudaDeviceCanAccessPeer, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(
            rt.cuDeviceCanAccessPeer(canAccessPeer, device, peerDevice));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaDeviceGetP2PAttribute(int *value,
                                                enum cudaDeviceP2PAttr attr,
                                                int srcDevice, int dstDevice)
{
    cudaError_t err = rt_enter(RT_cudaDeviceGetP2PAttribute, RT_INITED);
    if (err == cudaSuccess)
        err = rt_error(rt.cuDeviceGetP2PAttribute(
            value, (CUdevice_P2PAttribute)attr, srcDevice, dstDevice));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaDeviceEnablePeerAccess(int peerDevice,
                                                 unsigned int flags)
{
    CUcontext peer;
    cudaError_t err = rt_enter(RT_cudaDeviceEnablePeerAccess, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt_primary(peerDevice, &peer));
    if (err == cudaSuccess)
        err = rt_error(rt.cuCtxEnablePeerAccess(peer, flags));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaDeviceDisablePeerAccess(int peerDevice)
{
    CUcontext peer;
    cudaError_t err = rt_enter(RT_cudaDeviceDisablePeerAccess, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt_primary(peerDevice, &peer));
    if (err == cudaSuccess)
        err = rt_error(rt.cuCtxDisablePeerAccess(peer));
    return rt_leave(err);
}

static int attribute(int device, CUdevice_attribute attr)
{
    int value = 0;
    rt.cuDeviceGetAttribute(&value, attr, device);
    return value;
}

/* Fields that are not set stay 0. */
static void fill_limits(struct cudaDeviceProp *p, int device)
{
    p->sharedMemPerBlock = (size_t)attribute(
        device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    p->regsPerBlock =
        attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    p->warpSize = attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    p->memPitch = (size_t)attribute(device, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    p->maxThreadsPerBlock =
        attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    for (int i = 0; i < 3; i++) {
        p->maxThreadsDim[i] = attribute(
            device,
            (CUdevice_attribute)(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i));
        p->maxGridSize[i] = attribute(
            device,
            (CUdevice_attribute)(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i));
    }
    p->totalConstMem =
        (size_t)attribute(device, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    p->multiProcessorCount =
        attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    p->maxThreadsPerMultiProcessor =
        attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    p->memoryBusWidth =
        attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    p->l2CacheSize = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
}

static void fill_abilities(struct cudaDeviceProp *p, int device)
{
    p->major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    p->minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    p->canMapHostMemory =
        attribute(device, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
    p->concurrentKernels =
        attribute(device, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS);
    p->pciBusID = attribute(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
    p->pciDeviceID = attribute(device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
    p->pciDomainID = attribute(device, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
    p->asyncEngineCount =
        attribute(device, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
    p->unifiedAddressing =
        attribute(device, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
    p->streamPrioritiesSupported =
        attribute(device, CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED);
    p->managedMemory = attribute(device, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
    p->concurrentManagedAccess =
        attribute(device, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
    p->canUseHostPointerForRegisteredMem = attribute(
        device, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
    p->memoryPoolsSupported =
        attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
    p->hostRegisterSupported =
        attribute(device, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
}

cudaError_t CUDARTAPI cudaGetDeviceProperties(struct cudaDeviceProp *prop,
                                              int device)
{
    cudaError_t err = rt_enter(RT_cudaGetDeviceProperties, RT_INITED);
    if (err == cudaSuccess && prop == NULL)
        err = cudaErrorInvalidValue;
    if (err == cudaSuccess) {
        memset(prop, 0, sizeof(*prop));
        err = rt_error(
            rt.cuDeviceGetName(prop->name, sizeof(prop->name), device));
    }
    if (err == cudaSuccess) {
        rt.cuDeviceGetUuid_v2((CUuuid *)&prop->uuid, device);
        rt.cuDeviceTotalMem_v2(&prop->totalGlobalMem, device);
        fill_limits(prop, device);
        fill_abilities(prop, device);
    }
    return rt_leave(err);
}

/* A name the driver does not know is told by the status, not by an error. */
static cudaError_t entry_point(const char *symbol, void **funcPtr, int version,
                               unsigned long long flags,
                               enum cudaDriverEntryPointQueryResult *status)
{
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    CUresult rc =
        rt.cuGetProcAddress_v2(symbol, funcPtr, version, flags, &found);
    if (rc == CUDA_ERROR_NOT_FOUND)
        rc = CUDA_SUCCESS;
    if (rc == CUDA_SUCCESS && status != NULL)
        *status = (enum cudaDriverEntryPointQueryResult)found;
    return rt_error(rc);
}

cudaError_t CUDARTAPI cudaGetDriverEntryPoint(
    const char *symbol, void **funcPtr, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *driverStatus)
{
    cudaError_t err = rt_enter(RT_cudaGetDriverEntryPoint, RT_DRIVER_ONLY);
    if (err == cudaSuccess)
        err = entry_point(symbol, funcPtr, RT_VERSION, flags, driverStatus);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaGetDriverEntryPoint_ptsz(
    const char *symbol, void **funcPtr, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *driverStatus)
{
    if (flags == cudaEnableDefault)
        flags = cudaEnablePerThreadDefaultStream;
    return cudaGetDriverEntryPoint(symbol, funcPtr, flags, driverStatus);
}

cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion(
    const char *symbol, void **funcPtr, unsigned int cudaVersion,
    unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *driverStatus)
{
    cudaError_t err =
        rt_enter(RT_cudaGetDriverEntryPointByVersion, RT_DRIVER_ONLY);
    if (err == cudaSuccess)
        err =
            entry_point(symbol, funcPtr, (int)cudaVersion, flags, driverStatus);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion_ptsz(
    const char *symbol, void **funcPtr, unsigned int cudaVersion,
    unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *driverStatus)
{
    if (flags == cudaEnableDefault)
        flags = cudaEnablePerThreadDefaultStream;
    return cudaGetDriverEntryPointByVersion(symbol, funcPtr, cudaVersion, flags,
                                            driverStatus);
}
