/* SPDX-License-Identifier: BSD-3-Clause */
/* query.c - what kind of memory is a pointer?
 *
 * One plural cuPointerGetAttributes per end of the buffer: the singular form is
 * far slower on recent drivers, and hooks and caches that others use for this
 * miss allocations. The plural form answers for any address, also host memory
 * that CUDA has never seen, and does not need a current context.
 *
 * The second end is asked only where the answer may differ. Memory changes
 * hands between CUDA and the rest of the process at page borders: a page that
 * the driver maps holds nothing of the C library's. So a host buffer within one
 * page, as those of most small calls are, costs one question. Two device
 * allocations may share a page: there both ends are always asked. */
#include "cuda/internal.h"

#include "base/log.h"

#include <string.h>

#define PAGE ((uintptr_t)4096)

struct facts {
    CUmemorytype type; /* 0: not CUDA's */
    unsigned managed;
    CUcontext ctx;
    int device;
    unsigned long long buffer_id;
};

static CUresult ask(const struct driver *cu, uintptr_t addr, struct facts *out)
{
    CUpointer_attribute attr[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_BUFFER_ID};
    void *data[] = {&out->type, &out->managed, &out->ctx, &out->device,
                    &out->buffer_id};

    memset(out, 0, sizeof(*out));
    return cu->cuPointerGetAttributes(sizeof(attr) / sizeof(attr[0]), attr,
                                      data, (CUdeviceptr)addr);
}

/* Errors under which there can be no device memory. */
static int means_host(CUresult res)
{
    return res == CUDA_ERROR_NOT_INITIALIZED ||
           res == CUDA_ERROR_DEINITIALIZED || res == CUDA_ERROR_NO_DEVICE ||
           res == CUDA_ERROR_INVALID_VALUE || (int)res == 34; /* stub library */
}

/* Some drivers fail for memory of a device whose context is not the current
 * one, or without a current context: asks again from each active one. */
static CUresult ask_elsewhere(struct cx_gpu *gpu, uintptr_t addr,
                              struct facts *out)
{
    const struct driver *cu = gpu->driver;
    CUresult res = CUDA_ERROR_NO_DEVICE, asked;
    struct visit visit;
    CUcontext ctx;
    int n = 0;

    if (cu->cuDeviceGetCount(&n) != CUDA_SUCCESS)
        return res;
    for (int i = 0; i < n && res != CUDA_SUCCESS; i++) {
        ctx = cx_cuda_primary(gpu, i, 0);
        if (!ctx || cx_cuda_enter(cu, ctx, &visit) != CUDA_SUCCESS)
            continue;
        asked = ask(cu, addr, out);
        cx_cuda_leave(&visit);
        if (asked == CUDA_SUCCESS || res == CUDA_ERROR_NO_DEVICE)
            res = asked;
    }
    return res;
}

static enum cx_mem_kind kind_of(const struct facts *facts)
{
    if (facts->managed)
        return CX_MEM_MANAGED;
    if (!facts->type)
        return CX_MEM_HOST;
    return facts->type == CU_MEMORYTYPE_HOST ? CX_MEM_PINNED : CX_MEM_DEVICE;
}

static enum cx_status query_byte(struct cx_gpu *gpu, const struct driver *cu,
                                 uintptr_t addr, struct cx_mem *out)
{
    struct facts facts;
    CUresult res = ask(cu, addr, &facts);

    if (res != CUDA_SUCCESS && !means_host(res))
        res = ask_elsewhere(gpu, addr, &facts);
    if (res != CUDA_SUCCESS) {
        if (!means_host(res))
            return cx_cuda_fail(cu, "cuPointerGetAttributes", res);
        memset(&facts, 0, sizeof(facts));
    }
    out->kind = kind_of(&facts);
    out->device = -1;
    out->loose = 0;
    out->ctx = NULL;
    out->ctx_id = 0;
    out->buffer_id = 0;
    if (!cx_mem_on_gpu(out))
        return CX_OK;
    out->loose = facts.ctx == NULL;
    out->device = facts.device;
    out->ctx = facts.ctx;
    out->buffer_id = facts.buffer_id;
    return CX_OK;
}

