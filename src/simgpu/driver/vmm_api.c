/* SPDX-License-Identifier: BSD-3-Clause */
/* vmm_api.c - the driver's calls on virtual memory. They need no current
 * context: addresses and memory here belong to devices. */
#include "entry.h"
#include "stream.h"
#include "vmm.h"

static bool is_multiple(uint64_t value, size_t of)
{
    return value != 0 && value % of == 0;
}

/* What may be made, and on which device. Host memory is not simulated here. */
static CUresult check_prop(const CUmemAllocationProp *prop,
                           struct sim_device **dev)
{
    const unsigned known = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (prop == NULL || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        prop->location.type == CU_MEM_LOCATION_TYPE_INVALID ||
        prop->location.type > CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return CUDA_ERROR_INVALID_VALUE;
    if (prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        ((unsigned)prop->requestedHandleTypes & ~known) != 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    return sim_device_find(prop->location.id, dev);
}

CUresult CUDAAPI cuMemGetAllocationGranularity(
    size_t *granularity, const CUmemAllocationProp *prop,
    CUmemAllocationGranularity_flags option)
{
    struct sim_device *dev;
    CUresult rc = sim_begin(SIM_FN_cuMemGetAllocationGranularity);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (granularity == NULL || (int)option < 0 ||
        option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    rc = check_prop(prop, &dev);
    if (rc == CUDA_SUCCESS)
        *granularity = SIM_GRANULARITY;
    return sim_end(rc);
}

CUresult CUDAAPI cuMemAddressReserve(CUdeviceptr *ptr, size_t size,
                                     size_t alignment, CUdeviceptr addr,
                                     unsigned long long flags)
{
    uintptr_t base;
    CUresult rc = sim_begin(SIM_FN_cuMemAddressReserve);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (ptr == NULL || !is_multiple(size, 4096) || flags != 0 ||
        (alignment & (alignment - 1)) != 0 || addr % 4096 != 0)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    if (alignment < SIM_GRANULARITY)
        alignment = SIM_GRANULARITY;
    if (size > SIZE_MAX / 4 || alignment > SIZE_MAX / 4)
        return sim_end(CUDA_ERROR_OUT_OF_MEMORY);
    rc = sim_range_reserve(size, alignment, (uintptr_t)addr, &base);
    if (rc == CUDA_SUCCESS)
        *ptr = base;
    return sim_end(rc);
}

CUresult CUDAAPI cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
    CUresult rc = sim_begin(SIM_FN_cuMemAddressFree);
    return rc != CUDA_SUCCESS ? rc
                              : sim_end(sim_range_free((uintptr_t)ptr, size));
}

CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                             const CUmemAllocationProp *prop,
                             unsigned long long flags)
{
    struct sim_device *dev;
    CUresult rc = sim_begin(SIM_FN_cuMemCreate);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (handle == NULL || !is_multiple(size, SIM_GRANULARITY) || flags != 0)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    rc = check_prop(prop, &dev);
    if (rc == CUDA_SUCCESS)
        rc = sim_block_create(dev, size, prop, handle);
    return sim_end(rc);
}

CUresult CUDAAPI cuMemRelease(CUmemGenericAllocationHandle handle)
{
    CUresult rc = sim_begin(SIM_FN_cuMemRelease);
    if (rc != CUDA_SUCCESS)
        return rc;
    struct sim_block *b = sim_block_check(handle);
    if (b == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    sim_block_put(b);
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
                          CUmemGenericAllocationHandle handle,
                          unsigned long long flags)
{
    CUresult rc = sim_begin(SIM_FN_cuMemMap);
    if (rc != CUDA_SUCCESS)
        return rc;
    struct sim_block *b = sim_block_check(handle);
    if (b == NULL || !is_multiple(ptr, SIM_GRANULARITY) ||
        !is_multiple(size, SIM_GRANULARITY) || offset != 0 || flags != 0)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    return sim_end(sim_vmm_map((uintptr_t)ptr, size, b));
}

/* Work that uses the memory is waited for, as the real call does. */
CUresult CUDAAPI cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    CUresult rc = sim_begin(SIM_FN_cuMemUnmap);
    if (rc != CUDA_SUCCESS)
        return rc;
    sim_stream_drain_all();
    return sim_end(sim_vmm_unmap((uintptr_t)ptr, size));
}

static CUresult set_access(CUdeviceptr ptr, size_t size,
                           const CUmemAccessDesc *d)
{
    struct sim_device *dev;
    if (d->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        (d->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
         d->flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
         d->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult rc = sim_device_find(d->location.id, &dev);
    if (rc != CUDA_SUCCESS)
        return rc;
    return sim_vmm_set_access((uintptr_t)ptr, size, dev->ordinal,
                              (unsigned)d->flags);
}

CUresult CUDAAPI cuMemSetAccess(CUdeviceptr ptr, size_t size,
                                const CUmemAccessDesc *desc, size_t count)
{
    CUresult rc = sim_begin(SIM_FN_cuMemSetAccess);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (desc == NULL || count == 0)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    sim_stream_drain_all();
    for (size_t i = 0; i < count && rc == CUDA_SUCCESS; i++)
        rc = set_access(ptr, size, &desc[i]);
    return sim_end(rc);
}

/* The mapping that holds an address, or NULL. */
static const struct sim_alloc *find_mapping(uintptr_t addr)
{
    const struct sim_alloc *a = sim_mem_find(addr);
    return a != NULL && a->kind == SIM_VMM ? a : NULL;
}

CUresult CUDAAPI cuMemGetAccess(unsigned long long *flags,
                                const CUmemLocation *location, CUdeviceptr ptr)
{
    struct sim_device *dev;
    CUresult rc = sim_begin(SIM_FN_cuMemGetAccess);
    if (rc != CUDA_SUCCESS)
        return rc;
    const struct sim_alloc *a = find_mapping((uintptr_t)ptr);
    if (flags == NULL || location == NULL || a == NULL ||
        location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    rc = sim_device_find(location->id, &dev);
    if (rc == CUDA_SUCCESS)
        *flags = sim_mem_access(a, dev);
    return sim_end(rc);
}

CUresult CUDAAPI cuMemGetAllocationPropertiesFromHandle(
    CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle)
{
    CUresult rc = sim_begin(SIM_FN_cuMemGetAllocationPropertiesFromHandle);
    if (rc != CUDA_SUCCESS)
        return rc;
    const struct sim_block *b = sim_block_check(handle);
    if (prop == NULL || b == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    *prop = b->prop;
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI
cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
    CUresult rc = sim_begin(SIM_FN_cuMemRetainAllocationHandle);
    if (rc != CUDA_SUCCESS)
        return rc;
    const struct sim_alloc *a = find_mapping((uintptr_t)addr);
    if (handle == NULL || a == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    a->block->refs++;
    *handle = sim_block_handle(a->block);
    return sim_end(CUDA_SUCCESS);
}

/* The one way out of the process that is simulated: a file descriptor. */
CUresult CUDAAPI cuMemExportToShareableHandle(
    void *shareableHandle, CUmemGenericAllocationHandle handle,
    CUmemAllocationHandleType handleType, unsigned long long flags)
{
    CUresult rc = sim_begin(SIM_FN_cuMemExportToShareableHandle);
    if (rc != CUDA_SUCCESS)
        return rc;
    const struct sim_block *b = sim_block_check(handle);
    if (shareableHandle == NULL || b == NULL || flags != 0 ||
        handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        (b->prop.requestedHandleTypes & handleType) == 0)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    if (!sim.config.ipc_export)
        return sim_end(CUDA_ERROR_NOT_SUPPORTED);
    return sim_end(sim_block_export(b, shareableHandle));
}

CUresult CUDAAPI cuMemImportFromShareableHandle(
    CUmemGenericAllocationHandle *handle, void *osHandle,
    CUmemAllocationHandleType shHandleType)
{
    CUresult rc = sim_begin(SIM_FN_cuMemImportFromShareableHandle);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (handle == NULL ||
        shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    if (!sim.config.ipc_open)
        return sim_end(CUDA_ERROR_NOT_SUPPORTED);
    return sim_end(sim_block_import((int)(intptr_t)osHandle, handle));
}
