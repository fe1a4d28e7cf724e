/* SPDX-License-Identifier: BSD-3-Clause */
/* vmm_range.c - chunks mapped into one reserved range: copies cross from one to
 * the next but not a hole; what the driver says of them; nobody has access
 * until it is granted, and the CPU never. */
#include "vmm.h"

#define RW CU_MEM_ACCESS_FLAGS_PROT_READWRITE

static void says(CUdeviceptr range, CUdeviceptr d, unsigned access)
{
    unsigned type, legacy, mapped, may;
    int ordinal;
    CUcontext ctx;
    CUmemoryPool pool;
    CUdeviceptr start, map_start, base;
    size_t size, map_size;
    unsigned long long types;
    CUipcMemHandle handle;
    CUpointer_attribute names[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
        CU_POINTER_ATTRIBUTE_MAPPED,
        CU_POINTER_ATTRIBUTE_ACCESS_FLAGS,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_CONTEXT,
        CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        CU_POINTER_ATTRIBUTE_RANGE_SIZE,
        CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR,
        CU_POINTER_ATTRIBUTE_MAPPING_SIZE,
        CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES,
    };
    void *data[] = {&type, &legacy, &mapped, &may,       &ordinal,  &ctx,
                    &pool, &start,  &size,   &map_start, &map_size, &types};
    OK(cuPointerGetAttributes(12, names, data, d + 99));
    CHECK(type == CU_MEMORYTYPE_DEVICE && !legacy && mapped && may == access);
    CHECK(ordinal == 0 && ctx == NULL && pool == NULL);
    CHECK(start == range && size == 4 * CHUNK);
    CHECK(map_start == d && map_size == CHUNK);
    CHECK(types == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    OK(cuMemGetAddressRange(&base, &size, d + 99));
    CHECK(base == d && size == CHUNK);
    IS(cuIpcGetMemHandle(&handle, d), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemFree(d), CUDA_ERROR_INVALID_VALUE);
}

/* Addresses that are reserved, with nothing behind them. */
static void hole(CUdeviceptr range, CUdeviceptr d)
{
    unsigned type = 7, mapped = 7;
    CUdeviceptr start, base;
    char host[64] = {0};
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_MAPPED,
                                   CU_POINTER_ATTRIBUTE_RANGE_START_ADDR};
    void *data[] = {&type, &mapped, &start};
    OK(cuPointerGetAttributes(3, names, data, d));
    CHECK(type == 0 && mapped == 0 && start == range);
    IS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, d),
       CUDA_ERROR_INVALID_VALUE);
    OK(cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, d));
    IS(cuMemGetAddressRange(&base, NULL, d), CUDA_ERROR_NOT_FOUND);
    IS(cuMemcpyDtoH(host, d, 64), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpy(d, (CUdeviceptr)(uintptr_t)host, 64), CUDA_ERROR_INVALID_VALUE);
    CHECK(!t_cpu_can((char *)(uintptr_t)d, 0));
}

static void refused(CUdeviceptr range, CUmemGenericAllocationHandle h)
{
    IS(cuMemMap(range, CHUNK, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemMap(range + 2 * CHUNK + 4096, CHUNK, 0, h, 0),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuMemMap(range + 2 * CHUNK, 2 * CHUNK, 0, h, 0),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuMemMap(range + 4 * CHUNK, CHUNK, 0, h, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemMap(range + 2 * CHUNK, CHUNK, 0, h + 8, 0),
       CUDA_ERROR_INVALID_VALUE);
    IS(t_access(range, 3 * CHUNK, 0, RW), CUDA_ERROR_INVALID_VALUE);
    IS(t_access(range, CHUNK / 2, 0, RW), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemUnmap(range, CHUNK / 2), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemUnmap(range, 3 * CHUNK), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAddressFree(range, 4 * CHUNK), CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    static char host[2 * CHUNK];
    CUmemGenericAllocationHandle a, b, again;
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    unsigned long long flags;
    size_t before, now, total;
    t_context(0);
    OK(cuMemGetInfo(&before, &total));
    CUdeviceptr d = t_reserve(4);
    a = t_block(0);
    b = t_block(0);
    OK(cuMemGetInfo(&now, &total));
    CHECK(before - now == 2 * CHUNK);
    OK(cuMemMap(d, CHUNK, 0, a, 0));
    OK(cuMemMap(d + CHUNK, CHUNK, 0, b, 0));
    hole(d, d + 2 * CHUNK);
    refused(d, a);

    says(d, d, 0);
    IS(cuMemcpyDtoH(host, d, 64), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemsetD8(d, 1, 64), CUDA_ERROR_INVALID_VALUE);
    OK(t_access(d, CHUNK, 0, CU_MEM_ACCESS_FLAGS_PROT_READ));
    OK(cuMemcpyDtoH(host, d, 64));
    IS(cuMemsetD8(d, 1, 64), CUDA_ERROR_INVALID_VALUE);
    OK(t_access(d, 2 * CHUNK, 0, RW));
    OK(cuMemGetAccess(&flags, &here, d + CHUNK));
    CHECK(flags == RW);
    says(d, d + CHUNK, RW);
    CHECK(!t_cpu_can((char *)(uintptr_t)d, 0));

    /* across the border, and not across the hole */
    OK(cuMemsetD8(d + CHUNK - 100, 5, 200));
    OK(cuMemcpyDtoH(host, d + CHUNK - 100, 200));
    CHECK(t_all(host, 5, 200));
    IS(cuMemcpyDtoH(host, d + 2 * CHUNK - 100, 200), CUDA_ERROR_INVALID_VALUE);

    /* the memory stays while it is mapped */
    OK(cuMemRelease(a));
    IS(cuMemRelease(a), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(d + 77)));
    CHECK(again == a);
    OK(cuMemRelease(again));
    OK(cuMemUnmap(d, 2 * CHUNK));
    IS(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)d),
       CUDA_ERROR_INVALID_VALUE);
    OK(cuMemGetInfo(&now, &total));
    CHECK(before - now == CHUNK);
    hole(d, d);
    /* mapped again: the bytes are there, the access is not */
    OK(cuMemMap(d + 3 * CHUNK, CHUNK, 0, b, 0));
    IS(cuMemcpyDtoH(host, d + 3 * CHUNK, 64), CUDA_ERROR_INVALID_VALUE);
    OK(t_access(d + 3 * CHUNK, CHUNK, 0, RW));
    OK(cuMemcpyDtoH(host, d + 3 * CHUNK, 100));
    CHECK(t_all(host, 5, 100));
    OK(cuMemUnmap(d + 3 * CHUNK, CHUNK));
    OK(cuMemRelease(b));
    OK(cuMemAddressFree(d, 4 * CHUNK));
    OK(cuMemGetInfo(&now, &total));
    CHECK(before == now);
    CHECK(t_counters()->vmm_maps == 3 && t_counters()->vmm_unmaps == 3);
    return 0;
}
