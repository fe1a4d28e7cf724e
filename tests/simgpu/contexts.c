/* SPDX-License-Identifier: BSD-3-Clause */
/* contexts.c - the current context is a stack of each thread; primary
 * contexts are counted; nothing makes one that was not asked to; releasing
 * and resetting free everything. */
#include "t.h"

#include <cuda_runtime_api.h>

static int active(void)
{
    unsigned flags;
    int is;
    OK(cuDevicePrimaryCtxGetState(0, &flags, &is));
    return is;
}

static void none_is_made(void)
{
    int n, value;
    size_t bytes;
    char name[32];
    unsigned type = 7;
    struct cudaPointerAttributes attr;
    struct cudaDeviceProp prop;
    CUpointer_attribute which = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    void *data = &type;
    OK(cuInit(0));
    OK(cuDeviceGetCount(&n));
    OK(cuDeviceGetName(name, sizeof(name), 0));
    OK(cuDeviceTotalMem(&bytes, 0));
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    CHECK(value == 32);
    OK(cuPointerGetAttributes(1, &which, &data, (CUdeviceptr)(uintptr_t)&n));
    CHECK(type == 0);
    OK(cudaGetDeviceCount(&n));
    OK(cudaGetDevice(&n));
    OK(cudaGetDeviceProperties(&prop, 0));
    OK(cudaPointerGetAttributes(&attr, &n));
    CHECK(attr.type == cudaMemoryTypeUnregistered && attr.hostPointer == &n);
    CHECK(!active());
}

static void stack(CUcontext a)
{
    CUcontext b, now;
    CUdeviceptr d;
    OK(cuCtxCreate(&b, NULL, 0, 0));
    OK(cuCtxGetCurrent(&now));
    CHECK(now == b && b != a);
    OK(cuCtxPushCurrent(a));
    OK(cuMemAlloc(&d, 64));
    OK(cuCtxPopCurrent(&now));
    CHECK(now == a);
    OK(cuMemFree(d));
    OK(cuCtxPopCurrent(&now));
    OK(cuCtxGetCurrent(&now));
    CHECK(now == a);
    OK(cuCtxSetCurrent(b));
    OK(cuCtxSetCurrent(a));
    OK(cuCtxDestroy(b));
    IS(cuCtxPushCurrent(b), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuCtxDestroy(a), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuCtxPushCurrent((CUcontext)(uintptr_t)&now),
       CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxGetCurrent(&now));
    CHECK(now == a);
}

static void counted(CUcontext ctx)
{
    CUcontext again;
    CUdeviceptr d;
    CUstream s;
    CUevent e;
    char host[64];
    OK(cuDevicePrimaryCtxRetain(&again, 0));
    CHECK(again == ctx);
    OK(cuMemAlloc(&d, 64));
    OK(cuStreamCreate(&s, 0));
    OK(cuEventCreate(&e, 0));
    OK(cuMemsetD8Async(d, 1, 64, s));
    OK(cuDevicePrimaryCtxRelease(0));
    CHECK(active());
    OK(cuMemcpyDtoH(host, d, 64));
    OK(cuDevicePrimaryCtxRelease(0));
    CHECK(!active());
    IS(cuMemcpyDtoH(host, d, 64), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    IS(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);

    OK(cuDevicePrimaryCtxRetain(&again, 0));
    OK(cuCtxSetCurrent(again));
    IS(cuMemcpyDtoH(host, d, 64), CUDA_ERROR_INVALID_VALUE);
    IS(cuStreamSynchronize(s), CUDA_ERROR_INVALID_HANDLE);
    IS(cuEventQuery(e), CUDA_ERROR_INVALID_HANDLE);
}

static void reset(void)
{
    char *d;
    size_t free_before, free_after, total;
    OK(cudaMemGetInfo(&free_before, &total));
    CHECK(free_before == total);
    OK(cudaMalloc((void **)&d, 1 << 20));
    OK(cudaDeviceReset());
    CHECK(!active());
    OK(cudaMemGetInfo(&free_after, &total));
    CHECK(free_after == total && active());
    IS(cudaFree(d), cudaErrorInvalidValue);
}

int main(void)
{
    none_is_made();
    CUcontext ctx = t_context(0);
    CHECK(active());
    stack(ctx);
    counted(ctx);
    OK(cuDevicePrimaryCtxReset(0));
    reset();
    return 0;
}
