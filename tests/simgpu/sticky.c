/* SPDX-License-Identifier: BSD-3-Clause */
/* sticky.c - an illegal address, here by a graph whose memory was freed, kills
 * its context: all later calls give the same error, queued work is dropped,
 * other contexts go on, and only a reset helps. */
#include "t.h"

#include <cuda_runtime_api.h>

static CUgraphExec graph_on_freed_memory(CUstream s)
{
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr d;
    OK(cuMemAlloc(&d, 64));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemsetD8Async(d, 1, 64, s));
    OK(cuStreamEndCapture(s, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    OK(cuMemFree(d));
    return exec;
}

static int called;

static void call(void *user)
{
    (void)user;
    called = 1;
}

int main(void)
{
    CUcontext own, primary = t_context(0);
    CUstream s;
    CUevent e;
    CUdeviceptr d, elsewhere;
    struct t_gate gate;
    char host[64];
    int n;
    OK(cuMemAlloc(&d, 64));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&e, 0));
    CUgraphExec exec = graph_on_freed_memory(s);
    t_gate_close(&gate, s);
    OK(cuGraphLaunch(exec, s)); /* it fails when it runs, not now */
    OK(cuLaunchHostFunc(s, call, NULL));
    t_gate_open(&gate);
    IS(cuStreamSynchronize(s), CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(called == 0);
    IS(cuStreamSynchronize(s), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(cuMemAlloc(&d, 64), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(cuMemcpyDtoH(host, d, 64), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(cuEventQuery(e), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(cuEventRecord(e, s), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(cudaMemset((void *)(uintptr_t)d, 0, 64), cudaErrorIllegalAddress);
    IS(cudaGetLastError(), cudaErrorIllegalAddress);
    IS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    OK(cuDeviceGetCount(&n));
    /* another context of the same device is not touched */
    OK(cuCtxCreate(&own, NULL, 0, 0));
    OK(cuMemAlloc(&elsewhere, 64));
    OK(cuMemsetD8(elsewhere, 3, 64));
    OK(cuMemcpyDtoH(host, elsewhere, 64));
    CHECK(t_all(host, 3, 64));
    OK(cuCtxDestroy(own));
    OK(cuCtxSetCurrent(primary));
    IS(cuMemAlloc(&d, 64), CUDA_ERROR_ILLEGAL_ADDRESS);
    /* the reset */
    OK(cudaDeviceReset());
    t_context(0);
    OK(cuMemAlloc(&d, 64));
    OK(cuMemsetD8(d, 4, 64));
    OK(cuMemcpyDtoH(host, d, 64));
    CHECK(t_all(host, 4, 64));
    return 0;
}
