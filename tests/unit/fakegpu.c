/* SPDX-License-Identifier: BSD-3-Clause */
/* fakegpu.c - the fake GPU of the tests: a memfd mapped twice, once without any
 * access at the addresses that programs see. */
#include "fakegpu.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "unit.h"

#define MAX_BUFFERS 16
#define MAX_COPIES 256
#define MAX_STAGING 64
#define BUFFER_ALIGN 256

struct buffer {
    char *addr;
    size_t nbytes;
    struct cx_mem mem;
    int fenced;
};

/* What pinned_alloc gave out. */
struct staging {
    char *addr; /* NULL: free */
    size_t nbytes;
    void *ctx;
    uint64_t ctx_id;
    int idle; /* given back */
};

struct copy {
    char *dst;
    const char *src; /* both where the CPU may touch them */
    size_t dpitch, spitch, width, rows;
    struct cx_req *req;
    int delay;
    int fails;
};

struct queue {
    struct copy copies[MAX_COPIES];
    unsigned head, n;
};

struct cx_gpu {
    char *seen, *real; /* the program's mapping and ours */
    size_t nbytes, used;
    struct buffer buffers[MAX_BUFFERS];
    int nbuffers, fences, max_delay, fail_next;
    uint64_t next_id;
    struct queue queues[2]; /* to device, to host */
    struct rng rng;
    struct cx_gpu_counters counters;
    int contexts[4]; /* only their addresses count */
    uint64_t context_ids[4];
    struct staging staging[MAX_STAGING];
};

static struct buffer *find(struct cx_gpu *gpu, const void *addr, size_t nbytes)
{
    const char *first = addr;

    for (int i = 0; i < gpu->nbuffers; i++) {
        struct buffer *buf = &gpu->buffers[i];

        if (first >= buf->addr && first + nbytes <= buf->addr + buf->nbytes)
            return buf;
    }
    return NULL;
}

static int is_staging(const struct cx_gpu *gpu, const struct cx_mem *mem,
                      const char *addr, size_t nbytes)
{
    for (int i = 0; i < MAX_STAGING; i++) {
        const struct staging *at = &gpu->staging[i];

        if (at->addr && !at->idle && addr >= at->addr &&
            addr + nbytes <= at->addr + at->nbytes)
            return at->ctx == mem->ctx && at->ctx_id == mem->ctx_id;
    }
    return 0;
}

static enum cx_status gpu_query(struct cx_gpu *gpu, const void *addr,
                                size_t nbytes, struct cx_mem *out)
{
    const struct buffer *buf = find(gpu, addr, nbytes);

    memset(out, 0, sizeof(*out));
    out->device = -1;
    if (buf)
        *out = buf->mem;
    return CX_OK;
}

static enum cx_status gpu_fence(struct cx_gpu *gpu, const struct cx_mem *mem)
{
    for (int i = 0; i < gpu->nbuffers; i++)
        if (gpu->buffers[i].mem.buffer_id == mem->buffer_id)
            gpu->buffers[i].fenced = 1;
    gpu->fences++;
    return CX_OK;
}

static void rubbish(const struct copy *copy)
{
    for (size_t i = 0; i < copy->rows; i++)
        memset(copy->dst + i * copy->dpitch, 0xdd, copy->width);
}

static void gpu_copy2d(struct cx_gpu *gpu, const struct cx_mem *mem,
                       int to_host, void *dst, size_t dpitch, const void *src,
                       size_t spitch, size_t width, size_t rows,
                       struct cx_req *req)
{
    struct queue *queue = &gpu->queues[to_host];
    struct copy *copy = &queue->copies[(queue->head + queue->n) % MAX_COPIES];
    const void *device = to_host ? src : dst;
    size_t pitch = to_host ? spitch : dpitch;
    size_t host_pitch = to_host ? dpitch : spitch;
    struct buffer *buf = find(gpu, device, (rows - 1) * pitch + width);

