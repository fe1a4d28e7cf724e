/* SPDX-License-Identifier: BSD-3-Clause */
/* capture.c - while the program captures a graph, every function of ours leaves
 * the capture whole, whichever stream captures, in which mode, in this thread
 * or another; what can be waited for still is. */
#include "gpu_test.h"

#include <pthread.h>

enum { N = 4096, BEFORE = 5 };

static struct cx_gpu *gpu;
static CUcontext ctx;
static char buf[N], *dev;

/* All that a call can come to: ask, wait, copy both ways, pinned memory. */
static void *use_all(void *arg)
{
    struct cx_mem mem = query(gpu, dev, N);
    struct cx_gpu *fresh = gpu_new();
    void *pinned;
    size_t n;

    (void)arg;
    CHECK(OPS->piece(gpu, dev, N, &mem, &n) == CX_OK && n == N);
    for (int i = 0; i < 2; i++) {
        struct cx_gpu *each = i ? fresh : gpu; /* one has to make its things */

        CHECK(OPS->settle(each, &mem) == CX_OK);
        CHECK(OPS->fence(each, &mem) == CX_OK);
        CHECK(OPS->pinned_alloc(each, &mem, N, &pinned) == CX_OK);
        memset(pinned, 6, N);
        copy(each, &mem, 0, dev, pinned, N);
        memset(pinned, 0, N);
        copy(each, &mem, 1, pinned, dev, N);
        CHECK(all_are(pinned, N, 6));
        OPS->pinned_free(each, pinned);
    }
    cx_cuda_destroy(fresh);
    return NULL;
}

static void in_thread(void)
{
    pthread_t thread;

    CHECK(!pthread_create(&thread, NULL, use_all, NULL));
    CHECK(!pthread_join(thread, NULL));
}

static void around(CUstream stream, CUstreamCaptureMode mode)
{
    uint64_t broken = app.sim->counters->captures_broken;
    CUstreamCaptureStatus status;
    CUgraph graph;

    CU(cuStreamBeginCapture_v2(stream, mode));
    device_set(dev, 1, N, stream);
    use_all(NULL);
    in_thread();
    CU(cuStreamIsCapturing(stream, &status));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CU(cuStreamEndCapture(stream, &graph));
    CHECK(graph != NULL);
    CU(cuGraphDestroy(graph));
    CHECK(app.sim->counters->captures_broken == broken);
    CHECK(current() == ctx);
}

/* A blocking stream captures: the legacy stream must not be used, but work on
 * the thread's own one is waited for. */
static void own_stream(CUstream blocking)
{
    struct cx_mem mem = query(gpu, dev, N);
    CUgraph graph;

    CU(cuCtxSynchronize());
    app.sim->set_delay_us(10000);
    CU(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    for (int i = 1; i <= BEFORE; i++)
        device_set(dev, i, N, CU_STREAM_PER_THREAD);
    CHECK(OPS->fence(gpu, &mem) == CX_OK);
    copy(gpu, &mem, 1, buf, dev, N);
    CHECK(all_are(buf, N, BEFORE));
    app.sim->set_delay_us(0);
    CU(cuStreamEndCapture(blocking, &graph));
    CU(cuGraphDestroy(graph));
}

int main(void)
{
    static const CUstreamCaptureMode modes[] = {
        CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
        CU_STREAM_CAPTURE_MODE_RELAXED};
    CUstream blocking, nonblocking;

    cx_log_init(CX_LOG_ERROR, "/dev/null", 0);
    ctx = app_start();
    dev = device_alloc(N);
    gpu = gpu_new();
    CU(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    CU(cuStreamCreate(&nonblocking, CU_STREAM_NON_BLOCKING));
    own_stream(blocking);
    for (int i = 0; i < 3; i++) {
        around(blocking, modes[i]);
        around(nonblocking, modes[i]);
        around(CU_STREAM_PER_THREAD, modes[i]);
    }
    cx_cuda_destroy(gpu);
    gpu = gpu_new_sync(CX_SYNC_DEVICE);
    around(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
    cx_cuda_destroy(gpu);
    CHECK(cx_alloc_live() == 0);
    device_free(dev);
    return 0;
}
