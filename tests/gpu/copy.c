/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.c - copies in both directions, flat and in rows; cancel; staging
 * memory; contexts that end before we do. Run with 2 devices. */
#include "gpu_test.h"

enum { N = 1 << 20, GUARD = 0x5a };

static struct cx_gpu *gpu;
static CUcontext ctx0;
static char *src, *dst, *dev;
static void *pinned_dst; /* copies to plain memory end before they return */

static void sizes(void)
{
    static const size_t bytes[] = {0, 1, 3, 4096, 65537, N};
    struct cx_mem mem = query(gpu, dev, N);

    for (unsigned i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
        size_t n = bytes[i];

        fill(src, N, i);
        memset(dst, GUARD, N + 64);
        copy(gpu, &mem, 0, dev, src, n);
        copy(gpu, &mem, 1, dst, dev, n);
        CHECK(!memcmp(src, dst, n));
        CHECK(all_are(dst + n, N + 64 - n, GUARD));
    }
}

/* Copies of one direction end in the order started; both may be under way. */
static void order(void)
{
    enum { M = 16, B = N / M };
    struct cx_mem mem = query(gpu, dev, N);
    struct cx_req down[M], up[M];
    char *out = pinned_dst;
    int ended = 0;

    fill(src, N, 9);
    memset(out, GUARD, N);
    for (int i = 0; i < M; i++)
        OPS->copy(gpu, &mem, 0, dev + i * B, src + i * B, B, &down[i]);
    CHECK(finish(gpu, &down[M - 1]) == CX_OK);
    for (int i = 0; i < M; i++)
        CHECK(down[i].status == CX_OK);
    app.sim->set_delay_us(2000);
    for (int i = 0; i < M; i++)
        OPS->copy(gpu, &mem, 1, out + i * B, dev + i * B, B, &up[i]);
    CHECK(up[M - 1].status == CX_INPROGRESS);
    while (ended < M) {
        OPS->progress(gpu);
        while (ended < M && up[ended].status == CX_OK)
            ended++;
        for (int i = ended; i < M; i++)
            CHECK(up[i].status == CX_INPROGRESS);
    }
    app.sim->set_delay_us(0);
    CHECK(!memcmp(src, out, N));
    CHECK(OPS->progress(gpu) == 0);
}

static void rows(size_t dpitch, size_t spitch, size_t width, size_t n)
{
    struct cx_mem mem = query(gpu, dev, N);
    struct cx_req req;

    fill(src, N, (unsigned)width);
    memset(dst, GUARD, N);
    device_write(dev, dst, N); /* guards in the device's gaps as well */
    OPS->copy2d(gpu, &mem, 0, dev, dpitch, src, spitch, width, n, &req);
    CHECK(finish(gpu, &req) == CX_OK);
    device_read(dst, dev, N);
    for (size_t r = 0; r < n; r++) {
        CHECK(!memcmp(dst + r * dpitch, src + r * spitch, width));
        if (r + 1 < n)
            CHECK(all_are(dst + r * dpitch + width, dpitch - width, GUARD));
    }
    CHECK(n == 0 || all_are(dst + (n - 1) * dpitch + width, 64, GUARD));

    memset(dst, GUARD, N);
    OPS->copy2d(gpu, &mem, 1, dst, spitch, dev, dpitch, width, n, &req);
    CHECK(finish(gpu, &req) == CX_OK);
    for (size_t r = 0; r < n; r++) {
        CHECK(!memcmp(dst + r * spitch, src + r * spitch, width));
        if (r + 1 < n)
            CHECK(all_are(dst + r * spitch + width, spitch - width, GUARD));
    }
}

static void two_dimensions(void)
{
    uint64_t before = app.sim->counters->copies_2d;

    rows(100, 200, 37, 50);
    CHECK(app.sim->counters->copies_2d == before + 2);
    rows(64, 64, 64, 100); /* has no gaps: one flat copy */
    rows(1000, 8, 8, 1);
    rows(10, 10, 3, 0);
    rows(10, 10, 0, 3);
    CHECK(app.sim->counters->copies_2d == before + 2);
}

static void counters(void)
{
    struct cx_mem mem = query(gpu, dev, N);
    struct cx_gpu_counters a, b;
    struct cx_req req;

    OPS->counters(gpu, &a);
    copy(gpu, &mem, 0, dev, src, 100);
    copy(gpu, &mem, 1, dst, dev, 30);
    OPS->copy2d(gpu, &mem, 1, dst, 50, dev, 60, 10, 7, &req);
    CHECK(finish(gpu, &req) == CX_OK);
    OPS->counters(gpu, &b);
    CHECK(b.h2d == a.h2d + 1 && b.h2d_bytes == a.h2d_bytes + 100);
    CHECK(b.d2h == a.d2h + 2 && b.d2h_bytes == a.d2h_bytes + 100);
}

