/* SPDX-License-Identifier: BSD-3-Clause */
/* pool_reuse.c - freed memory of a pool: the same stream gets it at once, with
 * another id, another stream not before the free was reached; a synchronisation
 * gives it back to the device, a threshold keeps it (SIMGPU_MEM=64M). */
#include "t.h"

#define N ((size_t)8 << 20)

static unsigned long long id_of(CUdeviceptr d)
{
    unsigned long long id;
    OK(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, d));
    return id;
}

static size_t in_use(void)
{
    size_t free_bytes, total;
    OK(cuMemGetInfo(&free_bytes, &total));
    return total - free_bytes;
}

static unsigned long long count_of(CUmemoryPool pool, CUmemPool_attribute attr)
{
    cuuint64_t value;
    OK(cuMemPoolGetAttribute(pool, attr, &value));
    return value;
}

static void streams(CUstream a, CUstream b)
{
    struct t_gate gate;
    CUdeviceptr d, e, f;
    OK(cuMemAllocAsync(&d, N, a));
    unsigned long long id = id_of(d);
    t_gate_close(&gate, a);
    OK(cuMemFreeAsync(d, a));
    OK(cuMemAllocAsync(&e, N, b));
    CHECK(e != d);
    OK(cuMemAllocAsync(&f, N, a));
    CHECK(f == d && id_of(f) != id);
    OK(cuMemFreeAsync(f, a));
    t_gate_open(&gate);
    OK(cuStreamSynchronize(a));
    OK(cuMemFreeAsync(e, b));
    OK(cuStreamSynchronize(b));
    CHECK(in_use() == 0);
}

/* When nothing else is left, an allocation waits for another stream's free. */
static void waits_for_free(CUstream a, CUstream b)
{
    struct t_gate gate;
    CUdeviceptr d[8], e;
    for (int i = 0; i < 8; i++)
        OK(cuMemAllocAsync(&d[i], N, a));
    IS(cuMemAllocAsync(&e, N, b), CUDA_ERROR_OUT_OF_MEMORY);
    IS(cuMemAlloc(&e, 1), CUDA_ERROR_OUT_OF_MEMORY);
    t_gate_close(&gate, a);
    OK(cuMemFreeAsync(d[0], a));
    OK(cuMemAllocAsync(&e, N, b));
    CHECK(e == d[0]);
    IS(cuStreamQuery(b), CUDA_ERROR_NOT_READY);
    t_gate_open(&gate);
    OK(cuStreamSynchronize(b));
    OK(cuMemFree(e));
    for (int i = 1; i < 8; i++)
        OK(cuMemFreeAsync(d[i], a));
    OK(cuCtxSynchronize());
    CHECK(in_use() == 0);
}

static void keeps(CUmemoryPool pool, CUstream a)
{
    cuuint64_t threshold = N;
    CUdeviceptr d, e;
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                             &threshold));
    OK(cuMemAllocAsync(&d, N, a));
    OK(cuMemAllocAsync(&e, N, a));
    CHECK(count_of(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 2 * N);
    OK(cuMemFreeAsync(d, a));
    OK(cuMemFreeAsync(e, a));
    OK(cuStreamSynchronize(a));
    CHECK(in_use() == N);
    CHECK(count_of(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 0);
    CHECK(count_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == N);
    CHECK(count_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) >= 2 * N);
    /* others get it when they need it */
    OK(cuMemAlloc(&d, 8 * N));
    OK(cuMemFree(d));
    CHECK(count_of(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 0);
    IS(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &threshold),
       CUDA_ERROR_INVALID_VALUE);
    threshold = 0;
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &threshold));
    CHECK(count_of(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH) == 0);
    OK(cuMemPoolTrimTo(pool, 0));
}

static void own_pool(CUstream a)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                            .maxSize = N};
    CUmemoryPool pool, now, from;
    CUdeviceptr d, e;
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemAllocFromPoolAsync(&d, N, pool, a));
    IS(cuMemAllocFromPoolAsync(&e, N, pool, a), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuPointerGetAttribute(&from, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, d));
    CHECK(from == pool);
    OK(cuDeviceSetMemPool(0, pool));
    OK(cuDeviceGetMemPool(&now, 0));
    CHECK(now == pool);
    OK(cuMemPoolDestroy(pool)); /* with memory out, and current */
    OK(cuDeviceGetMemPool(&now, 0));
    CHECK(now != pool);
    IS(cuMemAllocFromPoolAsync(&e, N, pool, a), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemsetD8Async(d, 1, N, a));
    OK(cuMemFreeAsync(d, a));
    OK(cuStreamSynchronize(a));
    CHECK(in_use() == 0);
    props.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    CHECK(cuMemPoolCreate(&pool, &props) != CUDA_SUCCESS);
}

int main(void)
{
    CUmemoryPool pool;
    CUstream a, b;
    t_context(0);
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    streams(a, b);
    waits_for_free(a, b);
    keeps(pool, a);
    own_pool(a);
    return 0;
}
