/* SPDX-License-Identifier: BSD-3-Clause */
/* runtime_12.c - a program that was linked with CUDA 12: its runtime library
 * has that version, and the old forms of what CUDA 13 changed. */
#define cudaMemAdvise cuda13_advise
#define cudaMemPrefetchAsync cuda13_prefetch
#define cudaStreamGetCaptureInfo cuda13_info
#include "t.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#undef cudaMemAdvise
#undef cudaMemPrefetchAsync
#undef cudaStreamGetCaptureInfo

/* As CUDA 12's header has them; the struct has 1032 bytes there. */
cudaError_t cudaGetDeviceProperties_v2(void *prop, int device);
cudaError_t cudaMemAdvise(const void *, size_t, enum cudaMemoryAdvise, int);
cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t);
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t,
                                        enum cudaStreamCaptureStatus *,
                                        unsigned long long *, cudaGraph_t *,
                                        const cudaGraphNode_t **, size_t *);

static int int_at(const char *prop, size_t offset)
{
    int value;
    memcpy(&value, prop + offset, sizeof(value));
    return value;
}

int main(void)
{
    char prop[1032 + 8], host[64];
    void *d, *m;
    int version, bus;
    cudaStream_t s;
    cudaGraph_t graph, same;
    enum cudaStreamCaptureStatus status;
    unsigned long long id = 0;
    Dl_info info;
    OK(cudaRuntimeGetVersion(&version));
    CHECK(version == 12080);
    CHECK(dladdr((void *)(uintptr_t)cudaMalloc, &info) != 0);
    CHECK(strstr(info.dli_fname, "libcudart.so.12") != NULL);
    memset(prop, 0x7e, sizeof(prop));
    OK(cudaGetDeviceProperties_v2(prop, 0));
    CHECK(t_all(prop + 1032, 0x7e, 8));
    CHECK(int_at(prop, 360) == 9 && int_at(prop, 364) == 0); /* major, minor */
    CHECK(int_at(prop, 388) == 132);  /* multiProcessorCount */
    CHECK(int_at(prop, 584) == 0x10); /* pciBusID */
    OK(cudaDeviceGetAttribute(&bus, cudaDevAttrPciBusId, 0));
    CHECK(bus == 0x10);
    OK(cudaMalloc(&d, 64));
    OK(cudaMemset(d, 5, 64));
    OK(cudaMemcpy(host, d, 64, cudaMemcpyDeviceToHost));
    CHECK(t_all(host, 5, 64));
    OK(cudaMallocManaged(&m, 64, cudaMemAttachGlobal));
    OK(cudaMemAdvise(m, 64, cudaMemAdviseSetReadMostly, 0));
    OK(cudaMemPrefetchAsync(m, 64, cudaCpuDeviceId, NULL));
    IS(cudaMemAdvise(host, 64, cudaMemAdviseSetReadMostly, 0),
       cudaErrorInvalidValue);
    OK(cudaStreamCreate(&s));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaStreamGetCaptureInfo_v2(s, &status, &id, &same, NULL, NULL));
    CHECK(status == cudaStreamCaptureStatusActive && id != 0);
    OK(cudaStreamEndCapture(s, &graph));
    CHECK(graph == same);
    return 0;
}
