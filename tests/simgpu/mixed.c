/* SPDX-License-Identifier: BSD-3-Clause */
/* mixed.c - driver and runtime in one program share contexts, streams and
 * memory; the runtime keeps a thread's last error. */
#include "t.h"

#include <cuda_runtime_api.h>

static void own_context(void)
{
    CUcontext mine, now;
    CUdeviceptr base;
    void *d;
    OK(cuCtxCreate(&mine, NULL, 0, 0));
    OK(cudaMalloc(&d, 64));
    OK(cuPointerGetAttribute(&now, CU_POINTER_ATTRIBUTE_CONTEXT,
                             (CUdeviceptr)(uintptr_t)d));
    CHECK(now == mine);
    OK(cuCtxDestroy(mine)); /* the memory goes with it */
    IS(cuMemGetAddressRange(&base, NULL, (CUdeviceptr)(uintptr_t)d),
       CUDA_ERROR_NOT_FOUND);
}

static void errors(void)
{
    const char *text;
    OK(cudaGetLastError());
    IS(cudaFree((void *)0x1000), cudaErrorInvalidValue);
    IS(cudaPeekAtLastError(), cudaErrorInvalidValue);
    IS(cudaGetLastError(), cudaErrorInvalidValue);
    OK(cudaGetLastError());
    IS(cudaSetDevice(5), cudaErrorInvalidDevice);
    cudaGetLastError();
    CHECK(strcmp(cudaGetErrorName(cudaErrorInvalidDevice),
                 "cudaErrorInvalidDevice") == 0);
    CHECK(strcmp(cudaGetErrorName(cudaSuccess), "cudaSuccess") == 0);
    CHECK(cudaGetErrorString(cudaErrorMemoryAllocation)[0] != '\0');
    OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    CHECK(strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0);
    OK(cuGetErrorString(CUDA_SUCCESS, &text));
    IS(cuGetErrorName((CUresult)123456, &text), CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    cudaStream_t s;
    cudaEvent_t e;
    CUcontext primary, now;
    CUdeviceptr base;
    size_t size;
    char *d, host[64];
    int version, driver;
    OK(cudaRuntimeGetVersion(&version));
    OK(cudaDriverGetVersion(&driver));
    CHECK(version / 1000 == 13 && driver >= version);
    OK(cudaSetDevice(0));
    OK(cuCtxGetCurrent(&now));
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    CHECK(now == primary);
    OK(cudaMalloc((void **)&d, 64));
    OK(cuMemGetAddressRange(&base, &size, (CUdeviceptr)(uintptr_t)d));
    CHECK(base == (CUdeviceptr)(uintptr_t)d && size == 64);
    OK(cudaStreamCreate(&s));
    OK(cudaEventCreate(&e));
    OK(cuMemsetD8Async(base, 4, 64, s));
    OK(cudaEventRecord(e, s));
    OK(cuEventSynchronize(e));
    OK(cuMemcpyDtoH(host, base, 64));
    CHECK(t_all(host, 4, 64));
    OK(cuMemFree(base));
    IS(cudaFree(d), cudaErrorInvalidValue);
    cudaGetLastError();
    own_context();
    errors();
    OK(cudaMalloc((void **)&d, 0));
    CHECK(d == NULL);
    return 0;
}
