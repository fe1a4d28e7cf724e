/* SPDX-License-Identifier: BSD-3-Clause */
/* memory_faults.c - each call on pools, mappings and shared memory can be made
 * to fail, is counted, and has then done nothing. */
#include "t.h"

#include <cuda_runtime_api.h>

static const struct simgpu_control *control;

static uint64_t faults_of(const char *name)
{
    const struct simgpu_counters *c = control->counters;
    for (uint32_t i = 0; i < c->nfns; i++)
        if (strcmp(c->fn[i].name, name) == 0)
            return c->fn[i].faults;
    CHECK(!"no such function");
    return 0;
}

static void arm(const char *name)
{
    char spec[80];
    snprintf(spec, sizeof(spec), "%s:1=999", name);
    CHECK(control->set_faults(spec) == 0);
}

/* Arguments that would be good, or are never looked at. */
#define FAILS(fn, ...)                                                         \
    do {                                                                       \
        arm(#fn);                                                              \
        IS(fn(__VA_ARGS__), 999);                                              \
        CHECK(faults_of(#fn) == 1);                                            \
    } while (0)

static void pools(void)
{
    CUmemoryPool pool;
    CUdeviceptr d;
    cuuint64_t value = 0;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccess_flags flags;
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemAllocAsync(&d, 64, NULL));
    FAILS(cuDeviceGetDefaultMemPool, &pool, 0);
    FAILS(cuDeviceGetMemPool, &pool, 0);
    FAILS(cuDeviceSetMemPool, 0, pool);
    FAILS(cuMemPoolCreate, &pool, &props);
    FAILS(cuMemPoolDestroy, pool);
    FAILS(cuMemPoolSetAttribute, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
          &value);
    FAILS(cuMemPoolGetAttribute, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
          &value);
    FAILS(cuMemPoolSetAccess, pool, NULL, 0);
    FAILS(cuMemPoolGetAccess, &flags, pool, &props.location);
    FAILS(cuMemPoolTrimTo, pool, 0);
    FAILS(cuMemAllocAsync, &d, 64, NULL);
    FAILS(cuMemAllocFromPoolAsync, &d, 64, pool, NULL);
    FAILS(cuMemFreeAsync, d, NULL);
    OK(cuMemFreeAsync(d, NULL)); /* it was not freed */
}

static void mappings(void)
{
    CUdeviceptr range;
    CUmemGenericAllocationHandle block, other;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc rw = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    unsigned long long flags;
    size_t size = (size_t)2 << 20;
    int fd;
    OK(cuMemAddressReserve(&range, size, 0, 0, 0));
    OK(cuMemCreate(&block, size, &prop, 0));
    OK(cuMemMap(range, size, 0, block, 0));
    FAILS(cuMemGetAllocationGranularity, &size, &prop,
          CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    FAILS(cuMemAddressReserve, &range, size, 0, 0, 0);
    FAILS(cuMemAddressFree, range, size);
    FAILS(cuMemCreate, &other, size, &prop, 0);
    FAILS(cuMemRelease, block);
    FAILS(cuMemMap, range, size, 0, block, 0);
    FAILS(cuMemUnmap, range, size);
    FAILS(cuMemSetAccess, range, size, &rw, 1);
    FAILS(cuMemGetAccess, &flags, &prop.location, range);
    FAILS(cuMemGetAllocationPropertiesFromHandle, &prop, block);
    FAILS(cuMemRetainAllocationHandle, &other, (void *)(uintptr_t)range);
    FAILS(cuMemExportToShareableHandle, &fd, block,
          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    FAILS(cuMemImportFromShareableHandle, &other, NULL,
          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    OK(cuMemUnmap(range, size));
    OK(cuMemRelease(block));
    OK(cuMemAddressFree(range, size));
}

static void runtime(void)
{
    cudaMemPool_t pool;
    void *p;
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaMallocAsync(&p, 64, NULL));
    FAILS(cudaDeviceGetDefaultMemPool, &pool, 0);
    FAILS(cudaDeviceGetMemPool, &pool, 0);
    FAILS(cudaDeviceSetMemPool, 0, pool);
    FAILS(cudaMemPoolTrimTo, pool, 0);
    FAILS(cudaMallocAsync, &p, 64, NULL);
    FAILS(cudaMallocFromPoolAsync, &p, 64, pool, NULL);
    FAILS(cudaFreeAsync, p, NULL);
    OK(cudaFreeAsync(p, NULL));
}

int main(void)
{
    control = t_control();
    t_context(0);
    pools();
    mappings();
    runtime();
    OK(cuCtxSynchronize());
    CHECK(control->counters->device_bytes == 0);
    return 0;
}
