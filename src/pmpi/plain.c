/* SPDX-License-Identifier: BSD-3-Clause */
/* plain.c - memory services on a rank whose engine is missing, so that its
 * device buffers still reach MPI instead of crashing it.
 *
 * Asks the driver that the program has loaded, by name, and keeps nothing: each
 * copy makes a stream, waits as the engine would and ends when all is done. It
 * is slow and says nothing: that the engine is missing has been said. A driver
 * that lacks one of these functions has no GPU memory to offer. */
#include "pmpi/front.h"

#include <dlfcn.h>
#include <string.h>

#include "base/log.h"

/* Of the driver API, by value: CUresult, pointers and handles as the ABI passes
 * them. */
typedef unsigned long long address_t;

static struct {
    int (*cuPointerGetAttributes)(unsigned, const int *, void **, address_t);
    int (*cuCtxPushCurrent_v2)(void *);
    int (*cuCtxPopCurrent_v2)(void **);
    int (*cuCtxGetCurrent)(void **);
    int (*cuCtxSynchronize)(void);
    int (*cuDeviceGetCount)(int *);
    int (*cuDeviceGet)(int *, int);
    int (*cuDevicePrimaryCtxGetState)(int, unsigned *, int *);
    int (*cuDevicePrimaryCtxRetain)(void **, int);
    int (*cuDevicePrimaryCtxRelease_v2)(int);
    int (*cuStreamCreate)(void **, unsigned);
    int (*cuStreamDestroy_v2)(void *);
    int (*cuStreamSynchronize)(void *);
    int (*cuStreamIsCapturing)(void *, int *);
    int (*cuThreadExchangeStreamCaptureMode)(int *);
    int (*cuMemcpyHtoDAsync_v2)(address_t, const void *, size_t, void *);
    int (*cuMemcpyDtoHAsync_v2)(void *, address_t, size_t, void *);
} cu;

#define NAME(name)                                                             \
    {                                                                          \
#name, offsetof(__typeof__(cu), name)                                  \
    }

static const struct {
    const char *name;
    size_t at; /* in cu */
} symbols[] = {
    NAME(cuPointerGetAttributes),
    NAME(cuCtxPushCurrent_v2),
    NAME(cuCtxPopCurrent_v2),
    NAME(cuCtxGetCurrent),
    NAME(cuCtxSynchronize),
    NAME(cuDeviceGetCount),
    NAME(cuDeviceGet),
    NAME(cuDevicePrimaryCtxGetState),
    NAME(cuDevicePrimaryCtxRetain),
    NAME(cuDevicePrimaryCtxRelease_v2),
    NAME(cuStreamCreate),
    NAME(cuStreamDestroy_v2),
    NAME(cuStreamSynchronize),
    NAME(cuStreamIsCapturing),
    NAME(cuThreadExchangeStreamCaptureMode),
    NAME(cuMemcpyHtoDAsync_v2),
    NAME(cuMemcpyDtoHAsync_v2),
};

enum {
    CONTEXT = 1, /* CUpointer_attribute */
    MEMORY_TYPE = 2,
    BUFFER_ID = 7,
    IS_MANAGED = 8,
    DEVICE_ORDINAL = 9,
    RANGE_START = 11,
    RANGE_SIZE = 12,
    MEMPOOL_HANDLE = 17,
    TYPE_DEVICE = 2,
    NON_BLOCKING = 1, /* stream flag */
    RELAXED = 2       /* capture mode */
};

#define LEGACY ((void *)1)
#define PER_THREAD ((void *)2)
#define PAGE ((uintptr_t)4096)

static int have_driver(void)
{
    static _Atomic int state; /* 1: found, -1: not usable */
    void *library, *found;

    if (atomic_load_explicit(&state, memory_order_acquire) != 0)
        return atomic_load(&state) > 0;
    library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return 0;
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        found = dlsym(library, symbols[i].name);
        if (found == NULL) {
            atomic_store(&state, -1);
            return 0;
        }
        memcpy((char *)&cu + symbols[i].at, &found, sizeof(found));
    }
    atomic_store_explicit(&state, 1, memory_order_release);
    return 1;
}

