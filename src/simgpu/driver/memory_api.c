/* SPDX-License-Identifier: BSD-3-Clause */
/* memory_api.c - the driver's calls that allocate, free and register. */
#include "entry.h"
#include "pool.h"

#include <string.h>

#define PITCH_ALIGN 512

CUresult CUDAAPI cuMemGetInfo_v2(size_t *free, size_t *total)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(SIM_FN_cuMemGetInfo, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    size_t free_now, all;
    sim_arena_info(ctx->dev, &free_now, &all);
    if (free != NULL)
        *free = free_now;
    if (total != NULL)
        *total = all;
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    CUcontext ctx;
    struct sim_alloc *a;
    CUresult rc = sim_begin_current(SIM_FN_cuMemAlloc, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (dptr == NULL || bytesize == 0)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    rc = sim_mem_alloc_device(ctx, bytesize, &a);
    if (rc == CUDA_SUCCESS)
        *dptr = a->base;
    return sim_end(rc);
}

CUresult CUDAAPI cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch,
                                    size_t WidthInBytes, size_t Height,
                                    unsigned int ElementSizeBytes)
{
    CUcontext ctx;
    struct sim_alloc *a;
    CUresult rc = sim_begin_current(SIM_FN_cuMemAllocPitch, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (dptr == NULL || pPitch == NULL || WidthInBytes == 0 || Height == 0 ||
        (ElementSizeBytes != 4 && ElementSizeBytes != 8 &&
         ElementSizeBytes != 16) ||
        WidthInBytes > sim.config.mem || Height > sim.config.mem)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    size_t pitch = (WidthInBytes + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN;
    if (Height > sim.config.mem / pitch)
        return sim_end(CUDA_ERROR_OUT_OF_MEMORY);
    rc = sim_mem_alloc_device(ctx, pitch * Height, &a);
    if (rc == CUDA_SUCCESS) {
        *dptr = a->base;
        *pPitch = pitch;
    }
    return sim_end(rc);
}

/* The allocation that begins at addr and may be freed by a call that frees
 * memory of the kind k1 or k2. Waits for all work first, as a GPU does; the
 * lock is let go meanwhile, so the look-up comes last. */
static CUresult free_base(uintptr_t addr, enum sim_kind k1, enum sim_kind k2,
                          CUresult not_found)
{
    sim_stream_drain_all();
    struct sim_alloc *a = sim_mem_find(addr);
    if (a == NULL || a->base != addr || (a->kind != k1 && a->kind != k2))
        return not_found;
    sim_mem_free(a);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemFree_v2(CUdeviceptr dptr)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(SIM_FN_cuMemFree, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    struct sim_alloc *a = sim_mem_find((uintptr_t)dptr);
    if (a != NULL && a->kind == SIM_POOL && a->base == (uintptr_t)dptr)
        return sim_end(sim_pool_free(a, NULL)); /* waits for nothing */
    return sim_end(free_base((uintptr_t)dptr, SIM_DEVICE, SIM_MANAGED,
                             CUDA_ERROR_INVALID_VALUE));
}

CUresult CUDAAPI cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize,
                                         CUdeviceptr dptr)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(SIM_FN_cuMemGetAddressRange, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    const struct sim_alloc *a = sim_mem_find((uintptr_t)dptr);
    if (a == NULL)
        return sim_end(CUDA_ERROR_NOT_FOUND);
    if (pbase != NULL)
        *pbase = a->base;
    if (psize != NULL)
        *psize = a->size;
    return sim_end(CUDA_SUCCESS);
}

static CUresult alloc_host(enum sim_fn fn, void **pp, size_t bytesize,
                           unsigned flags)
{
    CUcontext ctx;
    struct sim_alloc *a;
    CUresult rc = sim_begin_current(fn, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    const unsigned known = CU_MEMHOSTALLOC_PORTABLE |
                           CU_MEMHOSTALLOC_DEVICEMAP |
                           CU_MEMHOSTALLOC_WRITECOMBINED;
    if (pp == NULL || bytesize == 0 || (flags & ~known) != 0)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    rc = sim_mem_alloc_mapped(ctx, SIM_HOST, bytesize, flags, &a);
    if (rc == CUDA_SUCCESS)
        *pp = a->mem;
    return sim_end(rc);
}

CUresult CUDAAPI cuMemAllocHost_v2(void **pp, size_t bytesize)
{
    return alloc_host(SIM_FN_cuMemAllocHost, pp, bytesize, 0);
}

CUresult CUDAAPI cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    return alloc_host(SIM_FN_cuMemHostAlloc, pp, bytesize, Flags);
}

CUresult CUDAAPI cuMemFreeHost(void *p)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(SIM_FN_cuMemFreeHost, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    return sim_end(
        free_base((uintptr_t)p, SIM_HOST, SIM_HOST, CUDA_ERROR_INVALID_VALUE));
}

CUresult CUDAAPI cuMemHostRegister_v2(void *p, size_t bytesize,
                                      unsigned int Flags)
{
    CUcontext ctx;
    struct sim_alloc *a;
    CUresult rc = sim_begin_current(SIM_FN_cuMemHostRegister, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    const unsigned known =
        CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
        CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    if (p == NULL || bytesize == 0 || (Flags & ~known) != 0)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    return sim_end(sim_mem_register(ctx, p, bytesize, Flags, &a));
}

CUresult CUDAAPI cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
{
    return cuMemHostRegister_v2(p, bytesize, Flags);
}

CUresult CUDAAPI cuMemHostUnregister(void *p)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(SIM_FN_cuMemHostUnregister, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    return sim_end(free_base((uintptr_t)p, SIM_REGISTERED, SIM_REGISTERED,
                             CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED));
}

/* Pinned memory that holds p, or NULL. */
static const struct sim_alloc *find_pinned(const void *p)
{
    const struct sim_alloc *a = sim_mem_find((uintptr_t)p);
    return a != NULL && (a->kind == SIM_HOST || a->kind == SIM_REGISTERED)
               ? a
               : NULL;
}

CUresult CUDAAPI cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p,
                                              unsigned int Flags)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(SIM_FN_cuMemHostGetDevicePointer, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (pdptr == NULL || Flags != 0 || find_pinned(p) == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    *pdptr = (uintptr_t)p;
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(SIM_FN_cuMemHostGetFlags, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    const struct sim_alloc *a = find_pinned(p);
    if (pFlags == NULL || a == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    *pFlags = a->flags;
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize,
                                   unsigned int flags)
{
    CUcontext ctx;
    struct sim_alloc *a;
    CUresult rc = sim_begin_current(SIM_FN_cuMemAllocManaged, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (dptr == NULL || bytesize == 0 ||
        (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    rc = sim_mem_alloc_mapped(ctx, SIM_MANAGED, bytesize, flags, &a);
    if (rc == CUDA_SUCCESS)
        *dptr = a->base;
    return sim_end(rc);
}
