/* SPDX-License-Identifier: BSD-3-Clause */
/* pointer_api.c - what the driver says about an address.
 *
 * Needs no current context and makes none: any thread may ask about memory of
 * any device. */
#include "pool.h"
#include "vmm.h"

#include <string.h>

/* How many bytes a value has; 0: there is no such attribute. */
static const unsigned char value_sizes[] = {
    [CU_POINTER_ATTRIBUTE_MEMORY_TYPE] = 4,
    [CU_POINTER_ATTRIBUTE_SYNC_MEMOPS] = 4,
    [CU_POINTER_ATTRIBUTE_IS_MANAGED] = 4,
    [CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL] = 4,
    [CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE] = 4,
    [CU_POINTER_ATTRIBUTE_MAPPED] = 4,
    [CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE] = 4,
    [CU_POINTER_ATTRIBUTE_ACCESS_FLAGS] = 4,
    [CU_POINTER_ATTRIBUTE_CONTEXT] = 8,
    [CU_POINTER_ATTRIBUTE_DEVICE_POINTER] = 8,
    [CU_POINTER_ATTRIBUTE_HOST_POINTER] = 8,
    [CU_POINTER_ATTRIBUTE_BUFFER_ID] = 8,
    [CU_POINTER_ATTRIBUTE_RANGE_START_ADDR] = 8,
    [CU_POINTER_ATTRIBUTE_RANGE_SIZE] = 8,
    [CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES] = 8,
    [CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE] = 8,
    [CU_POINTER_ATTRIBUTE_MAPPING_SIZE] = 8,
    [CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR] = 8,
    [CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID] = 8,
};

static size_t value_size(CUpointer_attribute attr)
{
    size_t i = (size_t)attr;
    return i < sizeof(value_sizes) ? value_sizes[i] : 0;
}

/* What the device of the current context may do, of any if there is none. */
static uint64_t access_flags(const struct sim_alloc *a)
{
    CUcontext ctx;
    return sim_current_locked(&ctx) == CUDA_SUCCESS
               ? sim_mem_reach(a, ctx)
               : (uint64_t)CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

static uint64_t handle_types(const struct sim_alloc *a)
{
    if (a->pool != NULL)
        return (uint64_t)a->pool->props.handleTypes;
    return a->block != NULL ? (uint64_t)a->block->prop.requestedHandleTypes
                            : (uint64_t)CU_MEM_HANDLE_TYPE_NONE;
}

/* Of what is mapped into a reserved range, the range is asked for. */
static uint64_t range_value(CUpointer_attribute attr,
                            const struct sim_range *range,
                            const struct sim_alloc *a)
{
    bool start = attr == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR;
    if (range != NULL)
        return start ? range->base : range->size;
    return start ? a->base : a->size;
}

static uint64_t known_value(CUpointer_attribute attr, const struct sim_alloc *a,
                            uintptr_t addr)
{
    switch (attr) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return (uintptr_t)a->ctx;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return sim_mem_is_device(a) || a->kind == SIM_MANAGED
                   ? CU_MEMORYTYPE_DEVICE
                   : CU_MEMORYTYPE_HOST;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return addr;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        return sim_mem_is_device(a) ? 0 : addr;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        return a->sync_memops;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        return a->id;
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return a->block != NULL ? a->block->id : a->id;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return a->kind == SIM_MANAGED;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return (uint64_t)a->dev->ordinal;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        return a->kind == SIM_DEVICE;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        return range_value(attr, sim_range_find(addr), a);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        return a->base;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        return a->size;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        return 1;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return access_flags(a);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return (uintptr_t)a->pool;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        return handle_types(a);
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        return a->block != NULL &&
               a->block->prop.allocFlags.gpuDirectRDMACapable != 0;
    default:
        return 0;
    }
}

/* Whether an address that is reserved but not mapped has this attribute. */
static bool of_reserved(CUpointer_attribute attr)
{
    return attr == CU_POINTER_ATTRIBUTE_MAPPED ||
           attr == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
           attr == CU_POINTER_ATTRIBUTE_RANGE_SIZE;
}

