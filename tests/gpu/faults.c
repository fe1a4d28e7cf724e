/* SPDX-License-Identifier: BSD-3-Clause */
/* faults.c - every call that we make to the driver fails once, and every
 * allocation: no hang, no crash, no leak, an error that is one of ours, and
 * afterwards all works again. */
#include "gpu_test.h"

enum { N = 4096 };

static char buf[N], *dev;

static void check_status(enum cx_status rc)
{
    CHECK(rc == CX_OK || rc == CX_ERR_GPU || rc == CX_ERR_NOMEM);
}

static int ended(struct cx_gpu *gpu, struct cx_req *req)
{
    check_status(finish(gpu, req));
    return req->status == CX_OK;
}

/* A life of all functions; 1 when nothing went wrong. */
static int one_life(void)
{
    struct cx_gpu *gpu = NULL;
    struct cx_req req[4];
    struct cx_mem mem;
    enum cx_status rc;
    void *pinned;
    int good;

    if (cx_cuda_create(CX_SYNC_DEFAULT, &gpu) != CX_OK)
        return 0;
    rc = OPS->query(gpu, dev, N, &mem);
    if (rc != CX_ERR_ARG) /* one end answered, the other did not */
        check_status(rc);
    if (rc != CX_OK || mem.kind != CX_MEM_DEVICE) {
        cx_cuda_destroy(gpu);
        return 0;
    }
    rc = OPS->pinned_alloc(gpu, &mem, N, &pinned);
    check_status(rc);
    good = rc == CX_OK;
    rc = OPS->fence(gpu, &mem);
    check_status(rc);
    good &= rc == CX_OK;
    OPS->copy(gpu, &mem, 0, dev, buf, N, &req[0]);
    OPS->copy(gpu, &mem, 0, dev, buf, N, &req[1]);
    good &= ended(gpu, &req[1]) & ended(gpu, &req[0]);
    OPS->copy(gpu, &mem, 1, buf, dev, N, &req[2]);
    OPS->copy2d(gpu, &mem, 1, buf, 10, dev, 12, 8, 20, &req[3]);
    OPS->cancel(gpu, &req[2]);
    good &= ended(gpu, &req[3]) & ended(gpu, &req[2]);
    if (OPS->pinned_alloc(gpu, &mem, N, &pinned) == CX_OK)
        OPS->pinned_free(gpu, pinned);
    cx_cuda_destroy(gpu);
    return good;
}

static const char *const called[] = {"cuPointerGetAttributes",
                                     "cuDeviceGetCount",
                                     "cuDevicePrimaryCtxGetState",
                                     "cuDevicePrimaryCtxRetain",
                                     "cuCtxPushCurrent",
                                     "cuCtxGetId",
                                     "cuStreamCreate",
                                     "cuStreamDestroy",
                                     "cuStreamQuery",
                                     "cuStreamSynchronize",
                                     "cuStreamWaitEvent",
                                     "cuStreamIsCapturing",
                                     "cuThreadExchangeStreamCaptureMode",
                                     "cuEventCreate",
                                     "cuEventDestroy",
                                     "cuEventRecord",
                                     "cuEventQuery",
                                     "cuEventSynchronize",
                                     "cuMemcpyHtoDAsync",
                                     "cuMemcpyDtoHAsync",
                                     "cuMemcpy2DAsync",
                                     "cuMemHostAlloc",
                                     "cuMemFreeHost"};

static const int errors[] = {1, 2, 4, 201, 400, 700, 709, 999};

static void driver(CUcontext ctx)
{
    char spec[128];

    for (size_t f = 0; f < sizeof(called) / sizeof(called[0]); f++) {
        for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
            for (int nth = 1; nth <= 4; nth++) {
                snprintf(spec, sizeof(spec), "%s:%d%s=%d", called[f], nth,
                         nth == 4 ? "+" : "", errors[e]);
                CHECK(!app.sim->set_faults(spec));
                one_life();
                CHECK(!app.sim->set_faults(NULL));
                CHECK(cx_alloc_live() == 0);
                CHECK(current() == ctx);
            }
        }
        CHECK(one_life());
    }
}

static void memory(void)
{
    unsigned long nth = 1;
    int good;

    do {
        cx_alloc_fail_at(nth++);
        good = one_life();
        cx_alloc_fail_at(0);
        CHECK(cx_alloc_live() == 0);
    } while (nth < 30);
    CHECK(good);
}

/* The copy itself fails: its request says so, and nothing else does. */
static void copy_fails(void)
{
    struct cx_gpu *gpu = gpu_new();
    struct cx_mem mem = query(gpu, dev, N);
    struct cx_req req[3];

    CHECK(!app.sim->set_faults("cuMemcpyHtoDAsync:2=700"));
    for (int i = 0; i < 3; i++)
        OPS->copy(gpu, &mem, 0, dev, buf, N, &req[i]);
    CHECK(req[1].status == CX_ERR_GPU);
    CHECK(finish(gpu, &req[0]) == CX_OK && finish(gpu, &req[2]) == CX_OK);
    CHECK(!app.sim->set_faults("cuEventQuery:1=700"));
    OPS->copy(gpu, &mem, 1, buf, dev, N, &req[0]);
    CHECK(finish(gpu, &req[0]) == CX_ERR_GPU);
    CHECK(!app.sim->set_faults(NULL));
    OPS->copy(gpu, &mem, 1, buf, dev, N, &req[0]);
    CHECK(finish(gpu, &req[0]) == CX_OK);
    cx_cuda_destroy(gpu);
}

int main(void)
{
    uint64_t streams, events;
    CUcontext ctx;

    cx_log_init(CX_LOG_ERROR, "/dev/null", 0);
    ctx = app_start();
    dev = device_alloc(N);
    streams = app.sim->counters->streams_live;
    events = app.sim->counters->events_live;
    CHECK(one_life());
    copy_fails();
    memory();
    CHECK(app.sim->counters->streams_live == streams);
    CHECK(app.sim->counters->events_live == events);
    driver(ctx);
    device_free(dev);
    return 0;
}
