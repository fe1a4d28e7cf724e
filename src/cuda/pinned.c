/* SPDX-License-Identifier: BSD-3-Clause */
/* pinned.c - host memory for staging.
 *
 * Few and long-lived (the engine keeps pools), so a list is enough to know
 * which block came from where. What is given back is kept for a while: a
 * program that uses several GPUs in turn would have a block of one freed for a
 * block of the other at every call, and freeing waits for all that is queued on
 * the device, in the middle of a call. */
#include "cuda/internal.h"

#include "base/alloc.h"
#include "base/log.h"

/* Kept at most. */
#define MAX_IDLE 8
#define MAX_IDLE_BYTES ((size_t)64 << 20)

/* Takes it out of the list. */
static void release(struct cx_gpu *gpu, struct pinned **link)
{
    struct pinned *pinned = *link;

    *link = pinned->next;
    if (pinned->cu)
        cx_cuda_host_free(gpu, pinned);
    else
        cx_free(pinned->ptr);
    cx_free(pinned);
}

/* Those whose context has taken them along. */
static void drop_gone(struct cx_gpu *gpu)
{
    struct pinned **link = &gpu->pinned;

    while (*link) {
        if ((*link)->idle && (*link)->gone)
            release(gpu, link);
        else
            link = &(*link)->next;
    }
}

static struct pinned *find_idle(struct cx_gpu *gpu, const struct cx_mem *mem,
                                size_t nbytes)
{
    struct pinned *pinned = gpu->pinned;

    while (pinned &&
           !(pinned->idle && !pinned->gone && mem->ctx &&
             pinned->cu == mem->ctx && pinned->ctx_id == mem->ctx_id &&
             pinned->nbytes >= nbytes && pinned->nbytes / 2 <= nbytes))
        pinned = pinned->next;
    return pinned;
}

static int may_keep(const struct cx_gpu *gpu, const struct pinned *more)
{
    size_t nbytes = more->nbytes;
    int n = 1;

    for (const struct pinned *at = gpu->pinned; at; at = at->next) {
        if (!at->idle)
            continue;
        nbytes += at->nbytes;
        n++;
    }
    return more->cu && !more->gone && n <= MAX_IDLE && nbytes <= MAX_IDLE_BYTES;
}

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
    struct pinned *pinned;
    enum cx_status rc;

    drop_gone(gpu);
    pinned = find_idle(gpu, mem, nbytes);
    if (pinned) {
        pinned->idle = 0;
        *out = pinned->ptr;
        return CX_OK;
    }
    pinned = cx_alloc(1, sizeof(*pinned));
    if (!pinned)
        goto err;
    rc = driver_alloc(gpu, mem, nbytes, &pinned->ptr);
    if (rc != CX_OK) {
        cx_free(pinned);
        return rc;
    }
    if (pinned->ptr) {
        pinned->cu = mem->ctx;
        pinned->ctx_id = mem->ctx_id;
    } else {
        pinned->ptr = cx_alloc(1, nbytes);
        if (!pinned->ptr)
            goto err_free;
    }
    pinned->nbytes = nbytes;
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
    struct pinned **link = &gpu->pinned;

    if (!ptr)
        return;
    while (*link && (*link)->ptr != ptr)
        link = &(*link)->next;
    if (!*link)
        return;
    if (may_keep(gpu, *link))
        (*link)->idle = 1;
    else
        release(gpu, link);
}

void cx_cuda_pinned_destroy(struct cx_gpu *gpu)
{
    while (gpu->pinned)
        release(gpu, &gpu->pinned);
}
