/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_access.c - the CPU can touch no byte of device memory, and every byte of
 * pinned and managed memory. */
#include "t.h"

int main(void)
{
    CUdeviceptr d, m;
    void *h;
    t_context(0);
    OK(cuMemAlloc(&d, 10000));
    OK(cuMemAllocManaged(&m, 10000, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemHostAlloc(&h, 10000, 0));
    for (size_t at = 0; at < 10000; at += 9999) {
        CHECK(!t_cpu_can((char *)(uintptr_t)d + at, 0));
        CHECK(!t_cpu_can((char *)(uintptr_t)d + at, 1));
        CHECK(t_cpu_can((char *)(uintptr_t)m + at, 1));
        CHECK(t_cpu_can((char *)h + at, 1));
    }
    OK(cuMemFree(d));
    CHECK(!t_cpu_can((char *)(uintptr_t)d, 0));
    OK(cuMemFree(m));
    OK(cuMemFreeHost(h));
    return 0;
}