/* What the plural call gives for an address where there is no memory. */
static uint64_t unknown_value(CUpointer_attribute attr, uintptr_t addr)
{
    const struct sim_range *range = sim_range_find(addr);
    if (range != NULL && of_reserved(attr))
        return attr == CU_POINTER_ATTRIBUTE_MAPPED
                   ? 0
                   : range_value(attr, range, NULL);
    return attr == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
               ? (uint64_t)CU_DEVICE_INVALID
               : 0;
}

static void store(void *data, uint64_t bits, size_t size)
{
    uint32_t half = (uint32_t)bits;
    if (size == sizeof(half))
        memcpy(data, &half, sizeof(half));
    else
        memcpy(data, &bits, sizeof(bits));
}

/* Answers for an address of the host, as most are, without the lock; false:
 * it may be another's. */
static bool answer_absent(unsigned n, const CUpointer_attribute *attributes,
                          void **data, uintptr_t addr)
{
    for (unsigned i = 0; i < n; i++)
        if (of_reserved(attributes[i]))
            return false;
    if (!sim_mem_absent(addr))
        return false;
    for (unsigned i = 0; i < n; i++)
        store(data[i],
              attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
                  ? (uint64_t)CU_DEVICE_INVALID
                  : 0,
              value_size(attributes[i]));
    return true;
}

CUresult CUDAAPI cuPointerGetAttribute(void *data,
                                       CUpointer_attribute attribute,
                                       CUdeviceptr ptr)
{
    CUresult rc = sim_enter(SIM_FN_cuPointerGetAttribute);
    size_t size = value_size(attribute);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (data == NULL || size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sim_lock);
    const struct sim_alloc *a = sim_mem_find((uintptr_t)ptr);
    if (a == NULL && of_reserved(attribute) &&
        sim_range_find((uintptr_t)ptr) != NULL)
        store(data, unknown_value(attribute, (uintptr_t)ptr), size);
    else if (a == NULL || (attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER &&
                           sim_mem_is_device(a)))
        rc = CUDA_ERROR_INVALID_VALUE;
    else
        store(data, known_value(attribute, a, (uintptr_t)ptr), size);
    pthread_mutex_unlock(&sim_lock);
    return rc;
}

CUresult CUDAAPI cuPointerGetAttributes(unsigned int numAttributes,
                                        CUpointer_attribute *attributes,
                                        void **data, CUdeviceptr ptr)
{
    CUresult rc = sim_enter(SIM_FN_cuPointerGetAttributes);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (numAttributes == 0 || attributes == NULL || data == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    /* Asked at every small call of MPI, mostly about memory of the host. */
    if (numAttributes == 1 && data[0] != NULL &&
        attributes[0] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE &&
        sim_mem_absent((uintptr_t)ptr)) {
        store(data[0], 0, sizeof(CUmemorytype));
        return CUDA_SUCCESS;
    }
    for (unsigned i = 0; i < numAttributes; i++)
        if (data[i] == NULL || value_size(attributes[i]) == 0)
            return CUDA_ERROR_INVALID_VALUE;
    if (answer_absent(numAttributes, attributes, data, (uintptr_t)ptr))
        return CUDA_SUCCESS;
    pthread_mutex_lock(&sim_lock);
    const struct sim_alloc *a = sim_mem_find((uintptr_t)ptr);
    for (unsigned i = 0; i < numAttributes; i++)
        store(data[i],
              a != NULL ? known_value(attributes[i], a, (uintptr_t)ptr)
                        : unknown_value(attributes[i], (uintptr_t)ptr),
              value_size(attributes[i]));
    pthread_mutex_unlock(&sim_lock);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuPointerSetAttribute(const void *value,
                                       CUpointer_attribute attribute,
                                       CUdeviceptr ptr)
{
    uint32_t on;
    CUresult rc = sim_enter(SIM_FN_cuPointerSetAttribute);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (value == NULL || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&on, value, sizeof(on));
    pthread_mutex_lock(&sim_lock);
    struct sim_alloc *a = sim_mem_find((uintptr_t)ptr);
    if (a == NULL || !sim_mem_is_device(a))
        rc = CUDA_ERROR_INVALID_VALUE;
    else
        a->sync_memops = on != 0;
    pthread_mutex_unlock(&sim_lock);
    return rc;
}
