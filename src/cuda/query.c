/* SPDX-License-Identifier: BSD-3-Clause */
/* query.c - what kind of memory is a pointer?
 *
 * One plural cuPointerGetAttributes per end of the buffer: the singular form is
 * far slower on recent drivers, and hooks and caches that others use for this
 * miss allocations. The plural form answers for any address, also host memory
 * that CUDA has never seen, and does not need a current context. */
#include "cuda/internal.h"

#include "base/log.h"

#include <string.h>

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
        ctx = cx_cuda_primary(gpu, i);
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
    out->ctx = NULL;
    out->ctx_id = 0;
    out->buffer_id = 0;
    if (!cx_mem_on_gpu(out))
        return CX_OK;
    out->device = facts.device;
    out->ctx = facts.ctx;
    out->buffer_id = facts.buffer_id;
    return CX_OK;
}

static const char *kind_str(enum cx_mem_kind kind)
{
    static const char *const name[CX_NMEM_KINDS] = {
        [CX_MEM_HOST] = "host",
        [CX_MEM_PINNED] = "pinned host",
        [CX_MEM_DEVICE] = "device",
        [CX_MEM_MANAGED] = "managed"};

    return name[kind];
}

static enum cx_status check_end(const struct cx_mem *last, const void *addr,
                                size_t nbytes, struct cx_mem *first)
{
    if (!cx_mem_on_gpu(first) && !cx_mem_on_gpu(last)) {
        if (last->kind == CX_MEM_HOST)
            first->kind = CX_MEM_HOST; /* a part of it is registered */
        return CX_OK;
    }
    if (first->kind == last->kind && first->device == last->device &&
        first->ctx == last->ctx)
        return CX_OK;
    cx_error("buffer %p of %zu bytes begins in %s memory (device %d) and ends "
             "in %s memory (device %d): it runs past its allocation",
             addr, nbytes, kind_str(first->kind), first->device,
             kind_str(last->kind), last->device);
    return CX_ERR_ARG;
}

/* Pool and VMM memory names no context; any context of its device will do. */
static enum cx_status find_context(struct cx_gpu *gpu, const void *addr,
                                   struct cx_mem *mem)
{
    mem->ctx = cx_cuda_primary(gpu, mem->device);
    if (mem->ctx)
        return CX_OK;
    cx_error("memory at %p belongs to device %d, which has no active primary "
             "context",
             addr, mem->device);
    return CX_ERR_GPU;
}

enum cx_status cx_cuda_query(struct cx_gpu *gpu, const void *addr,
                             size_t nbytes, struct cx_mem *out)
{
    const struct driver *cu = nbytes ? cx_cuda_ready(gpu) : NULL;
    struct cx_mem first = {.kind = CX_MEM_HOST, .device = -1}, last;
    enum cx_status rc = CX_OK;

    if (!cu || !addr) {
        *out = first;
        return CX_OK;
    }
    rc = query_byte(gpu, cu, (uintptr_t)addr, &first);
    if (rc == CX_OK && nbytes > 1) {
        rc = query_byte(gpu, cu, (uintptr_t)addr + nbytes - 1, &last);
        if (rc == CX_OK)
            rc = check_end(&last, addr, nbytes, &first);
    }
    if (rc == CX_OK && cx_mem_on_gpu(&first) && !first.ctx)
        rc = find_context(gpu, addr, &first);
    if (rc == CX_OK && first.ctx)
        first.ctx_id = cx_cuda_ctx_life(gpu, first.ctx);
    if (rc == CX_OK)
        *out = first;
    return rc;
}
