/* SPDX-License-Identifier: BSD-3-Clause */
/* delay.c - SIMGPU_DELAY_US (set to 300 ms by the test) keeps an asynchronous
 * copy from being seen at once, without any help of the program. */
#include "t.h"

int main(void)
{
    CUstream s;
    CUdeviceptr d;
    char *pinned;
    t_context(0);
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&d, 64));
    OK(cuMemHostAlloc((void **)&pinned, 64, 0));
    memset(pinned, 1, 64);
    OK(cuMemsetD8Async(d, 2, 64, s));
    OK(cuMemcpyDtoHAsync(pinned, d, 64, s));
    CHECK(t_all(pinned, 1, 64));
    OK(cuStreamSynchronize(s));
    CHECK(t_all(pinned, 2, 64));
    return 0;
}