/* Two attributes that only some memory and some drivers have; 0 and 0 where the
 * driver does not know them. */
static void ask_two(const struct driver *cu, uintptr_t addr,
                    CUpointer_attribute one, CUpointer_attribute two,
                    uint64_t out[2])
{
    CUpointer_attribute attr[] = {one, two};
    void *data[] = {&out[0], &out[1]};

    out[0] = out[1] = 0;
    if (cu->cuPointerGetAttributes(2, attr, data, (CUdeviceptr)addr) !=
        CUDA_SUCCESS)
        out[0] = out[1] = 0;
}

static int from_pool(const struct driver *cu, uintptr_t addr)
{
    uint64_t pool[2];

    ask_two(cu, addr, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
            CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pool);
    return pool[0] != 0;
}

static int same_memory(const struct cx_mem *a, const struct cx_mem *b)
{
    return a->kind == b->kind && a->device == b->device && a->ctx == b->ctx &&
           a->loose == b->loose;
}

/* A range of several chunks of one device, mapped side by side, is one memory:
 * the driver copies across them. */
static enum cx_status chunks(struct cx_gpu *gpu, uintptr_t addr, uintptr_t last,
                             const struct cx_mem *first, int *one)
{
    enum cx_status rc = CX_OK;
    struct cx_mem mem;

    *one = 1;
    for (uintptr_t at = (addr | (CX_MEM_BLOCK - 1)) + 1;
         at <= last && at != 0 && *one && rc == CX_OK; at += CX_MEM_BLOCK) {
        rc = query_byte(gpu, gpu->driver, at, &mem);
        *one = rc == CX_OK && same_memory(first, &mem);
    }
    return rc;
}

/* Can the range between these two bytes on GPUs be copied as one? */
static enum cx_status is_one(struct cx_gpu *gpu, uintptr_t addr,
                             uintptr_t last_addr, const struct cx_mem *first,
                             const struct cx_mem *last, int *one)
{
    int same_buffer = first->buffer_id && first->buffer_id == last->buffer_id;

    *one = 0;
    if (!same_memory(first, last))
        return CX_OK;
    if (!first->loose || from_pool(gpu->driver, addr) ||
        from_pool(gpu->driver, last_addr)) {
        *one = same_buffer;
        return CX_OK;
    }
    return chunks(gpu, addr, last_addr, first, one);
}

/* May this device use a mapped address? Unknown for other memory: -1. */
static int admits(const struct driver *cu, uintptr_t addr, int ordinal)
{
    const CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, ordinal};
    unsigned long long flags = 0;

    if (!cu->cuMemGetAccess ||
        cu->cuMemGetAccess(&flags, &device, (CUdeviceptr)addr) != CUDA_SUCCESS)
        return -1;
    return flags != 0;
}

/* Of the memory's own device; of another one where only that may use it. */
static CUcontext loose_context(struct cx_gpu *gpu, uintptr_t addr, int ordinal)
{
    const struct driver *cu = gpu->driver;
    int n = 0;

    if (admits(cu, addr, ordinal) != 0 ||
        cu->cuDeviceGetCount(&n) != CUDA_SUCCESS)
        return cx_cuda_any_context(gpu, ordinal);
    for (int i = 0; i < n; i++) {
        if (admits(cu, addr, i) == 1)
            return cx_cuda_any_context(gpu, i);
    }
    return NULL; /* mapped, and no device may use it */
}

/* A context to work in, and its number. */
static enum cx_status settle_context(struct cx_gpu *gpu, uintptr_t addr,
                                     struct cx_mem *mem)
{
    if (mem->loose)
        mem->ctx = loose_context(gpu, addr, mem->device);
    if (!mem->ctx) {
        cx_error("memory at %p belongs to device %d, where no context can be "
                 "had that may use it",
                 (void *)addr, mem->device);
        return CX_ERR_GPU;
    }
    mem->ctx_id = cx_cuda_ctx_life(gpu, mem->ctx);
    return CX_OK;
}