    CHECK(width > 0 && rows > 0, "%zu bytes, %zu rows", width, rows);
    CHECK(buf && buf->mem.buffer_id == mem->buffer_id, "a copy of %zu bytes",
          width);
    CHECK(is_staging(gpu, mem, to_host ? dst : src,
                     (rows - 1) * host_pitch + width),
          "a copy of %zu bytes", width);
    CHECK(buf->fenced, "buffer %d", (int)(buf - gpu->buffers));
    CHECK(queue->n < MAX_COPIES, "%u copies", queue->n);
    queue->n++;
    copy->dst = to_host ? dst : fakegpu_peek(gpu, dst);
    copy->src = to_host ? gpu->real + ((const char *)src - gpu->seen) : src;
    copy->dpitch = dpitch;
    copy->spitch = spitch;
    copy->width = width;
    copy->rows = rows;
    copy->req = req;
    copy->fails = gpu->fail_next;
    copy->delay = (int)rng_below(&gpu->rng, (uint32_t)gpu->max_delay + 1);
    gpu->fail_next = 0;
    req->status = CX_INPROGRESS;
    rubbish(copy);
    if (to_host) {
        gpu->counters.d2h++;
        gpu->counters.d2h_bytes += width * rows;
    } else {
        gpu->counters.h2d++;
        gpu->counters.h2d_bytes += width * rows;
    }
}

static void gpu_copy(struct cx_gpu *gpu, const struct cx_mem *mem, int to_host,
                     void *dst, const void *src, size_t nbytes,
                     struct cx_req *req)
{
    gpu_copy2d(gpu, mem, to_host, dst, nbytes, src, nbytes, nbytes, 1, req);
}

static unsigned progress_queue(struct queue *queue)
{
    unsigned n = 0;

    while (queue->n) {
        struct copy *copy = &queue->copies[queue->head];

        if (copy->delay-- > 0)
            break;
        for (size_t i = 0; i < copy->rows && !copy->fails; i++)
            memcpy(copy->dst + i * copy->dpitch, copy->src + i * copy->spitch,
                   copy->width);
        if (copy->req)
            copy->req->status = copy->fails ? CX_ERR_GPU : CX_OK;
        queue->head = (queue->head + 1) % MAX_COPIES;
        queue->n--;
        n++;
    }
    return n;
}

static unsigned gpu_progress(struct cx_gpu *gpu)
{
    return progress_queue(&gpu->queues[0]) + progress_queue(&gpu->queues[1]);
}

static void gpu_cancel(struct cx_gpu *gpu, struct cx_req *req)
{
    for (int k = 0; k < 2; k++) {
        struct queue *queue = &gpu->queues[k];

        for (unsigned i = 0; i < queue->n; i++) {
            struct copy *copy = &queue->copies[(queue->head + i) % MAX_COPIES];

            if (copy->req != req)
                continue;
            copy->req = NULL;
            copy->rows = 0;
        }
    }
}

/* The smallest idle block that will do, as in src/cuda; or NULL. */
static struct staging *find_idle(struct cx_gpu *gpu, const struct cx_mem *mem,
                                 size_t nbytes)
{
    struct staging *best = NULL;

    for (int i = 0; i < MAX_STAGING; i++) {
        struct staging *at = &gpu->staging[i];

        if (at->addr && at->idle && at->nbytes >= nbytes &&
            at->ctx == mem->ctx && at->ctx_id == mem->ctx_id &&
            (!best || at->nbytes < best->nbytes))
            best = at;
    }
    return best;
}

/* From cx_alloc, so that tests can make it fail and count it. */
static enum cx_status gpu_pinned_alloc(struct cx_gpu *gpu,
                                       const struct cx_mem *mem, size_t nbytes,
                                       void **out)
{
    struct staging *at = find_idle(gpu, mem, nbytes);
    void *fresh;
    int i = 0;

    CHECK(cx_mem_on_gpu(mem), "kind %d", mem->kind);
    if (!at) {
        fresh = cx_alloc(nbytes, 1);
        if (!fresh)
            return CX_ERR_NOMEM;
        while (i < MAX_STAGING && gpu->staging[i].addr)
            i++;
        CHECK(i < MAX_STAGING, "%d blocks", i);
        at = &gpu->staging[i];
        *at = (struct staging){fresh, nbytes, mem->ctx, mem->ctx_id, 0};
    }
    at->idle = 0;
    *out = at->addr;
    return CX_OK;
}

