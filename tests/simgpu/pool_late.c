/* SPDX-License-Identifier: BSD-3-Clause */
/* pool_late.c - work of another stream that was queued in time but runs after
 * the free: it fails and changes nothing, since the memory may have another
 * owner by then. */
#include "t.h"

#define N 4096

int main(void)
{
    struct simgpu_counters *c = t_counters();
    struct t_gate gate;
    CUdeviceptr d, again;
    CUstream a, b;
    t_context(0);
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuMemAllocAsync(&d, N, a));
    OK(cuStreamSynchronize(a));
    t_gate_close(&gate, b);
    OK(cuMemsetD8Async(d, 1, N, b));
    OK(cuMemFreeAsync(d, a));
    OK(cuMemAllocAsync(&again, N, a));
    CHECK(again == d);
    OK(cuMemsetD8Async(again, 2, N, a));
    OK(cuStreamSynchronize(a));
    CHECK(c->order_errors == 0);
    t_gate_open(&gate);
    IS(cuStreamSynchronize(b), CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(c->order_errors == 1);
    return 0;
}
