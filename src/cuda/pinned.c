/* SPDX-License-Identifier: BSD-3-Clause */
/* pinned.c - host memory for staging.
 *
 * A running call has a block or two, so a list is enough to know which block
 * came from where. What is given back is kept, at its head, for the next call
 * in the same context: pinning takes long, and freeing waits for all that is
 * queued on the device. Beyond a bound those longest idle are freed. */
#include "cuda/internal.h"

#include "base/alloc.h"
#include "base/log.h"

/* Idle blocks stay while all blocks have no more bytes than this, or than were
 * ever lent at once. */
#define KEPT_BYTES ((size_t)64 << 20)

/* Takes it out of the list. */
static void release(struct cx_gpu *gpu, struct pinned **link)
{
    struct pinned *pinned = *link;

    *link = pinned->next;
    if (pinned->plain)
        cx_free(pinned->ptr);
    else
        cx_cuda_host_free(gpu, pinned);
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

/* Puts it where those used last are. */
static void move_to_head(struct cx_gpu *gpu, struct pinned **link)
{
    struct pinned *pinned = *link;

    *link = pinned->next;
    pinned->next = gpu->pinned;
    gpu->pinned = pinned;
}

/* The smallest that will do, the one used last among equals; or NULL. */
static struct pinned *find_idle(struct cx_gpu *gpu, const struct cx_mem *mem,
                                size_t nbytes)
{
    struct pinned *best = NULL;

    for (struct pinned *at = gpu->pinned; at; at = at->next)
        if (at->idle && !at->gone && at->cu == mem->ctx &&
            at->ctx_id == mem->ctx_id && at->nbytes >= nbytes &&
            (!best || at->nbytes < best->nbytes))
            best = at;
    return best;
}

static size_t count_bytes(const struct cx_gpu *gpu, int idle)
{
    size_t nbytes = 0;

    for (const struct pinned *at = gpu->pinned; at; at = at->next)
        if (at->idle == idle)
            nbytes += at->nbytes;
    return nbytes;
}

static void release_last_idle(struct cx_gpu *gpu)
{
    struct pinned **last = NULL;

    for (struct pinned **at = &gpu->pinned; *at; at = &(*at)->next)
        if ((*at)->idle)
            last = at;
    if (last)
        release(gpu, last);
}

static void lend(struct cx_gpu *gpu, struct pinned *pinned)
{
    size_t lent;

    pinned->idle = 0;
    lent = count_bytes(gpu, 0);
    if (gpu->pinned_most < lent)
        gpu->pinned_most = lent;
}

static void trim(struct cx_gpu *gpu)
{
    size_t most = gpu->pinned_most > KEPT_BYTES ? gpu->pinned_most : KEPT_BYTES;

    while (count_bytes(gpu, 1) > most - count_bytes(gpu, 0))
        release_last_idle(gpu);
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
        lend(gpu, pinned);
        *out = pinned->ptr;
        return CX_OK;
    }
    nbytes = cx_alloc_class(nbytes);
    pinned = cx_alloc(1, sizeof(*pinned));
    if (!pinned)
        goto err;
    rc = driver_alloc(gpu, mem, nbytes, &pinned->ptr);
    if (rc != CX_OK) {
        cx_free(pinned);
        return rc;
    }
    if (!pinned->ptr) {
        pinned->plain = 1;
        pinned->ptr = cx_alloc(1, nbytes);
        if (!pinned->ptr)
            goto err_free;
    }
    pinned->cu = mem->ctx;
    pinned->ctx_id = mem->ctx_id;
    pinned->nbytes = nbytes;
    pinned->next = gpu->pinned;
    gpu->pinned = pinned;
    lend(gpu, pinned);
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
    /* An idle one may have had the address before its context went. */
    while (*link && ((*link)->ptr != ptr || (*link)->idle))
        link = &(*link)->next;
    if (!*link)
        return;
    (*link)->idle = 1;
    move_to_head(gpu, link);
    drop_gone(gpu);
    trim(gpu);
}

void cx_cuda_pinned_destroy(struct cx_gpu *gpu)
{
    while (gpu->pinned)
        release(gpu, &gpu->pinned);
}
