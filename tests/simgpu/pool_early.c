/* SPDX-License-Identifier: BSD-3-Clause */
/* pool_early.c - another stream uses memory before the point where it is
 * allocated: the copy is not made, the context is broken from there on, and
 * the counter says why. Ordered by an event, the same is right. */
#include "t.h"

#define N 4096

int main(void)
{
    struct simgpu_counters *c = t_counters();
    struct t_gate gate;
    CUdeviceptr d, e;
    CUstream a, b;
    CUevent allocated;
    char host[N];
    memset(host, 9, N);
    t_context(0);
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&allocated, CU_EVENT_DISABLE_TIMING));

    /* well ordered */
    t_gate_close(&gate, a);
    OK(cuMemAllocAsync(&d, N, a));
    OK(cuEventRecord(allocated, a));
    OK(cuStreamWaitEvent(b, allocated, 0));
    OK(cuMemcpyHtoDAsync(d, host, N, b));
    t_gate_open(&gate);
    OK(cuStreamSynchronize(b));
    OK(cuMemcpyDtoH(host, d, N));
    CHECK(t_all(host, 9, N) && c->order_errors == 0);

    /* not ordered */
    t_gate_close(&gate, a);
    OK(cuMemAllocAsync(&e, N, a));
    OK(cuMemcpyHtoDAsync(e, host, N, b));
    IS(cuStreamSynchronize(b), CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(c->order_errors == 1);
    IS(cuMemAlloc(&e, N), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    t_gate_open(&gate);
    OK(cuDevicePrimaryCtxReset(0)); /* and is good as new after this */
    t_context(0);
    OK(cuMemAlloc(&e, N));
    return 0;
}