static enum cx_status judge(struct cx_gpu *gpu, uintptr_t addr,
                            uintptr_t last_addr, struct cx_mem *first)
{
    struct cx_mem last;
    enum cx_status rc = query_byte(gpu, gpu->driver, last_addr, &last);
    int one;

    if (rc != CX_OK)
        return rc;
    if (!cx_mem_on_gpu(first) && !cx_mem_on_gpu(&last)) {
        if (last.kind == CX_MEM_HOST)
            first->kind = CX_MEM_HOST; /* a part of it is registered */
        return CX_OK;
    }
    rc = is_one(gpu, addr, last_addr, first, &last, &one);
    if (rc == CX_OK && !one)
        *first = (struct cx_mem){.kind = CX_MEM_MIXED, .device = -1};
    return rc;
}

enum cx_status cx_cuda_query(struct cx_gpu *gpu, const void *addr,
                             size_t nbytes, struct cx_mem *out)
{
    const struct driver *cu = nbytes ? cx_cuda_ready(gpu) : NULL;
    struct cx_mem first = {.kind = CX_MEM_HOST, .device = -1};
    uintptr_t at = (uintptr_t)addr, last = at + nbytes - 1;
    enum cx_status rc = CX_OK;

    /* It may be GPU memory, and must not reach MPI as if it were not. */
    if (nbytes && !cu && cx_cuda_unusable())
        return CX_ERR_GPU;
    if (!cu || !addr) {
        *out = first;
        return CX_OK;
    }
    rc = query_byte(gpu, cu, at, &first);
    if (rc == CX_OK && at != last &&
        (cx_mem_on_gpu(&first) || at / PAGE != last / PAGE))
        rc = judge(gpu, at, last, &first);
    if (rc == CX_OK && first.kind != CX_MEM_MIXED && cx_mem_on_gpu(&first))
        rc = settle_context(gpu, at, &first);
    if (rc == CX_OK)
        *out = first;
    return rc;
}

/* The first byte after `addr` that may be other memory. An allocation says
 * where it ends; the range that a VMM address names is its reservation, of
 * which other devices may hold a part. */
static uintptr_t piece_end(const struct driver *cu, uintptr_t addr,
                           const struct cx_mem *mem)
{
    uint64_t range[2] = {0, 0}; /* start and size */

    if (cx_mem_on_gpu(mem) && (!mem->loose || from_pool(cu, addr)))
        ask_two(cu, addr, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                CU_POINTER_ATTRIBUTE_RANGE_SIZE, range);
    else if (cx_mem_on_gpu(mem))
        ask_two(cu, addr, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR,
                CU_POINTER_ATTRIBUTE_MAPPING_SIZE, range);
    if (addr >= range[0] && addr - range[0] < range[1])
        return (uintptr_t)(range[0] + range[1]);
    return (addr | (CX_MEM_BLOCK - 1)) + 1;
}

enum cx_status cx_cuda_piece(struct cx_gpu *gpu, const void *addr,
                             size_t nbytes, struct cx_mem *out, size_t *n)
{
    const struct driver *cu = cx_cuda_ready(gpu);
    struct cx_mem mem = {.kind = CX_MEM_HOST, .device = -1};
    uintptr_t at = (uintptr_t)addr, length = nbytes;
    enum cx_status rc = CX_OK;

    if (cu) {
        rc = query_byte(gpu, cu, at, &mem);
        length = piece_end(cu, at, &mem) - at;
    }
    if (rc == CX_OK && cx_mem_on_gpu(&mem))
        rc = settle_context(gpu, at, &mem);
    if (rc != CX_OK)
        return rc;
    *out = mem;
    *n = length < nbytes ? length : nbytes;
    return CX_OK;
}
