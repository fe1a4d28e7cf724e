/* SPDX-License-Identifier: BSD-3-Clause */
/* pool_api.c - the driver's calls on memory pools. */
#include "entry.h"
#include "pool.h"

/* sim_begin for a call on a pool. */
static CUresult begin_pool(enum sim_fn fn, CUmemoryPool pool)
{
    CUresult rc = sim_begin(fn);
    if (rc != CUDA_SUCCESS || sim_pool_check(pool) != NULL)
        return rc;
    return sim_end(CUDA_ERROR_INVALID_VALUE);
}

static CUresult give_pool(CUmemoryPool found, CUmemoryPool *out)
{
    if (out == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    if (found == NULL)
        return sim_end(CUDA_ERROR_OUT_OF_MEMORY);
    *out = found;
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    struct sim_device *d;
    CUresult rc = sim_begin_device(SIM_FN_cuDeviceGetDefaultMemPool, dev, &d);
    return rc != CUDA_SUCCESS ? rc : give_pool(sim_pool_default(d), pool_out);
}

CUresult CUDAAPI cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    struct sim_device *d;
    CUresult rc = sim_begin_device(SIM_FN_cuDeviceGetMemPool, dev, &d);
    return rc != CUDA_SUCCESS ? rc : give_pool(sim_pool_current(d), pool);
}

CUresult CUDAAPI cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    struct sim_device *d;
    CUresult rc = sim_begin_device(SIM_FN_cuDeviceSetMemPool, dev, &d);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (sim_pool_check(pool) == NULL || pool->dev != d)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    d->pool_set = pool;
    return sim_end(CUDA_SUCCESS);
}