/* Two 64-bit attributes; zeros where the driver has none. */
static void ask_two(uintptr_t addr, int one, int two, uint64_t out[2])
{
    const int attributes[] = {one, two};
    void *data[] = {&out[0], &out[1]};

    out[0] = out[1] = 0;
    if (cu.cuPointerGetAttributes(2, attributes, data, addr) != 0)
        out[0] = out[1] = 0;
}

static void ask(uintptr_t addr, struct cx_mem *out)
{
    static const int attributes[] = {MEMORY_TYPE, IS_MANAGED, CONTEXT,
                                     DEVICE_ORDINAL, BUFFER_ID};
    unsigned type = 0, managed = 0;
    unsigned long long id = 0;
    void *ctx = NULL;
    int device = -1;
    void *data[] = {&type, &managed, &ctx, &device, &id};

    *out = (struct cx_mem){.kind = CX_MEM_HOST, .device = -1};
    if (cu.cuPointerGetAttributes(5, attributes, data, addr) != 0 ||
        (type != TYPE_DEVICE && managed == 0))
        return;
    out->kind = managed != 0 ? CX_MEM_MANAGED : CX_MEM_DEVICE;
    out->device = device;
    out->ctx = ctx;
    out->loose = ctx == NULL;
    out->buffer_id = id;
}

enum cx_status cx_plain_query(const void *addr, size_t nbytes,
                              struct cx_mem *out)
{
    uintptr_t first = (uintptr_t)addr, end = first + nbytes - 1;
    struct cx_mem last;

    *out = (struct cx_mem){.kind = CX_MEM_HOST, .device = -1};
    if (nbytes == 0 || !have_driver())
        return CX_OK;
    ask(first, out);
    if (nbytes == 1 || (!cx_mem_on_gpu(out) && first / PAGE == end / PAGE))
        return CX_OK;
    ask(end, &last);
    if (!cx_mem_on_gpu(out) && !cx_mem_on_gpu(&last))
        return CX_OK;
    if (out->kind != last.kind || out->ctx != last.ctx || out->buffer_id == 0 ||
        out->buffer_id != last.buffer_id)
        *out = (struct cx_mem){.kind = CX_MEM_MIXED, .device = -1};
    return CX_OK;
}

enum cx_status cx_plain_piece(const void *addr, size_t nbytes,
                              struct cx_mem *out, size_t *n)
{
    uintptr_t at = (uintptr_t)addr, end;
    uint64_t range[2] = {0, 0}, pool[2] = {0, 0};

    *out = (struct cx_mem){.kind = CX_MEM_HOST, .device = -1};
    *n = nbytes;
    if (!have_driver())
        return CX_OK;
    ask(at, out);
    if (cx_mem_on_gpu(out)) {
        if (out->loose)
            ask_two(at, MEMPOOL_HANDLE, MEMPOOL_HANDLE, pool);
        if (!out->loose || pool[0] != 0)
            ask_two(at, RANGE_START, RANGE_SIZE, range);
    }
    end = (at | (CX_MEM_BLOCK - 1)) + 1;
    if (at >= range[0] && at - range[0] < range[1])
        end = (uintptr_t)(range[0] + range[1]);
    if (end - at < nbytes)
        *n = end - at;
    return CX_OK;
}

/* --- copies, in the context -------------------------------------------------
 */

/* What the program has queued in the current context; not while its streams
 * capture a graph, which any use of them would break. */
static int wait_here(void)
{
    static void *const streams[] = {LEGACY, PER_THREAD};
    int capturing, rc = 0;

    if (cx_front.settings.sync == CX_SYNC_DEVICE)
        return cu.cuStreamIsCapturing(LEGACY, &capturing) == 0
                   ? cu.cuCtxSynchronize()
                   : 0;
    for (int i = 0; i < 2 && rc == 0; i++) {
        capturing = 0;
        if (cu.cuStreamIsCapturing(streams[i], &capturing) == 0 &&
            capturing == 0)
            rc = cu.cuStreamSynchronize(streams[i]);
    }
    return rc;
}

static int wait_in(void *ctx)
{
    void *popped;
    int rc = cu.cuCtxPushCurrent_v2(ctx);

    if (rc != 0)
        return rc;
    rc = wait_here();
    cu.cuCtxPopCurrent_v2(&popped);
    return rc;
}

