/* SPDX-License-Identifier: BSD-3-Clause */
/* pool_kind.c - memory of a pool is device memory that belongs to no context,
 * has no legacy IPC handle, and cannot be touched by the CPU. */
#include "t.h"

#include <cuda_runtime_api.h>

#define N 5000

static void says(CUdeviceptr d, CUmemoryPool pool)
{
    unsigned type, legacy, mapped, access, managed;
    int ordinal;
    CUcontext ctx;
    CUmemoryPool from;
    CUdeviceptr start, device;
    size_t size;
    unsigned long long types, id;
    CUpointer_attribute names[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
        CU_POINTER_ATTRIBUTE_MAPPED,
        CU_POINTER_ATTRIBUTE_ACCESS_FLAGS,
        CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_CONTEXT,
        CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        CU_POINTER_ATTRIBUTE_RANGE_SIZE,
        CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES,
        CU_POINTER_ATTRIBUTE_BUFFER_ID,
    };
    void *data[] = {&type, &legacy, &mapped, &access, &managed, &ordinal, &ctx,
                    &from, &start,  &size,   &device, &types,   &id};
    OK(cuPointerGetAttributes(13, names, data, d + 77));
    CHECK(type == CU_MEMORYTYPE_DEVICE && !legacy && mapped && access == 3);
    CHECK(!managed && ordinal == 0 && ctx == NULL && from == pool);
    CHECK(start == d && size == N && device == d + 77);
    CHECK(types == 0 && id != 0);
}

int main(void)
{
    CUmemoryPool pool, current;
    CUdeviceptr d, base;
    CUipcMemHandle handle;
    CUstream s;
    size_t size;
    char host[N];
    void *p;
    struct cudaPointerAttributes a;
    t_context(0);
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuDeviceGetMemPool(&current, 0));
    CHECK(pool != NULL && pool == current);
    IS(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAllocAsync(&d, 0, s), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAllocAsync(&d, N, s));
    says(d, pool);
    CHECK(!t_cpu_can((char *)(uintptr_t)d, 0));
    CHECK(!t_cpu_can((char *)(uintptr_t)d, 1));
    OK(cuMemGetAddressRange(&base, &size, d + N - 1));
    CHECK(base == d && size == N);
    IS(cuIpcGetMemHandle(&handle, d), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemsetD8Async(d, 5, N, s));
    OK(cuMemcpyDtoHAsync(host, d, N, s));
    OK(cuStreamSynchronize(s));
    CHECK(t_all(host, 5, N));
    OK(cuMemFreeAsync(d, s));
    IS(cuMemFreeAsync(d, s), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyDtoH(host, d, N), CUDA_ERROR_INVALID_VALUE);

    OK(cudaMallocAsync(&p, 64, s));
    OK(cudaPointerGetAttributes(&a, p));
    CHECK(a.type == cudaMemoryTypeDevice && a.device == 0);
    OK(cudaStreamSynchronize(s));
    OK(cudaFree(p)); /* this way too */
    IS(cudaFreeAsync(p, s), cudaErrorInvalidValue);
    OK(cudaMallocAsync(&p, 0, s));
    CHECK(p == NULL);
    return 0;
}
