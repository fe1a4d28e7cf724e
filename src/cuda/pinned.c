/* SPDX-License-Identifier: BSD-3-Clause */
/* pinned.c - host memory for staging.
 *
 * Few and long-lived (the engine keeps pools), so a list is enough to know
 * which block came from where. */
#include "cuda/internal.h"

#include "base/alloc.h"
#include "base/log.h"

/* Memory from the driver; NULL in `*out` where it gives none. */
static enum cx_status driver_alloc(struct cx_gpu *gpu, const struct cx_mem *mem,
                                   size_t nbytes, void **out)
{
    struct context *ctx;
    struct visit visit;
    enum cx_status rc;
    CUresult res;

    *out = NULL;
    if (!cx_cuda_ready(gpu) || !mem->ctx || !nbytes)
        return CX_OK;
    /* Our state in the context is what later tells that it was reset. */
    rc = cx_cuda_visit(gpu, mem, &ctx, &visit);
    if (rc != CX_OK)
        return rc;
    res = visit.cu->cuMemHostAlloc(out, nbytes, CU_MEMHOSTALLOC_PORTABLE);
    cx_cuda_leave(&visit);
    if (res == CUDA_SUCCESS)
        return CX_OK;
    *out = NULL;
    cx_debug("no pinned memory of %zu bytes (cuMemHostAlloc: %d): staging "
             "through plain memory, which copies slower",
             nbytes, (int)res);
    return CX_OK;
}

enum cx_status cx_cuda_pinned_alloc(struct cx_gpu *gpu,
                                    const struct cx_mem *mem, size_t nbytes,
                                    void **out)
{
    struct pinned *pinned = cx_alloc(1, sizeof(*pinned));
    enum cx_status rc;

    if (!pinned)
        goto err;
    rc = driver_alloc(gpu, mem, nbytes, &pinned->ptr);
    if (rc != CX_OK) {
        cx_free(pinned);
        return rc;
    }
    if (pinned->ptr) {
        pinned->cu = mem->ctx;
    } else {
        pinned->ptr = cx_alloc(1, nbytes);
        if (!pinned->ptr)
            goto err_free;
    }
    pinned->next = gpu->pinned;
    gpu->pinned = pinned;
    *out = pinned->ptr;
    return CX_OK;

err_free:
    cx_free(pinned);
err:
    cx_error("no memory for %zu bytes of staging", nbytes);
    return CX_ERR_NOMEM;
}

void cx_cuda_pinned_free(struct cx_gpu *gpu, void *ptr)
{
    struct pinned **link = &gpu->pinned, *pinned;

    if (!ptr)
        return;
    while (*link && (*link)->ptr != ptr)
        link = &(*link)->next;
    pinned = *link;
    if (!pinned)
        return;
    *link = pinned->next;
    if (pinned->cu)
        cx_cuda_host_free(gpu, pinned);
    else
        cx_free(ptr);
    cx_free(pinned);
}
