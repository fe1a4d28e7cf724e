/* SPDX-License-Identifier: BSD-3-Clause */
/* async_old_bytes.c - who reads before waiting reads old bytes; who changes
 * the source before waiting spoils the copy, if the source is pinned. */
#include "t.h"

#define N 100000

int main(void)
{
    CUstream s;
    CUdeviceptr d;
    char *pinned;
    static char plain[N];
    struct t_gate gate;
    t_context(0);
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&d, N));
    OK(cuMemHostAlloc((void **)&pinned, N, 0));
    OK(cuMemsetD8(d, 2, N));
    OK(cuCtxSynchronize());

    memset(pinned, 1, N);
    t_gate_close(&gate, s);
    OK(cuMemcpyDtoHAsync(pinned, d, N, s));
    CHECK(t_all(pinned, 1, N));
    IS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    t_gate_open(&gate);
    OK(cuStreamSynchronize(s));
    OK(cuStreamQuery(s));
    CHECK(t_all(pinned, 2, N));

    memset(pinned, 3, N);
    t_gate_close(&gate, s);
    OK(cuMemcpyHtoDAsync(d, pinned, N, s));
    memset(pinned, 4, N); /* too early */
    t_gate_open(&gate);
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(plain, d, N));
    CHECK(t_all(plain, 4, N));

    /* a pageable source has been read when the call returns */
    memset(plain, 5, N);
    t_gate_close(&gate, s);
    OK(cuMemcpyHtoDAsync(d, plain, N, s));
    memset(plain, 6, N);
    t_gate_open(&gate);
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(plain, d, N));
    CHECK(t_all(plain, 5, N));

    /* a pageable destination has been written when the call returns */
    OK(cuMemsetD8Async(d, 7, N, s));
    OK(cuMemcpyDtoHAsync(plain, d, N, s));
    CHECK(t_all(plain, 7, N));
    return 0;
}
