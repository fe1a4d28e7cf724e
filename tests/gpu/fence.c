/* SPDX-License-Identifier: BSD-3-Clause */
/* fence.c - copies after the work that the program has queued.
 *
 * Each operation on a stream is delayed, so a copy that does not wait for the
 * several that stand before it comes first and is seen to. */
#include "gpu_test.h"

enum { N = 4096, BEFORE = 5 };

static struct cx_gpu *gpu;
static char buf[N], *dev;

/* Queues several writes, the last of `byte`, behind each other. */
static void queue_writes(int byte, CUstream stream)
{
    for (int i = 1; i < BEFORE; i++)
        device_set(dev, 0, N, stream);
    device_set(dev, byte, N, stream);
}

/* Reading sees what was queued; without the fence it does not, else this test
 * would test nothing. */
static void reads(CUstream stream, int byte)
{
    struct cx_mem mem = query(gpu, dev, N);

    device_set(dev, 1, N, NULL);
    CU(cuCtxSynchronize());
    queue_writes(byte, stream);
    copy(gpu, &mem, 1, buf, dev, N);
    CHECK(!all_are(buf, N, byte));
    CU(cuCtxSynchronize());

    device_set(dev, 1, N, NULL);
    CU(cuCtxSynchronize());
    queue_writes(byte, stream);
    CHECK(OPS->fence(gpu, &mem) == CX_OK);
    copy(gpu, &mem, 1, buf, dev, N);
    CHECK(all_are(buf, N, byte));
}

/* Writing waits for reads that are queued. */
static void writes(CUstream stream)
{
    char *other = device_alloc(N);
    struct cx_mem mem = query(gpu, dev, N);

    device_set(dev, 3, N, NULL);
    CU(cuCtxSynchronize());
    for (int i = 0; i < BEFORE; i++)
        device_set(other, 0, N, stream);
    CU(cuMemcpyDtoDAsync_v2((CUdeviceptr)(uintptr_t)other,
                            (CUdeviceptr)(uintptr_t)dev, N, stream));
    CHECK(OPS->fence(gpu, &mem) == CX_OK);
    memset(buf, 9, N);
    copy(gpu, &mem, 0, dev, buf, N);
    CU(cuCtxSynchronize());
    device_read(buf, other, N);
    CHECK(all_are(buf, N, 3));
    device_read(buf, dev, N);
    CHECK(all_are(buf, N, 9));
    device_free(other);
}

/* Another context of the program writes there: its own current one to memory of
 * another device, or any to managed memory. */
static void other_context(CUcontext ctx0)
{
    CUcontext ctx1;
    CUdeviceptr managed;
    struct cx_mem mem = query(gpu, dev, N);

    CU(cuDevicePrimaryCtxRetain(&ctx1, 1));
    CU(cuCtxSetCurrent(ctx1));
    CU(cuCtxEnablePeerAccess(ctx0, 0));
    queue_writes(5, NULL);
    CHECK(OPS->fence(gpu, &mem) == CX_OK);
    copy(gpu, &mem, 1, buf, dev, N);
    CHECK(all_are(buf, N, 5));
    CHECK(current() == ctx1);

    CU(cuCtxSetCurrent(ctx0));
    CU(cuMemAllocManaged(&managed, N, CU_MEM_ATTACH_GLOBAL));
    mem = query(gpu, (void *)(uintptr_t)managed, N);
    CHECK(mem.kind == CX_MEM_MANAGED && mem.ctx == ctx0);
    CU(cuCtxSetCurrent(ctx1));
    for (int i = 1; i < BEFORE; i++)
        device_set((void *)(uintptr_t)managed, 0, N, NULL);
    device_set((void *)(uintptr_t)managed, 4, N, NULL);
    CU(cuCtxSetCurrent(NULL));
    CHECK(OPS->fence(gpu, &mem) == CX_OK);
    copy(gpu, &mem, 1, buf, (void *)(uintptr_t)managed, N);
    CHECK(all_are(buf, N, 4));
    CHECK(current() == NULL);
    CU(cuCtxSetCurrent(ctx0));
    CU(cuMemFree_v2(managed));
    CU(cuDevicePrimaryCtxRelease_v2(1));
}

