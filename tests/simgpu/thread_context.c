/* SPDX-License-Identifier: BSD-3-Clause */
/* thread_context.c - a new thread has no current context: the driver refuses
 * what needs one, and the runtime sets one up by itself. */
#include "t.h"

#include <cuda_runtime_api.h>
#include <pthread.h>

static CUdeviceptr d;
static CUcontext ctx;

static void *driver_thread(void *arg)
{
    CUdeviceptr e;
    CUcontext now = ctx;
    CUdevice dev;
    unsigned type;
    char host[64] = {0};
    (void)arg;
    OK(cuCtxGetCurrent(&now));
    CHECK(now == NULL);
    IS(cuMemAlloc(&e, 64), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuMemcpyHtoD(d, host, 64), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuCtxGetDevice(&dev), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuStreamSynchronize(NULL), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuCtxPopCurrent(&now), CUDA_ERROR_INVALID_CONTEXT);
    /* what an address is may be asked without one */
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, d));
    CHECK(type == CU_MEMORYTYPE_DEVICE);
    OK(cuCtxGetCurrent(&now));
    CHECK(now == NULL);

    OK(cuCtxPushCurrent(ctx));
    OK(cuMemcpyHtoD(d, host, 64));
    OK(cuCtxPopCurrent(&now));
    CHECK(now == ctx);
    IS(cuMemcpyHtoD(d, host, 64), CUDA_ERROR_INVALID_CONTEXT);
    return NULL;
}

static void *runtime_thread(void *arg)
{
    CUcontext now;
    char host[64] = {0};
    (void)arg;
    OK(cudaMemcpy((void *)(uintptr_t)d, host, 64, cudaMemcpyHostToDevice));
    OK(cuCtxGetCurrent(&now));
    CHECK(now == ctx);
    return NULL;
}

int main(void)
{
    CUdeviceptr e;
    pthread_t t;
    IS(cuMemAlloc(&e, 64), CUDA_ERROR_NOT_INITIALIZED);
    OK(cuInit(0));
    IS(cuMemAlloc(&e, 64), CUDA_ERROR_INVALID_CONTEXT);
    ctx = t_context(0);
    OK(cuMemAlloc(&d, 64));
    CHECK(pthread_create(&t, NULL, driver_thread, NULL) == 0);
    CHECK(pthread_join(t, NULL) == 0);
    CHECK(pthread_create(&t, NULL, runtime_thread, NULL) == 0);
    CHECK(pthread_join(t, NULL) == 0);
    return 0;
}
