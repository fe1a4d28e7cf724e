/* SPDX-License-Identifier: BSD-3-Clause */
/* nonblocking.c - a non-blocking stream does not order with the legacy one; a
 * blocking stream and a thread's own do, in both directions. */
#include "t.h"

static CUdeviceptr d;
static char host[64];

/* A copy on second while first is held up: does it wait? */
static void try(CUstream first, CUstream second, int waits)
{
    struct t_gate gate;
    t_gate_close(&gate, first);
    OK(cuMemsetD8Async(d, 9, 64, second));
    if (waits) {
        for (int i = 0; i < 1000; i++)
            IS(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
    } else {
        OK(cuStreamSynchronize(second));
    }
    IS(cuStreamQuery(first), CUDA_ERROR_NOT_READY);
    t_gate_open(&gate);
    OK(cuCtxSynchronize());
    OK(cuStreamQuery(first));
    OK(cuStreamQuery(second));
}

int main(void)
{
    CUstream blocking, other, free_running;
    t_context(0);
    OK(cuMemAlloc(&d, 64));
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&other, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&free_running, CU_STREAM_NON_BLOCKING));
    try(NULL, free_running, 0);
    try(CU_STREAM_LEGACY, free_running, 0);
    try(free_running, NULL, 0);
    try(NULL, blocking, 1);
    try(blocking, NULL, 1);
    try(CU_STREAM_PER_THREAD, NULL, 1);
    try(NULL, CU_STREAM_PER_THREAD, 1);
    try(blocking, other, 0);
    try(CU_STREAM_PER_THREAD, free_running, 0);

    /* a synchronous copy goes through the legacy stream: with the program's
     * work on a non-blocking stream it reads too early */
    struct t_gate gate;
    OK(cuMemsetD8(d, 1, 64));
    OK(cuCtxSynchronize());
    t_gate_close(&gate, free_running);
    OK(cuMemsetD8Async(d, 2, 64, free_running));
    OK(cuMemcpyDtoH(host, d, 64));
    CHECK(t_all(host, 1, 64));
    t_gate_open(&gate);
    OK(cuStreamSynchronize(free_running));
    OK(cuMemcpyDtoH(host, d, 64));
    CHECK(t_all(host, 2, 64));
    return 0;
}