/* The primary context of a device, where the program has it active. */
static void *hold_primary(int ordinal, int *device)
{
    unsigned flags;
    void *ctx = NULL;
    int active = 0;

    if (cu.cuDeviceGet(device, ordinal) != 0 ||
        cu.cuDevicePrimaryCtxGetState(*device, &flags, &active) != 0 ||
        !active || cu.cuDevicePrimaryCtxRetain(&ctx, *device) != 0)
        return NULL;
    return ctx;
}

/* The contexts of src/cuda/fence.c, as far as they can be found here: the
 * memory's is current, `caller` is the one before it. */
static int wait_for_program(const struct cx_mem *mem, void *caller)
{
    int n = 0, device, rc;
    void *ctx;

    if (cx_front.settings.sync == CX_SYNC_NONE)
        return 0;
    rc = wait_here();
    if (rc == 0 && caller != NULL)
        rc = wait_in(caller);
    if ((mem->kind != CX_MEM_MANAGED && !mem->loose) ||
        cu.cuDeviceGetCount(&n) != 0)
        return rc;
    for (int i = 0; i < n && rc == 0; i++) {
        ctx = hold_primary(i, &device);
        if (ctx == NULL)
            continue;
        rc = wait_in(ctx);
        cu.cuDevicePrimaryCtxRelease_v2(device);
    }
    return rc;
}

struct job {
    int to_host;
    char *dst;
    const char *src;
    size_t dpitch, spitch, width, rows;
};

static int copy_rows(const struct job *job, void *stream)
{
    int rc = 0;

    for (size_t row = 0; row < job->rows && rc == 0; row++) {
        char *dst = job->dst + row * job->dpitch;
        const char *src = job->src + row * job->spitch;

        rc = job->to_host ? cu.cuMemcpyDtoHAsync_v2(dst, (uintptr_t)src,
                                                    job->width, stream)
                          : cu.cuMemcpyHtoDAsync_v2((uintptr_t)dst, src,
                                                    job->width, stream);
    }
    return rc;
}

static int copy_now(const struct job *job)
{
    void *stream;
    int rc = cu.cuStreamCreate(&stream, NON_BLOCKING), ended;

    if (rc != 0)
        return rc;
    rc = copy_rows(job, stream);
    ended = cu.cuStreamSynchronize(stream);
    cu.cuStreamDestroy_v2(stream);
    return rc != 0 ? rc : ended;
}

/* In relaxed capture mode. Memory that names no context is copied in the
 * primary one, held until the copy has ended; else the current one must do. */
static int copy_in_context(const struct cx_mem *mem, const struct job *job)
{
    void *caller = NULL, *ctx = mem->ctx, *primary = NULL, *popped;
    int device, rc;

    if (cu.cuCtxGetCurrent(&caller) != 0)
        caller = NULL;
    if (ctx == NULL)
        ctx = primary = hold_primary(mem->device, &device);
    rc = ctx != NULL ? cu.cuCtxPushCurrent_v2(ctx) : 0;
    if (rc == 0) {
        rc = wait_for_program(mem, caller);
        if (rc == 0)
            rc = copy_now(job);
        if (ctx != NULL)
            cu.cuCtxPopCurrent_v2(&popped);
    }
    if (primary != NULL)
        cu.cuDevicePrimaryCtxRelease_v2(device);
    return rc;
}

enum cx_status cx_plain_copy2d(const struct cx_mem *mem, int to_host, void *dst,
                               size_t dpitch, const void *src, size_t spitch,
                               size_t width, size_t rows)
{
    const struct job job = {to_host, dst, src, dpitch, spitch, width, rows};
    int mode = RELAXED, rc;
    int relaxed = cu.cuThreadExchangeStreamCaptureMode(&mode) == 0;

    rc = copy_in_context(mem, &job);
    if (relaxed)
        cu.cuThreadExchangeStreamCaptureMode(&mode);
    if (rc == 0)
        return CX_OK;
    cx_error("copying a buffer on a GPU failed: CUDA error %d", rc);
    return CX_ERR_GPU;
}
