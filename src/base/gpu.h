/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.h - contract of GPU memory: what a pointer is, and copies.
 *
 * Implemented by src/cuda over the driver API. src/coll and src/engine see only
 * this table. Every function restores the caller's current context. Before the
 * program itself has loaded the driver, `query` answers "host" and nothing else
 * is called. */
#ifndef CX_GPU_H
#define CX_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "base/req.h"
#include "base/status.h"

enum cx_mem_kind {
    CX_MEM_HOST,
    CX_MEM_PINNED,  /* host memory known to the driver: like host, DMA-able */
    CX_MEM_DEVICE,  /* the CPU must not touch it */
    CX_MEM_MANAGED, /* both may; copied through the driver, never by a NIC */
    CX_MEM_MIXED, /* several memories, some on a GPU: each is copied by itself,
                     as `piece` tells them apart; nothing below is set */
    CX_NMEM_KINDS
};

struct cx_mem {
    enum cx_mem_kind kind;
    int device;         /* ordinal in this process; -1 for host */
    int loose;          /* pool and VMM memory: its device's, no context's */
    void *ctx;          /* context to work in; NULL for host */
    uint64_t ctx_id;    /* tells apart contexts that had the address `ctx` one
                           after another, as after a reset; 0 for host */
    uint64_t buffer_id; /* unique per allocation in a process; 0 for host */
};

static inline int cx_mem_on_gpu(const struct cx_mem *mem)
{
    return mem->kind >= CX_MEM_DEVICE;
}

/* Address space is given to a GPU's memory in whole blocks of this size, at
 * multiples of it: GPU memory and other memory never share one. All devices
 * with memory of their own map it in such pages. */
#define CX_MEM_BLOCK ((size_t)2 << 20)

/* What the program's queued work means for a call (COAX_SYNC). */
enum cx_sync {
    CX_SYNC_DEFAULT, /* that of the default streams is waited for, on the GPU */
    CX_SYNC_DEVICE,  /* all of the context is waited for, by the CPU */
    CX_SYNC_NONE     /* the program has synchronised */
};

struct cx_gpu; /* implementation's state, one per process */

struct cx_gpu_counters {
    uint64_t h2d, h2d_bytes, d2h, d2h_bytes;
};

struct cx_gpu_ops {
    /* What is [addr, addr + nbytes)? One plural driver query over the first
     * byte and, where it may differ, one over the last. Memory on a GPU is
     * named only when all of the range can be copied as one. Host memory
     * between its two ends is not looked at: a range that is not one array may
     * have other memory there. */
    CX_MUST enum cx_status (*query)(struct cx_gpu *gpu, const void *addr,
                                    size_t nbytes, struct cx_mem *out);

    /* What is the byte at `addr`, and for how many bytes from there on, at
     * most `nbytes`, does that hold? At least one; the rest is asked next. */
    CX_MUST enum cx_status (*piece)(struct cx_gpu *gpu, const void *addr,
                                    size_t nbytes, struct cx_mem *out,
                                    size_t *n);

    /* Under CX_SYNC_DEVICE waits for all that is queued in the contexts that
     * fence() looks at; else does nothing. Changes nothing of ours: any thread
     * may call it at any time, without a lock. */
    CX_MUST enum cx_status (*settle)(struct cx_gpu *gpu,
                                     const struct cx_mem *mem);

    /* Order later copies on `mem` after the work now queued on the legacy and
     * the per-thread default streams (design rule 13) of its context and of
     * the caller's current one; of managed and loose memory, of all contexts
     * known here. Under CX_SYNC_DEFAULT only. */
    CX_MUST enum cx_status (*fence)(struct cx_gpu *gpu,
                                    const struct cx_mem *mem);

    /* Start a copy between host memory (`to_host` tells the direction) and
     * `mem`. Copies on one `mem->ctx` and direction run in the order started.
     * `req` as in req.h. */
    void (*copy)(struct cx_gpu *gpu, const struct cx_mem *mem, int to_host,
                 void *dst, const void *src, size_t nbytes, struct cx_req *req);

    /* The same for `rows` rows of `width` bytes, `dpitch` and `spitch` bytes
     * apart. */
    void (*copy2d)(struct cx_gpu *gpu, const struct cx_mem *mem, int to_host,
                   void *dst, size_t dpitch, const void *src, size_t spitch,
                   size_t width, size_t rows, struct cx_req *req);

    /* A second way to do what copy2d does, for when that fails: by the driver's
     * plain synchronous copy, ordered after the default streams, without
     * streams or events of ours. Complete on return; slow. Any thread may call
     * it at any time, without a lock. */
    CX_MUST enum cx_status (*copy_now)(struct cx_gpu *gpu,
                                       const struct cx_mem *mem, void *dst,
                                       size_t dpitch, const void *src,
                                       size_t spitch, size_t width,
                                       size_t rows);

    /* Completes requests; returns how many. Never blocks. */
    unsigned (*progress)(struct cx_gpu *gpu);

    /* Give up a copy: waits until the driver no longer touches its memory. */
    void (*cancel)(struct cx_gpu *gpu, struct cx_req *req);

    /* Host memory for staging, pinned in `mem->ctx` where that works (else
     * plain: still correct). Lent to the caller until pinned_free, after which
     * the next call of the same size or less gets it at no cost; usable only
     * while `ctx` and `ctx_id` of what is copied are those of `mem`. */
    CX_MUST enum cx_status (*pinned_alloc)(struct cx_gpu *gpu,
                                           const struct cx_mem *mem,
                                           size_t nbytes, void **out);
    void (*pinned_free)(struct cx_gpu *gpu, void *ptr);

    void (*counters)(struct cx_gpu *gpu, struct cx_gpu_counters *out);
};

#endif