/* After cancel the copy touches nothing any more. */
static void cancel(void)
{
    struct cx_mem mem = query(gpu, dev, N);
    struct cx_req req[3];
    char *out = pinned_dst;

    app.sim->set_delay_us(20000);
    for (int i = 0; i < 3; i++)
        OPS->copy(gpu, &mem, 1, out + i * 100, dev, 100, &req[i]);
    CHECK(req[1].status == CX_INPROGRESS);
    OPS->cancel(gpu, &req[1]);
    CHECK(req[0].status == CX_OK && req[1].status == CX_OK);
    memset(out, GUARD, 200);
    CHECK(finish(gpu, &req[2]) == CX_OK);
    CHECK(all_are(out, 200, GUARD));
    OPS->cancel(gpu, &req[2]);
    CHECK(req[2].status == CX_OK);
    app.sim->set_delay_us(0);
}

static void staging(void)
{
    struct cx_mem mem = query(gpu, dev, N);
    void *a, *b, *c;

    CHECK(OPS->pinned_alloc(gpu, &mem, N, &a) == CX_OK);
    CHECK(query(gpu, a, N).kind == CX_MEM_PINNED);
    copy(gpu, &mem, 0, dev, src, N);
    copy(gpu, &mem, 1, a, dev, N);
    CHECK(!memcmp(a, src, N));
    CHECK(!app.sim->set_faults("cuMemHostAlloc:1=2"));
    CHECK(OPS->pinned_alloc(gpu, &mem, N, &b) == CX_OK);
    CHECK(!app.sim->set_faults(NULL));
    CHECK(query(gpu, b, N).kind == CX_MEM_HOST);
    copy(gpu, &mem, 1, b, dev, N);
    CHECK(!memcmp(b, src, N));
    CHECK(OPS->pinned_alloc(gpu, &mem, 1, &c) == CX_OK);
    OPS->pinned_free(gpu, b);
    OPS->pinned_free(gpu, a);
    OPS->pinned_free(gpu, NULL);
    OPS->pinned_free(gpu, c);
}

/* A block that is given back is kept for the next who asks for as much or less
 * in the same context, since pinning takes long and freeing waits for the
 * device. Nothing is left after the end. */
static void keeping(void)
{
    struct cx_mem mem = query(gpu, dev, N), other = mem;
    struct cx_gpu *own = gpu_new();
    uint64_t frees = calls("cuMemFreeHost"), allocs = calls("cuMemHostAlloc");
    void *many[20], *again;

    other.ctx_id++;
    for (int i = 0; i < 20; i++)
        CHECK(OPS->pinned_alloc(own, &mem, N, &many[i]) == CX_OK);
    CHECK(calls("cuMemHostAlloc") == allocs + 20);
    OPS->pinned_free(own, many[0]);
    CHECK(OPS->pinned_alloc(own, &other, N, &again) == CX_OK);
    CHECK(again != many[0] && calls("cuMemHostAlloc") == allocs + 21);
    OPS->pinned_free(own, again);
    for (size_t n = N; n > 0; n /= 2) {
        CHECK(OPS->pinned_alloc(own, &mem, n, &again) == CX_OK);
        CHECK(again == many[0]);
        OPS->pinned_free(own, again);
    }
    for (int i = 1; i < 20; i++)
        OPS->pinned_free(own, many[i]);
    CHECK(calls("cuMemHostAlloc") == allocs + 21);
    CHECK(calls("cuMemFreeHost") == frees);
    cx_cuda_destroy(own);
    CHECK(calls("cuMemFreeHost") == frees + 21);
    CHECK(query(gpu, many[0], N).kind == CX_MEM_HOST);
}

/* Idle memory is bounded: those longest idle go first. */
static void bound(void)
{
    struct cx_mem mem = query(gpu, dev, N);
    struct cx_gpu *own = gpu_new();
    uint64_t frees = calls("cuMemFreeHost"), allocs = calls("cuMemHostAlloc");
    void *block[3];

    for (size_t i = 0; i < 3; i++) { /* 20, 21 and 24 MiB: 65 in all */
        CHECK(OPS->pinned_alloc(own, &mem, (20 + i * i) << 20, &block[i]) ==
              CX_OK);
        OPS->pinned_free(own, block[i]);
    }
    CHECK(calls("cuMemHostAlloc") == allocs + 3);
    CHECK(calls("cuMemFreeHost") == frees + 1);
    CHECK(OPS->pinned_alloc(own, &mem, 20 << 20, &block[0]) == CX_OK);
    CHECK(block[0] == block[1] && calls("cuMemHostAlloc") == allocs + 3);
    OPS->pinned_free(own, block[0]);
    cx_cuda_destroy(own);
    CHECK(calls("cuMemFreeHost") == frees + 3);
}

