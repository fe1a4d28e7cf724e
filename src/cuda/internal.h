/* SPDX-License-Identifier: BSD-3-Clause */
/* internal.h - what the files of this folder share. */
#ifndef CX_CUDA_INTERNAL_H
#define CX_CUDA_INTERNAL_H

#include "cuda/cuda_gpu.h"

#include <cuda.h>
#include <stdint.h>

/* The driver's functions; each member has the exported name. */
struct driver {
#define CX_CUDA_FN(name) __typeof__(name) *name;
#define CX_CUDA_OPT(name) __typeof__(name) *name;
#include "cuda/driver.def"
#undef CX_CUDA_FN
#undef CX_CUDA_OPT
};

/* One copy under way: its request, and the event behind it on its stream. */
struct node {
    struct node *next;
    struct cx_req *req; /* borrowed */
    CUevent event;      /* owned */
    struct context *ctx;
};

enum direction { TO_DEVICE, TO_HOST, NDIRECTIONS };

/* Copies of one stream in the order started: the head ends first. */
struct queue {
    struct node *head, *tail;
};

/* What we keep in a CUDA context that the program uses. */
struct context {
    struct context *next;
    CUcontext cu;
    unsigned long long id; /* 0 where the driver does not tell */
    CUdevice device;
    unsigned long fence; /* the last one that covered this context */
    CUstream stream[NDIRECTIONS];
    CUevent mark[2]; /* for fences: legacy and per-thread default stream */
    struct queue queue[NDIRECTIONS];
    struct node *free; /* chain of nodes with an event */
};

/* A primary context that we hold for memory that names no context. */
struct primary {
    struct primary *next;
    CUdevice device;
    CUcontext cu;
    unsigned long long id;
};

struct pinned {
    struct pinned *next;
    void *ptr;
    size_t nbytes;
    CUcontext cu; /* that it is for, and its number */
    uint64_t ctx_id;
    int plain; /* the driver gave none */
    int gone;  /* with its context */
    int idle;  /* given back, kept for the next who asks */
};

struct cx_gpu {
    const struct driver *driver; /* NULL until the program has loaded it */
    enum cx_sync sync;
    unsigned forks;           /* as counted where this was created */
    struct context *contexts; /* owned, like the two below */
    struct primary *primaries;
    struct pinned *pinned;
    size_t pinned_most;    /* bytes lent at once so far */
    unsigned long pending; /* copies under way */
    unsigned long fences;  /* so far; numbers them */
    int told_capture;      /* that work could not be waited for: said once */
    uint64_t losses;       /* contexts found to be gone */
    struct cx_gpu_counters count;
};

/* Work in a context of the program: entered, left, nothing to be seen of it. */
struct visit {
    const struct driver *cu;
    CUstreamCaptureMode mode; /* the caller's */
    int relaxed;              /* it was changed, and is to be put back */
};

/* loader.c */
/* The loaded driver's table, or NULL. */
const struct driver *cx_cuda_driver(void);
/* The same for this gpu: also NULL in a forked child. */
const struct driver *cx_cuda_ready(struct cx_gpu *gpu);
/* Is there a driver that lacks what is needed? Logged when it was found. */
int cx_cuda_unusable(void);
/* How many forks lie between this process and the one that first asked. */
unsigned cx_cuda_forks(void);
/* Logs "<call> failed: <text>"; always CX_ERR_GPU. */
enum cx_status cx_cuda_fail(const struct driver *cu, const char *call,
                            CUresult res);
/* Does the error say that the context or the driver is no longer there? */
int cx_cuda_gone(CUresult res);
unsigned long long cx_cuda_ctx_id(const struct driver *cu, CUcontext ctx);

/* context.c */
CUresult cx_cuda_enter(const struct driver *cu, CUcontext ctx,
                       struct visit *visit);
void cx_cuda_leave(const struct visit *visit);
/* Our state in `mem->ctx`, made at the first use. On success the context has
 * been entered. Errors have been logged. */
CX_MUST enum cx_status cx_cuda_visit(struct cx_gpu *gpu,
                                     const struct cx_mem *mem,
                                     struct context **out, struct visit *visit);
/* The context's things are gone: frees what is ours, ends its copies with
 * `status`, and its pinned memory is gone too; unless that is CX_INPROGRESS:
 * then the copies are only forgotten. */
void cx_cuda_context_drop(struct cx_gpu *gpu, struct context *ctx,
                          enum cx_status status);
/* For struct cx_mem.ctx_id: the driver's number of the context, or one that
 * changes when a context with things of ours is found to be gone. */
uint64_t cx_cuda_ctx_life(struct cx_gpu *gpu, CUcontext ctx);
/* Frees memory of cuMemHostAlloc where its context has not taken it along. */
void cx_cuda_host_free(struct cx_gpu *gpu, const struct pinned *pinned);
/* Waits for our copies and gives everything back, where it still exists. */
void cx_cuda_contexts_destroy(struct cx_gpu *gpu);
/* The primary context of a device that the program has in use, or NULL;
 * `make`: also where nobody has it in use yet. */
CUcontext cx_cuda_primary(struct cx_gpu *gpu, int ordinal, int make);
/* A context to work in on this device's memory that names none: the primary
 * one, the caller's, another one known here; only where there is none at all a
 * new primary one. NULL when the driver refuses. */
CUcontext cx_cuda_any_context(struct cx_gpu *gpu, int ordinal);
/* The calling thread's current context, or NULL. */
CUcontext cx_cuda_current(const struct driver *cu);
void cx_cuda_primaries_release(struct cx_gpu *gpu);

/* query.c, fence.c, copy.c, pinned.c: base/gpu.h says what they do */
CX_MUST enum cx_status cx_cuda_query(struct cx_gpu *gpu, const void *addr,
                                     size_t nbytes, struct cx_mem *out);
CX_MUST enum cx_status cx_cuda_piece(struct cx_gpu *gpu, const void *addr,
                                     size_t nbytes, struct cx_mem *out,
                                     size_t *n);
CX_MUST enum cx_status cx_cuda_settle(struct cx_gpu *gpu,
                                      const struct cx_mem *mem);
CX_MUST enum cx_status cx_cuda_fence(struct cx_gpu *gpu,
                                     const struct cx_mem *mem);
void cx_cuda_copy(struct cx_gpu *gpu, const struct cx_mem *mem, int to_host,
                  void *dst, const void *src, size_t nbytes,
                  struct cx_req *req);
void cx_cuda_copy2d(struct cx_gpu *gpu, const struct cx_mem *mem, int to_host,
                    void *dst, size_t dpitch, const void *src, size_t spitch,
                    size_t width, size_t rows, struct cx_req *req);
CX_MUST enum cx_status cx_cuda_copy_now(struct cx_gpu *gpu,
                                        const struct cx_mem *mem, void *dst,
                                        size_t dpitch, const void *src,
                                        size_t spitch, size_t width,
                                        size_t rows);
unsigned cx_cuda_progress(struct cx_gpu *gpu);
void cx_cuda_cancel(struct cx_gpu *gpu, struct cx_req *req);
CX_MUST enum cx_status cx_cuda_pinned_alloc(struct cx_gpu *gpu,
                                            const struct cx_mem *mem,
                                            size_t nbytes, void **out);
void cx_cuda_pinned_free(struct cx_gpu *gpu, void *ptr);
/* All of it, also what is still in use. */
void cx_cuda_pinned_destroy(struct cx_gpu *gpu);

#endif