static void gpu_pinned_free(struct cx_gpu *gpu, void *ptr)
{
    for (int i = 0; i < MAX_STAGING; i++)
        if (ptr && gpu->staging[i].addr == ptr)
            gpu->staging[i].idle = 1;
}

void fakegpu_drop_idle(struct cx_gpu *gpu)
{
    for (int i = 0; i < MAX_STAGING; i++) {
        struct staging *at = &gpu->staging[i];

        if (!at->addr || !at->idle)
            continue;
        cx_free(at->addr);
        at->addr = NULL;
    }
}

int fakegpu_lent(const struct cx_gpu *gpu)
{
    int n = 0;

    for (int i = 0; i < MAX_STAGING; i++)
        n += gpu->staging[i].addr && !gpu->staging[i].idle;
    return n;
}

static void gpu_counters(struct cx_gpu *gpu, struct cx_gpu_counters *out)
{
    *out = gpu->counters;
}

const struct cx_gpu_ops fakegpu_ops = {
    .query = gpu_query,
    .fence = gpu_fence,
    .copy = gpu_copy,
    .copy2d = gpu_copy2d,
    .progress = gpu_progress,
    .cancel = gpu_cancel,
    .pinned_alloc = gpu_pinned_alloc,
    .pinned_free = gpu_pinned_free,
    .counters = gpu_counters,
};

struct cx_gpu *fakegpu_create(size_t nbytes)
{
    struct cx_gpu *gpu = must_alloc(sizeof(*gpu));
    int fd = memfd_create("fakegpu", 0);

    CHECK(fd >= 0 && ftruncate(fd, (off_t)nbytes) == 0, "%zu bytes", nbytes);
    gpu->nbytes = nbytes;
    gpu->seen = mmap(NULL, nbytes, PROT_NONE, MAP_SHARED, fd, 0);
    gpu->real = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(gpu->seen != MAP_FAILED && gpu->real != MAP_FAILED, "%zu bytes",
          nbytes);
    close(fd);
    return gpu;
}

void fakegpu_destroy(struct cx_gpu *gpu)
{
    fakegpu_drop_idle(gpu);
    munmap(gpu->seen, gpu->nbytes);
    munmap(gpu->real, gpu->nbytes);
    free(gpu);
}

void fakegpu_configure(struct cx_gpu *gpu, uint64_t seed, int max_delay)
{
    gpu->rng.state = seed;
    gpu->max_delay = max_delay;
}

void *fakegpu_alloc(struct cx_gpu *gpu, size_t nbytes, enum cx_mem_kind kind,
                    int device, struct cx_mem *mem)
{
    size_t room = (nbytes + BUFFER_ALIGN) / BUFFER_ALIGN * BUFFER_ALIGN;
    struct buffer *buf = &gpu->buffers[gpu->nbuffers++];

    CHECK(gpu->nbuffers <= MAX_BUFFERS, "%d buffers", gpu->nbuffers);
    CHECK(room <= gpu->nbytes - gpu->used, "%zu bytes", nbytes);
    buf->addr = gpu->seen + gpu->used;
    buf->nbytes = nbytes;
    buf->fenced = 0;
    buf->mem.kind = kind;
    buf->mem.device = device;
    buf->mem.ctx = &gpu->contexts[device];
    buf->mem.ctx_id = gpu->context_ids[device];
    buf->mem.buffer_id = ++gpu->next_id;
    gpu->used += room;
    *mem = buf->mem;
    return buf->addr;
}

void fakegpu_reset(struct cx_gpu *gpu)
{
    gpu->used = 0;
    gpu->nbuffers = 0;
    gpu->fences = 0;
    memset(&gpu->counters, 0, sizeof(gpu->counters));
}

void fakegpu_reset_device(struct cx_gpu *gpu, int device)
{
    gpu->context_ids[device]++;
}

char *fakegpu_peek(struct cx_gpu *gpu, void *addr)
{
    return gpu->real + ((char *)addr - gpu->seen);
}

int fakegpu_fences(const struct cx_gpu *gpu)
{
    return gpu->fences;
}

int fakegpu_pending(const struct cx_gpu *gpu)
{
    return (int)(gpu->queues[0].n + gpu->queues[1].n);
}

void fakegpu_fail_next(struct cx_gpu *gpu)
{
    gpu->fail_next = 1;
}