/* A reset takes memory, streams, events and staging memory; the next use starts
 * afresh, also with a driver that does not number its contexts. */
static void reset(const char *faults, int drop_first)
{
    struct cx_mem mem, before;
    struct cx_req req;
    uint64_t frees;
    void *pinned;

    CHECK(!app.sim->set_faults(faults));
    mem = before = query(gpu, dev, N);
    CHECK(OPS->pinned_alloc(gpu, &mem, N, &pinned) == CX_OK);
    app.sim->set_delay_us(3000);
    OPS->copy(gpu, &mem, 1, pinned, dev, 100, &req);
    CHECK(req.status == CX_INPROGRESS);
    CU(cuDevicePrimaryCtxReset_v2(0));
    app.sim->set_delay_us(0);
    CU(cuDevicePrimaryCtxRetain(&ctx0, 0));
    CU(cuCtxSetCurrent(ctx0));
    CHECK(finish(gpu, &req) != CX_INPROGRESS);
    dev = device_alloc(N);
    mem = query(gpu, dev, N);
    CHECK(mem.ctx == before.ctx && mem.ctx_id != before.ctx_id);
    CHECK(query(gpu, dev, 1).ctx_id == mem.ctx_id);
    frees = calls("cuMemFreeHost");
    if (drop_first) /* else our state in the context is still the old one */
        CHECK(OPS->fence(gpu, &mem) == CX_OK);
    OPS->pinned_free(gpu, pinned);
    CHECK(calls("cuMemFreeHost") == frees);
    CHECK(OPS->fence(gpu, &mem) == CX_OK);
    copy(gpu, &mem, 0, dev, src, N);
    copy(gpu, &mem, 1, dst, dev, N);
    CHECK(!memcmp(src, dst, N));
    CHECK(OPS->pinned_alloc(gpu, &mem, N, &pinned) == CX_OK);
    OPS->pinned_free(gpu, pinned);
    CHECK(calls("cuMemFreeHost") == frees); /* kept */
    CHECK(!app.sim->set_faults(NULL));
}

/* A context that is not the primary one, destroyed before us. */
static void own_context(void)
{
    struct cx_mem mem;
    CUcontext mine;
    void *mem1;

    CU(cuCtxCreate_v2(&mine, 0, 1));
    mem1 = device_alloc(N);
    CU(cuCtxSetCurrent(ctx0));
    mem = query(gpu, mem1, N);
    CHECK(mem.ctx == (void *)mine && mem.device == 1);
    CHECK(OPS->fence(gpu, &mem) == CX_OK);
    copy(gpu, &mem, 0, mem1, src, N);
    copy(gpu, &mem, 1, dst, mem1, N);
    CHECK(!memcmp(src, dst, N));
    CHECK(current() == ctx0);
    CU(cuCtxDestroy_v2(mine));
}

int main(void)
{
    uint64_t streams, events;

    cx_log_init(CX_LOG_ERROR, "/dev/null", 0);
    src = malloc(N);
    dst = malloc(N + 64);
    CHECK(src && dst);
    ctx0 = app_start();
    dev = device_alloc(N);
    CU(cuMemAllocHost_v2(&pinned_dst, N));
    streams = app.sim->counters->streams_live;
    events = app.sim->counters->events_live;
    gpu = gpu_new();
    sizes();
    order();
    two_dimensions();
    counters();
    cancel();
    staging();
    keeping();
    bound();
    cx_cuda_destroy(gpu);
    CHECK(app.sim->counters->streams_live == streams);
    CHECK(app.sim->counters->events_live == events);
    CHECK(cx_alloc_live() == 0);

    gpu = gpu_new();
    for (int drop_first = 0; drop_first < 2; drop_first++) {
        reset(NULL, drop_first);
        reset("cuCtxGetId:1+=801", drop_first);
    }
    own_context();
    CHECK(app.sim->counters->contexts_made == 6);
    cx_cuda_destroy(gpu);
    CHECK(cx_alloc_live() == 0);
    free(src);
    free(dst);
    return 0;
}
