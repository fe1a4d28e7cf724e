/* SPDX-License-Identifier: BSD-3-Clause */
/* copies.c - every kind of copy between every two kinds of memory, with the
 * driver and with the runtime, synchronous and asynchronous; and the wrong
 * kinds, which are refused. Built a second time for per-thread streams. */
#include "t.h"

#include <cuda_runtime_api.h>

#define N 70001

enum kind { PLAIN, PINNED, REGISTERED, DEVICE, MANAGED, KINDS };

static char *mem[2][KINDS];
static char scratch[N];

static int on_device(enum kind k)
{
    return k == DEVICE || k == MANAGED;
}

static int on_host(enum kind k)
{
    return k != DEVICE;
}

/* Pinned memory passes for device memory. */
static int passes_for_device(enum kind k)
{
    return k != PLAIN;
}

static CUdeviceptr addr(const void *p)
{
    return (CUdeviceptr)(uintptr_t)p;
}

static void put(void *dst, int byte)
{
    memset(scratch, byte, N);
    OK(cuMemcpy(addr(dst), addr(scratch), N));
}

static void expect(const void *src, int byte)
{
    memset(scratch, 0, N);
    OK(cuMemcpy(addr(scratch), addr(src), N));
    CHECK(t_all(scratch, byte, N));
}

static void with_runtime(enum kind a, enum kind b, cudaStream_t s)
{
    char *dst = mem[0][a], *src = mem[1][b];
    for (int k = cudaMemcpyHostToHost; k <= cudaMemcpyDefault; k++) {
        int to_dev =
            k == cudaMemcpyHostToDevice || k == cudaMemcpyDeviceToDevice;
        int from_dev =
            k == cudaMemcpyDeviceToHost || k == cudaMemcpyDeviceToDevice;
        int good = k == cudaMemcpyDefault ||
                   ((to_dev ? passes_for_device(a) : on_host(a)) &&
                    (from_dev ? passes_for_device(b) : on_host(b)));
        put(src, 10 + k);
        IS(cudaMemcpy(dst, src, N, (enum cudaMemcpyKind)k),
           good ? cudaSuccess : cudaErrorInvalidValue);
        if (good)
            expect(dst, 10 + k);
        put(src, 20 + k);
        IS(cudaMemcpyAsync(dst, src, N, (enum cudaMemcpyKind)k, s),
           good ? cudaSuccess : cudaErrorInvalidValue);
        OK(cudaStreamSynchronize(s));
        if (good)
            expect(dst, 20 + k);
    }
    IS(cudaMemcpy(dst, src, N, (enum cudaMemcpyKind)9),
       cudaErrorInvalidMemcpyDirection);
    cudaGetLastError();
}

static void with_driver(enum kind a, enum kind b, CUstream s)
{
    char *dst = mem[0][a], *src = mem[1][b];
    put(src, 1);
    OK(cuMemcpyAsync(addr(dst), addr(src), N, s));
    OK(cuStreamSynchronize(s));
    expect(dst, 1);
    if (on_device(a) && on_host(b)) {
        put(src, 2);
        OK(cuMemcpyHtoD(addr(dst), src, N));
        expect(dst, 2);
        put(src, 3);
        OK(cuMemcpyHtoDAsync(addr(dst), src, N, s));
        OK(cuStreamSynchronize(s));
        expect(dst, 3);
    }
    if (on_host(a) && on_device(b)) {
        put(src, 4);
        OK(cuMemcpyDtoH(dst, addr(src), N));
        expect(dst, 4);
        put(src, 5);
        OK(cuMemcpyDtoHAsync(dst, addr(src), N, s));
        OK(cuStreamSynchronize(s));
        expect(dst, 5);
    }
    if (on_device(a) && on_device(b)) {
        put(src, 6);
        OK(cuMemcpyDtoD(addr(dst), addr(src), N));
        expect(dst, 6);
        put(src, 7);
        OK(cuMemcpyDtoDAsync(addr(dst), addr(src), N, s));
        OK(cuStreamSynchronize(s));
        expect(dst, 7);
    }
    IS(cuMemcpyHtoD(addr(mem[0][PLAIN]), mem[1][PLAIN], N),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyDtoH(mem[0][DEVICE], addr(mem[1][DEVICE]), N),
       CUDA_ERROR_INVALID_VALUE);
}

static void allocate(char *of[KINDS])
{
    of[PLAIN] = malloc(N);
    of[REGISTERED] = malloc(N);
    CHECK(of[PLAIN] != NULL && of[REGISTERED] != NULL);
    OK(cudaMallocHost((void **)&of[PINNED], N));
    OK(cudaHostRegister(of[REGISTERED], N, cudaHostRegisterDefault));
    OK(cudaMalloc((void **)&of[DEVICE], N));
    OK(cudaMallocManaged((void **)&of[MANAGED], N, cudaMemAttachGlobal));
}

static void release(char *of[KINDS])
{
    IS(cudaHostRegister(of[REGISTERED], 1, 0),
       cudaErrorHostMemoryAlreadyRegistered);
    OK(cudaHostUnregister(of[REGISTERED]));
    IS(cudaHostUnregister(of[REGISTERED]), cudaErrorHostMemoryNotRegistered);
    OK(cudaFreeHost(of[PINNED]));
    OK(cudaFree(of[DEVICE]));
    OK(cudaFree(of[MANAGED]));
    OK(cudaFree(NULL));
    OK(cudaFreeHost(NULL));
    free(of[PLAIN]);
    free(of[REGISTERED]);
}

int main(void)
{
    cudaStream_t streams[2];
    OK(cudaStreamCreate(&streams[0]));
    OK(cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking));
    allocate(mem[0]);
    allocate(mem[1]);
    for (int a = 0; a < KINDS; a++) {
        for (int b = 0; b < KINDS; b++) {
            with_runtime(a, b, streams[(a + b) % 2]);
            with_driver(a, b, streams[(a + b + 1) % 2]);
        }
    }
    OK(cudaMemcpy(mem[0][DEVICE], mem[1][DEVICE], 0, cudaMemcpyDefault));
    OK(cudaMemset(mem[0][DEVICE], 0x55, N));
    expect(mem[0][DEVICE], 0x55);
    OK(cudaMemsetAsync(mem[0][MANAGED], 0x66, N, streams[1]));
    OK(cudaStreamSynchronize(streams[1]));
    expect(mem[0][MANAGED], 0x66);
    IS(cudaMemset(mem[0][PLAIN], 0, N), cudaErrorInvalidValue);
    release(mem[0]);
    release(mem[1]);
    OK(cudaStreamDestroy(streams[0]));
    OK(cudaStreamDestroy(streams[1]));
    return 0;
}
