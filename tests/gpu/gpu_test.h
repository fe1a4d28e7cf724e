/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_test.h - the program's side of the GPU tests: what an application does
 * with CUDA, by functions of the driver that it loads itself.
 *
 * The driver is the stand-in of src/simgpu, found by LD_LIBRARY_PATH. */
#ifndef CX_GPU_TEST_H
#define CX_GPU_TEST_H

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "cuda/cuda_gpu.h"
#include "simgpu/counters.h"

#include <cuda.h>

#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_US 2e7

#define CHECK(cond)                                                            \
    do {                                                                       \
        if (!(cond)) {                                                         \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);         \
            _exit(1);                                                          \
        }                                                                      \
    } while (0)

#define OPS (&cx_cuda_ops)

#define APP_FUNCTIONS(X)                                                       \
    X(cuInit)                                                                  \
    X(cuGetExportTable)                                                        \
    X(cuDevicePrimaryCtxRetain)                                                \
    X(cuDevicePrimaryCtxReset_v2)                                              \
    X(cuDevicePrimaryCtxRelease_v2)                                            \
    X(cuCtxDestroy_v2)                                                         \
    X(cuCtxGetCurrent)                                                         \
    X(cuCtxSetCurrent)                                                         \
    X(cuCtxSynchronize)                                                        \
    X(cuMemAlloc_v2)                                                           \
    X(cuMemAllocManaged)                                                       \
    X(cuMemAllocHost_v2)                                                       \
    X(cuMemFree_v2)                                                            \
    X(cuMemFreeHost)                                                           \
    X(cuMemHostRegister_v2)                                                    \
    X(cuMemHostUnregister)                                                     \
    X(cuMemsetD8Async)                                                         \
    X(cuMemcpyHtoD_v2)                                                         \
    X(cuMemcpyDtoH_v2)                                                         \
    X(cuMemcpyDtoDAsync_v2)                                                    \
    X(cuCtxEnablePeerAccess)                                                   \
    X(cuStreamSynchronize)                                                     \
    X(cuStreamBeginCapture_v2)                                                 \
    X(cuStreamEndCapture)                                                      \
    X(cuStreamIsCapturing)                                                     \
    X(cuGraphDestroy)                                                          \
    X(cuMemAllocAsync)                                                         \
    X(cuMemFreeAsync)                                                          \
    X(cuMemAddressReserve)                                                     \
    X(cuMemAddressFree)                                                        \
    X(cuMemCreate)                                                             \
    X(cuMemRelease)                                                            \
    X(cuMemMap)                                                                \
    X(cuMemUnmap)                                                              \
    X(cuMemSetAccess)                                                          \
    X(cuDevicePrimaryCtxGetState)                                              \
    X(cuStreamCreate)                                                          \
    X(cuStreamDestroy_v2)

struct app {
#define MEMBER(name) __typeof__(name) *name;
    APP_FUNCTIONS(MEMBER)
#undef MEMBER
    CUresult (*cuCtxCreate_v2)(CUcontext *, unsigned, CUdevice);
    const struct simgpu_control *sim;
};

static struct app app;

#define CU(call) CHECK(app.call == CUDA_SUCCESS)

/* What dlopen does in a program that starts CUDA late. Skips the test where
 * the driver is not the stand-in. */
static inline void app_load(void)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if (!lib) {
        fprintf(stderr, "skipped: %s\n", dlerror());
        exit(77);
    }
#define LOOK_UP(name)                                                          \
    *(void **)&app.name = dlsym(lib, #name);                                   \
    CHECK(app.name);
    APP_FUNCTIONS(LOOK_UP)
    LOOK_UP(cuCtxCreate_v2)
#undef LOOK_UP
}

static inline void app_control(void)
{
    static const CUuuid id = SIMGPU_CONTROL_UUID;
    const void *table;

    if (app.cuGetExportTable(&table, &id) != CUDA_SUCCESS) {
        fprintf(stderr, "skipped: libcuda.so.1 is not the simulated one\n");
        exit(77);
    }
    app.sim = table;
}

/* Loads and starts CUDA, with device 0's primary context current. */
static inline CUcontext app_start(void)
{
    CUcontext ctx;

    app_load();
    app_control();
    CU(cuInit(0));
    CU(cuDevicePrimaryCtxRetain(&ctx, 0));
    CU(cuCtxSetCurrent(ctx));
    return ctx;
}

static inline void *device_alloc(size_t n)
{
    CUdeviceptr ptr;

    CU(cuMemAlloc_v2(&ptr, n));
    return (void *)(uintptr_t)ptr;
}

static inline void device_free(void *ptr)
{
    CU(cuMemFree_v2((CUdeviceptr)(uintptr_t)ptr));
}

static inline void device_read(void *dst, const void *src, size_t n)
{
    CU(cuMemcpyDtoH_v2(dst, (CUdeviceptr)(uintptr_t)src, n));
}

static inline void device_write(void *dst, const void *src, size_t n)
{
    CU(cuMemcpyHtoD_v2((CUdeviceptr)(uintptr_t)dst, src, n));
}

/* Queued on one of the program's streams; NULL is the legacy one. */
static inline void device_set(void *dst, int byte, size_t n, CUstream stream)
{
    CU(cuMemsetD8Async((CUdeviceptr)(uintptr_t)dst, (unsigned char)byte, n,
                       stream));
}

/* Made so far to one function of the driver. */
static inline uint64_t calls(const char *name)
{
    const struct simgpu_counters *counters = app.sim->counters;

    for (uint32_t i = 0; i < counters->nfns; i++) {
        if (!strcmp(counters->fn[i].name, name))
            return counters->fn[i].calls;
    }
    CHECK(!"a function that is counted");
    return 0;
}

static inline CUcontext current(void)
{
    CUcontext ctx;

    CU(cuCtxGetCurrent(&ctx));
    return ctx;
}

static inline struct cx_gpu *gpu_new_sync(enum cx_sync sync)
{
    struct cx_gpu *gpu = NULL;

    CHECK(cx_cuda_create(sync, &gpu) == CX_OK);
    return gpu;
}

static inline struct cx_gpu *gpu_new(void)
{
    return gpu_new_sync(CX_SYNC_DEFAULT);
}

static inline struct cx_mem query(struct cx_gpu *gpu, const void *ptr, size_t n)
{
    struct cx_mem mem;

    CHECK(OPS->query(gpu, ptr, n, &mem) == CX_OK);
    return mem;
}

static inline enum cx_status finish(struct cx_gpu *gpu, struct cx_req *req)
{
    double until = cx_now_us() + LIMIT_US;

    while (req->status == CX_INPROGRESS) {
        if (!OPS->progress(gpu))
            sched_yield();
        CHECK(cx_now_us() < until);
    }
    return req->status;
}

static inline void copy(struct cx_gpu *gpu, const struct cx_mem *mem,
                        int to_host, void *dst, const void *src, size_t n)
{
    struct cx_req req;

    OPS->copy(gpu, mem, to_host, dst, src, n, &req);
    CHECK(finish(gpu, &req) == CX_OK);
}

static inline void fill(void *buf, size_t n, unsigned seed)
{
    unsigned char *p = buf;

    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)(i * 31 + (i >> 8) * 7 + seed * 101 + 5);
}

static inline int all_are(const void *buf, size_t n, int byte)
{
    const unsigned char *p = buf;

    for (size_t i = 0; i < n; i++) {
        if (p[i] != (unsigned char)byte)
            return 0;
    }
    return 1;
}

#endif