/* Pools of host memory are not simulated. */
CUresult CUDAAPI cuMemPoolCreate(CUmemoryPool *pool,
                                 const CUmemPoolProps *poolProps)
{
    struct sim_device *dev;
    CUresult rc = sim_enter(SIM_FN_cuMemPoolCreate);
    if (rc != CUDA_SUCCESS)
        return rc;
    const unsigned known = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (pool == NULL || poolProps == NULL ||
        poolProps->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        ((unsigned)poolProps->handleTypes & ~known) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (poolProps->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    rc = sim_device_find(poolProps->location.id, &dev);
    if (rc != CUDA_SUCCESS)
        return rc;
    pthread_mutex_lock(&sim_lock);
    return sim_end(sim_pool_create(dev, poolProps, pool));
}

CUresult CUDAAPI cuMemPoolDestroy(CUmemoryPool pool)
{
    CUresult rc = begin_pool(SIM_FN_cuMemPoolDestroy, pool);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (pool->dev->pool == pool)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    sim_pool_destroy(pool);
    return sim_end(CUDA_SUCCESS);
}

/* Where a pool keeps an attribute, and whether that is an int; what is not an
 * int is a 64-bit count. false: there is no such attribute. */
static bool attribute(CUmemoryPool p, CUmemPool_attribute attr, int **flag,
                      uint64_t **count)
{
    *flag = NULL;
    *count = NULL;
    switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        *flag =
            &p->reuse[attr - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
        return true;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        *count = &p->threshold;
        return true;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        *count = &p->reserved;
        return true;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        *count = &p->reserved_high;
        return true;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        *count = &p->used;
        return true;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        *count = &p->used_high;
        return true;
    default:
        return false;
    }
}

/* Sets a count: the threshold to anything, a high-water mark back to what is
 * in use now by writing 0, which is all that CUDA allows. */
static CUresult set_count(CUmemoryPool p, CUmemPool_attribute attr,
                          uint64_t value)
{
    if (attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        p->threshold = value;
    else if (attr == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH && value == 0)
        p->reserved_high = p->reserved;
    else if (attr == CU_MEMPOOL_ATTR_USED_MEM_HIGH && value == 0)
        p->used_high = p->used;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemPoolSetAttribute(CUmemoryPool pool,
                                       CUmemPool_attribute attr, void *value)
{
    int *flag;
    uint64_t *count;
    CUresult rc = begin_pool(SIM_FN_cuMemPoolSetAttribute, pool);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (value == NULL || !attribute(pool, attr, &flag, &count))
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    if (flag == NULL)
        return sim_end(set_count(pool, attr, *(const uint64_t *)value));
    *flag = *(const int *)value != 0;
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemPoolGetAttribute(CUmemoryPool pool,
                                       CUmemPool_attribute attr, void *value)
{
    int *flag;
    uint64_t *count;
    CUresult rc = begin_pool(SIM_FN_cuMemPoolGetAttribute, pool);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (value == NULL || !attribute(pool, attr, &flag, &count))
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    if (flag != NULL)
        *(int *)value = *flag;
    else
        *(uint64_t *)value = *count;
    return sim_end(CUDA_SUCCESS);
}

/* One change of who may use a pool; with apply false only whether it could be
 * made. The owner's access cannot be taken away. */
static CUresult set_access(CUmemoryPool pool, const CUmemAccessDesc *d,
                           bool apply)
{
    struct sim_device *dev;
    if (d->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        (d->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
         d->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult rc = sim_device_find(d->location.id, &dev);
    if (rc != CUDA_SUCCESS)
        return rc;
    bool owner = dev == pool->dev;
    if (d->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE
            ? owner
            : !owner && !sim_peer_reachable(pool->dev, dev))
        return CUDA_ERROR_INVALID_DEVICE;
    if (apply)
        pool->access[dev->ordinal] = (unsigned char)d->flags;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemPoolSetAccess(CUmemoryPool pool,
                                    const CUmemAccessDesc *map, size_t count)
{
    CUresult rc = begin_pool(SIM_FN_cuMemPoolSetAccess, pool);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (map == NULL && count != 0)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count && rc == CUDA_SUCCESS; i++)
        rc = set_access(pool, &map[i], false);
    for (size_t i = 0; i < count && rc == CUDA_SUCCESS; i++)
        rc = set_access(pool, &map[i], true);
    return sim_end(rc);
}

CUresult CUDAAPI cuMemPoolGetAccess(CUmemAccess_flags *flags,
                                    CUmemoryPool memPool,
                                    CUmemLocation *location)
{
    struct sim_device *dev;
    CUresult rc = begin_pool(SIM_FN_cuMemPoolGetAccess, memPool);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (flags == NULL || location == NULL ||
        location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    rc = sim_device_find(location->id, &dev);
    if (rc == CUDA_SUCCESS)
        *flags = (CUmemAccess_flags)memPool->access[dev->ordinal];
    return sim_end(rc);
}

CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    CUresult rc = begin_pool(SIM_FN_cuMemPoolTrimTo, pool);
    if (rc != CUDA_SUCCESS)
        return rc;
    sim_pool_trim(pool, minBytesToKeep);
    return sim_end(CUDA_SUCCESS);
}

static CUresult alloc(CUmemoryPool pool, CUdeviceptr *dptr, size_t bytesize,
                      CUstream s)
{
    if (dptr == NULL || bytesize == 0)
        return CUDA_ERROR_INVALID_VALUE;
    return pool == NULL ? CUDA_ERROR_OUT_OF_MEMORY
                        : sim_pool_alloc(pool, bytesize, s, dptr);
}

CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize,
                                 CUstream hStream)
{
    CUstream s;
    CUresult rc = sim_begin_stream(SIM_FN_cuMemAllocAsync, hStream, &s);
    if (rc != CUDA_SUCCESS)
        return rc;
    return sim_end(alloc(sim_pool_current(s->ctx->dev), dptr, bytesize, s));
}

CUresult CUDAAPI cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize,
                                         CUmemoryPool pool, CUstream hStream)
{
    CUstream s;
    CUresult rc = sim_begin_stream(SIM_FN_cuMemAllocFromPoolAsync, hStream, &s);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (sim_pool_check(pool) == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    return sim_end(alloc(pool, dptr, bytesize, s));
}

/* Memory of cuMemAlloc may be freed by this too; it waits for all work, which
 * is kinder than the real driver. */
CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    CUstream s;
    CUresult rc = sim_begin_stream(SIM_FN_cuMemFreeAsync, hStream, &s);
    if (rc != CUDA_SUCCESS)
        return rc;
    struct sim_alloc *a = sim_mem_find((uintptr_t)dptr);
    if (a != NULL && a->kind == SIM_DEVICE) {
        sim_stream_drain_all();
        a = sim_mem_find((uintptr_t)dptr);
    }
    if (a == NULL || a->base != (uintptr_t)dptr ||
        (a->kind != SIM_POOL && a->kind != SIM_DEVICE))
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    if (a->kind == SIM_POOL)
        return sim_end(sim_pool_free(a, s));
    sim_mem_free(a);
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemAllocAsync_ptsz(CUdeviceptr *dptr, size_t bytesize,
                                      CUstream hStream)
{
    return cuMemAllocAsync(dptr, bytesize, sim_own_stream(hStream));
}

CUresult CUDAAPI cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *dptr,
                                              size_t bytesize,
                                              CUmemoryPool pool,
                                              CUstream hStream)
{
    return cuMemAllocFromPoolAsync(dptr, bytesize, pool,
                                   sim_own_stream(hStream));
}

CUresult CUDAAPI cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream)
{
    return cuMemFreeAsync(dptr, sim_own_stream(hStream));
}
