/* SPDX-License-Identifier: BSD-3-Clause */
/* pinned.c - host memory for staging.
 *
 * Few and long-lived (the engine keeps pools), so a list is enough to know
 * which block came from where. */
#include "cuda/internal.h"

#include "base/alloc.h"
#include "base/log.h"

/* Memory from the driver, or NULL. */
static void *driver_alloc(struct cx_gpu *gpu, const struct cx_mem *mem,
                          size_t nbytes)
{
    const struct driver *cu = cx_cuda_ready(gpu);
    struct visit visit;
    void *ptr = NULL;
    CUresult res;

    if (!cu || !mem->ctx || !nbytes)
        return NULL;
    res = cx_cuda_enter(cu, mem->ctx, &visit);
    if (res != CUDA_SUCCESS)
        return NULL;
    res = cu->cuMemHostAlloc(&ptr, nbytes, CU_MEMHOSTALLOC_PORTABLE);
    cx_cuda_leave(&visit);
    if (res == CUDA_SUCCESS)
        return ptr;
    cx_debug("no pinned memory of %zu bytes (cuMemHostAlloc: %d): staging "
             "through plain memory, which copies slower",
             nbytes, (int)res);
    return NULL;
}

static void driver_free(struct cx_gpu *gpu, CUcontext ctx, void *ptr)
{
    const struct driver *cu = cx_cuda_ready(gpu);
    struct visit visit;
    CUresult res;

    /* A context that is gone took the memory with it. */
    if (!cu || cx_cuda_enter(cu, ctx, &visit) != CUDA_SUCCESS)
        return;
    res = cu->cuMemFreeHost(ptr);
    if (res != CUDA_SUCCESS && !cx_cuda_gone(res))
        cx_debug("cuMemFreeHost: %d", (int)res);
    cx_cuda_leave(&visit);
}

enum cx_status cx_cuda_pinned_alloc(struct cx_gpu *gpu,
                                    const struct cx_mem *mem, size_t nbytes,
                                    void **out)
{
    struct pinned *pinned = cx_alloc(1, sizeof(*pinned));

    if (!pinned)
        goto err;
    pinned->ptr = driver_alloc(gpu, mem, nbytes);
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
        driver_free(gpu, pinned->cu, ptr);
    else
        cx_free(ptr);
    cx_free(pinned);
}
