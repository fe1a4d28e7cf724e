/* SPDX-License-Identifier: BSD-3-Clause */
/* span.c - see span.h. */
#include "span.h"

#include "vmm.h"

#include <string.h>

/* Memory that CUDA does not know: plain host memory, unless the range touches
 * what is known. */
static CUresult pageable(const struct sim_want *w, struct sim_span *out)
{
    if (sim_mem_is_device_space(w->addr) ||
        sim_mem_overlaps(w->addr, w->size) || w->side == SIM_DEVICE_SIDE)
        return CUDA_ERROR_INVALID_VALUE;
    out->mem = (char *)w->addr;
    out->host = out->pageable = true;
    out->device = -1;
    return CUDA_SUCCESS;
}

static bool allowed(const struct sim_alloc *a, const struct sim_want *w)
{
    unsigned need = w->write ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                             : CU_MEM_ACCESS_FLAGS_PROT_READ;
    return (sim_mem_access(a, w->by->dev) & need) == need;
}

/* Whether the range lies in a, or goes on in the mappings that follow a, and
 * all of that may be used. The twin of a reserved range keeps its order. */
static bool covers(const struct sim_alloc *a, const struct sim_want *w)
{
    uintptr_t end = w->addr + w->size;
    const struct sim_range *r = sim_range_find(w->addr);
    while (allowed(a, w)) {
        uintptr_t next = a->base + a->size;
        if (end <= next)
            return true;
        a = r != NULL && next - r->base < r->size ? sim_mem_find(next) : NULL;
        if (a == NULL)
            return false;
    }
    return false;
}

CUresult sim_span_find(const struct sim_want *w, struct sim_span *out)
{
    const struct sim_alloc *a = sim_mem_find(w->addr);
    memset(out, 0, sizeof(*out));
    if (w->addr == 0 || w->addr + w->size < w->addr)
        return CUDA_ERROR_INVALID_VALUE;
    if (a == NULL)
        return pageable(w, out);
    if (!covers(a, w))
        return CUDA_ERROR_INVALID_VALUE;
    bool device = sim_mem_is_device(a);
    if (device && w->side == SIM_HOST_SIDE)
        return CUDA_ERROR_INVALID_VALUE;
    out->mem = a->mem + (w->addr - a->base);
    out->managed = a->kind == SIM_MANAGED;
    out->host = !device && !out->managed;
    out->sync_memops = a->sync_memops;
    out->foreign = sim_mem_reach(a, w->by) == CU_MEM_ACCESS_FLAGS_PROT_NONE;
    out->device = out->host ? -1 : a->dev->ordinal;
    out->life = a->life;
    return CUDA_SUCCESS;
}
