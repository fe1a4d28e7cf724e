/* SPDX-License-Identifier: BSD-3-Clause */
/* loose.c - memory that names no context: of pools, and mapped chunk by chunk.
 *
 * Which context is taken, with the primary one in use and without, what is one
 * memory, and that work of every context of the program comes first. Run with 2
 * devices. */
#include "gpu_test.h"

#include <pthread.h>

enum { CHUNK = 2 << 20, N = 4096, BEFORE = 5 };

static struct cx_gpu *gpu;
static char buf[N];

struct range {
    char *ptr;
    int n;
    CUmemGenericAllocationHandle chunk[4];
};

static void grant(const struct range *range, int i, int device, int on)
{
    CUmemAccessDesc access = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, device},
                              .flags = on ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                          : CU_MEM_ACCESS_FLAGS_PROT_NONE};

    CU(cuMemSetAccess((CUdeviceptr)(uintptr_t)range->ptr + (size_t)i * CHUNK,
                      CHUNK, &access, 1));
}

/* One chunk per entry, on the device that it names, which may use it. */
static struct range map(int n, const int *device)
{
    struct range range = {.n = n};
    CUdeviceptr ptr;

    CU(cuMemAddressReserve(&ptr, (size_t)n * CHUNK, 0, 0, 0));
    range.ptr = (char *)(uintptr_t)ptr;
    for (int i = 0; i < n; i++) {
        CUmemAllocationProp prop = {
            .type = CU_MEM_ALLOCATION_TYPE_PINNED,
            .location = {CU_MEM_LOCATION_TYPE_DEVICE, device[i]}};

        CU(cuMemCreate(&range.chunk[i], CHUNK, &prop, 0));
        CU(cuMemMap(ptr + (size_t)i * CHUNK, CHUNK, 0, range.chunk[i], 0));
        grant(&range, i, device[i], 1);
    }
    return range;
}

static void unmap(const struct range *range)
{
    CUdeviceptr ptr = (CUdeviceptr)(uintptr_t)range->ptr;

    for (int i = 0; i < range->n; i++) {
        CU(cuMemUnmap(ptr + (size_t)i * CHUNK, CHUNK));
        CU(cuMemRelease(range->chunk[i]));
    }
    CU(cuMemAddressFree(ptr, (size_t)range->n * CHUNK));
}

static char *pool_alloc(size_t n)
{
    CUdeviceptr ptr;

    CU(cuMemAllocAsync(&ptr, n, NULL));
    CU(cuStreamSynchronize(NULL));
    return (char *)(uintptr_t)ptr;
}

static void pool_free(const char *ptr)
{
    CU(cuMemFreeAsync((CUdeviceptr)(uintptr_t)ptr, NULL));
    CU(cuStreamSynchronize(NULL));
}

/* There and back, from a thread without a context. */
static void *round_trip(void *arg)
{
    char *dev = arg, out[N], in[N];
    struct cx_mem mem = query(gpu, dev, N);

    CHECK(current() == NULL);
    CHECK(mem.kind == CX_MEM_DEVICE && mem.loose && mem.ctx);
    fill(out, N, 3);
    copy(gpu, &mem, 0, dev, out, N);
    copy(gpu, &mem, 1, in, dev, N);
    CHECK(!memcmp(out, in, N));
    CHECK(current() == NULL);
    return NULL;
}

static void elsewhere(void *dev)
{
    pthread_t thread;

    CHECK(!pthread_create(&thread, NULL, round_trip, dev));
    CHECK(!pthread_join(thread, NULL));
}

/* The program has a context of its own making, and no primary one: first it is
 * the caller's, then one known from before. Two devices, so that the right one
 * is picked. */
static void created_context(void)
{
    uint64_t made = app.sim->counters->contexts_made;
    CUcontext own, other;
    struct cx_mem mem;
    char *dev;

    CU(cuCtxCreate_v2(&other, 0, 1));
    CU(cuCtxCreate_v2(&own, 0, 0));
    dev = pool_alloc(N);
    mem = query(gpu, dev, N);
    CHECK(mem.kind == CX_MEM_DEVICE && mem.device == 0 && mem.ctx == own);
    copy(gpu, &mem, 1, buf, dev, N);
    CU(cuCtxSetCurrent(other));
    CHECK(query(gpu, dev, N).ctx == own);
    elsewhere(dev);
    CU(cuCtxSetCurrent(own));
    CHECK(app.sim->counters->contexts_made == made + 2);
    pool_free(dev);
    CU(cuCtxDestroy_v2(own));
    CU(cuCtxDestroy_v2(other));
}

/* No context of the program is known at all: the primary one is taken, of this
 * device only. */
static void no_context(void)
{
    const int devices[] = {1};
    struct range range = map(1, devices);
    uint64_t made = app.sim->counters->contexts_made;
    unsigned flags;
    int active;

    CU(cuCtxSetCurrent(NULL));
    elsewhere(range.ptr);
    CHECK(app.sim->counters->contexts_made == made + 1);
    CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK(!active);
    unmap(&range);
}