/* A context that the program has destroyed is not waited for, and no error. */
static void destroyed_context(CUcontext ctx0)
{
    struct cx_mem mem = query(gpu, dev, N), its;
    CUcontext created;
    CUdeviceptr managed;
    char *theirs;

    CU(cuCtxCreate_v2(&created, 0, 0));
    theirs = device_alloc(N);
    its = query(gpu, theirs, N);
    CHECK(its.ctx == created && OPS->fence(gpu, &its) == CX_OK);
    CU(cuCtxDestroy_v2(created));
    CU(cuCtxSetCurrent(ctx0));
    CU(cuMemAllocManaged(&managed, N, CU_MEM_ATTACH_GLOBAL));
    mem = query(gpu, (void *)(uintptr_t)managed, N);
    CHECK(OPS->fence(gpu, &mem) == CX_OK);
    CU(cuMemFree_v2(managed));
}

/* COAX_SYNC: none does not wait for anything; device waits for all streams, of
 * which a non-blocking one is nobody else's business. */
static void settings(void)
{
    struct cx_gpu *none = gpu_new_sync(CX_SYNC_NONE);
    struct cx_gpu *device = gpu_new_sync(CX_SYNC_DEVICE);
    struct cx_gpu *const all[] = {none, gpu, device};
    struct cx_mem mem = query(gpu, dev, N);
    CUstream own;

    CU(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) {
            CUstream stream = k ? own : NULL;

            device_set(dev, 1, N, NULL);
            CU(cuCtxSynchronize());
            queue_writes(9, stream);
            CHECK(OPS->settle(all[i], &mem) == CX_OK);
            CHECK(OPS->fence(all[i], &mem) == CX_OK);
            copy(all[i], &mem, 1, buf, dev, N);
            CHECK(all_are(buf, N, 9) ==
                  (all[i] == device || (all[i] == gpu && stream == NULL)));
            CU(cuCtxSynchronize());
        }
    }
    CU(cuStreamDestroy_v2(own));
    cx_cuda_destroy(none);
    cx_cuda_destroy(device);
}

/* A fence is for what was queued before it: later work of the program may
 * overtake our copies but is not held up for ever. */
static void host_memory(void)
{
    struct cx_mem host = query(gpu, buf, N);
    struct cx_gpu *other = gpu_new();

    CHECK(OPS->fence(other, &host) == CX_OK);
    cx_cuda_destroy(other);
}

/* While the program captures, queries say so and nothing is recorded. */
static void capturing(void)
{
    uint64_t before = app.sim->counters->streams_live;
    struct cx_mem mem = query(gpu, dev, N);

    CHECK(!app.sim->set_faults("cuStreamIsCapturing:1+=906,"
                               "cuEventRecord:1=906"));
    CHECK(OPS->fence(gpu, &mem) == CX_OK);
    CHECK(!app.sim->set_faults(NULL));
    CHECK(app.sim->counters->streams_live == before);
}

/* A question about captures that fails leaves no wait out. */
static void unanswered(void)
{
    struct cx_mem mem = query(gpu, dev, N);

    queue_writes(2, NULL);
    CHECK(!app.sim->set_faults("cuStreamIsCapturing:1+=999"));
    CHECK(OPS->fence(gpu, &mem) == CX_OK);
    CHECK(!app.sim->set_faults(NULL));
    copy(gpu, &mem, 1, buf, dev, N);
    CHECK(all_are(buf, N, 2));
}

int main(void)
{
    CUcontext ctx;
    CUstream blocking;

    cx_log_init(CX_LOG_ERROR, "/dev/null", 0);
    ctx = app_start();
    dev = device_alloc(N);
    gpu = gpu_new();
    CU(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    app.sim->set_delay_us(10000);
    reads(NULL, 7);
    reads(CU_STREAM_PER_THREAD, 8);
    reads(blocking, 6);
    writes(NULL);
    writes(CU_STREAM_PER_THREAD);
    writes(blocking);
    other_context(ctx);
    settings();
    unanswered();
    app.sim->set_delay_us(0);
    destroyed_context(ctx);
    host_memory();
    capturing();
    CHECK(current() == ctx);
    cx_cuda_destroy(gpu);
    CHECK(cx_alloc_live() == 0);
    CU(cuStreamDestroy_v2(blocking));
    device_free(dev);
    return 0;
}