static void pools(CUcontext ctx)
{
    char *a = pool_alloc(N), *b = pool_alloc(N);
    char *low = a < b ? a : b, *high = a < b ? b : a;
    struct cx_mem mem = query(gpu, a, N);
    size_t n;

    CHECK(mem.kind == CX_MEM_DEVICE && mem.loose && mem.ctx == ctx);
    CHECK(query(gpu, low, (size_t)(high - low) + N).kind == CX_MEM_MIXED);
    CHECK(OPS->piece(gpu, low + 8, (size_t)(high - low) + N, &mem, &n) ==
          CX_OK);
    CHECK(n == N - 8 && mem.ctx == ctx);
    elsewhere(a);
    pool_free(a);
    pool_free(b);
}

static void ranges(CUcontext ctx0, CUcontext ctx1)
{
    const int one[] = {0, 0, 0, 0}, two[] = {0, 1, 0, 0};
    struct range range = map(4, one);
    struct cx_mem mem = query(gpu, range.ptr + 7, 4 * CHUNK - 7);
    size_t n, all = 4 * CHUNK;
    char *host = calloc(1, all), *back = calloc(1, all);

    /* Chunks of one device are one memory, and copied as one. */
    CHECK(host && back);
    CHECK(mem.kind == CX_MEM_DEVICE && mem.loose && mem.ctx == ctx0);
    fill(host, all, 9);
    copy(gpu, &mem, 0, range.ptr, host, all);
    copy(gpu, &mem, 1, back, range.ptr, all);
    CHECK(!memcmp(host, back, all));
    elsewhere(range.ptr + 3 * CHUNK - 100);
    unmap(&range);

    /* Of two devices they are not, also where both ends are of one. */
    range = map(4, two);
    CHECK(query(gpu, range.ptr, all).kind == CX_MEM_MIXED);
    CHECK(query(gpu, range.ptr, 2 * CHUNK).kind == CX_MEM_MIXED);
    CHECK(query(gpu, range.ptr, CHUNK).kind == CX_MEM_DEVICE);
    CHECK(query(gpu, range.ptr + 2 * CHUNK, 2 * CHUNK).kind == CX_MEM_DEVICE);
    CHECK(OPS->piece(gpu, range.ptr + 5, all, &mem, &n) == CX_OK);
    CHECK(n == CHUNK - 5 && mem.device == 0 && mem.ctx == ctx0);
    CHECK(OPS->piece(gpu, range.ptr + CHUNK, all, &mem, &n) == CX_OK);
    CHECK(n == CHUNK && mem.device == 1 && mem.ctx == ctx1);

    /* A chunk that only another device may use is copied there. */
    grant(&range, 1, 0, 1);
    grant(&range, 1, 1, 0);
    mem = query(gpu, range.ptr + CHUNK, N);
    CHECK(mem.device == 1 && mem.ctx == ctx0);
    elsewhere(range.ptr + CHUNK);
    unmap(&range);

    /* A hole is no memory. */
    range = map(4, one);
    CU(cuMemUnmap((CUdeviceptr)(uintptr_t)range.ptr + CHUNK, CHUNK));
    CHECK(query(gpu, range.ptr, all).kind == CX_MEM_MIXED);
    CU(cuMemMap((CUdeviceptr)(uintptr_t)range.ptr + CHUNK, CHUNK, 0,
                range.chunk[1], 0));
    unmap(&range);
    free(host);
    free(back);
}

/* Work queued in another context of the device, which is not current. */
static void order(CUcontext ctx0)
{
    const int one[] = {0};
    struct range range = map(1, one);
    struct cx_mem mem;
    CUcontext own;
    char *theirs;

    CU(cuCtxCreate_v2(&own, 0, 0));
    theirs = device_alloc(N); /* makes the context known */
    mem = query(gpu, theirs, N);
    copy(gpu, &mem, 1, buf, theirs, N);
    app.sim->set_delay_us(10000);
    for (int i = 1; i <= BEFORE; i++)
        device_set(range.ptr, i, N, NULL);
    CU(cuCtxSetCurrent(ctx0));
    mem = query(gpu, range.ptr, N);
    CHECK(mem.ctx == ctx0 && OPS->fence(gpu, &mem) == CX_OK);
    copy(gpu, &mem, 1, buf, range.ptr, N);
    CHECK(all_are(buf, N, BEFORE));
    app.sim->set_delay_us(0);
    CU(cuCtxSetCurrent(own));
    CU(cuCtxDestroy_v2(own));
    CU(cuCtxSetCurrent(ctx0));
    unmap(&range);
}

int main(void)
{
    CUcontext ctx0, ctx1;

    cx_log_init(CX_LOG_ERROR, "/dev/null", 0);
    app_load();
    app_control();
    CU(cuInit(0));
    gpu = gpu_new();
    created_context();
    no_context();
    cx_cuda_destroy(gpu);
    gpu = gpu_new();
    CU(cuDevicePrimaryCtxRetain(&ctx1, 1));
    CU(cuDevicePrimaryCtxRetain(&ctx0, 0));
    CU(cuCtxSetCurrent(ctx0));
    pools(ctx0);
    ranges(ctx0, ctx1);
    order(ctx0);
    CHECK(current() == ctx0);
    cx_cuda_destroy(gpu);
    CHECK(cx_alloc_live() == 0);
    return 0;
}
