/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel_memory.c - a kernel uses memory of every kind: of a pool, where the
 * stream has it, and a mapped range, from one mapping to the next. */
#include "kernel_test.h"
#include "vmm.h"

#define INTS ((int)(CHUNK / sizeof(int)))

static CUstream s;

static void mapped_range(void)
{
    static int host[2 * CHUNK / sizeof(int)];
    CUdeviceptr d = t_reserve(2), end = d + 2 * CHUNK;
    CUmemGenericAllocationHandle a = t_block(0), b = t_block(0);
    int value = 6;
    OK(cuMemMap(d, CHUNK, 0, a, 0));
    OK(cuMemMap(d + CHUNK, CHUNK, 0, b, 0));
    OK(t_access(d, 2 * CHUNK, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    void *params[] = {&d, &end, &value};
    OK(t_launch("fill", 1, 1, s, params));
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(host, d, 2 * CHUNK));
    for (int i = 0; i < 2 * INTS; i++)
        CHECK(host[i] == 6);
}

static void pool(void)
{
    CUdeviceptr d, end;
    int host[16], value = 7;
    OK(cuMemAllocAsync(&d, sizeof(host), s));
    end = d + sizeof(host);
    void *params[] = {&d, &end, &value};
    OK(t_launch("fill", 1, 1, s, params));
    OK(cuMemcpyDtoHAsync(host, d, sizeof(host), s));
    OK(cuStreamSynchronize(s));
    for (int i = 0; i < 16; i++)
        CHECK(host[i] == 7);
    OK(cuMemFreeAsync(d, s));
    /* after its end, in the same stream */
    OK(t_launch("fill", 1, 1, s, params));
    IS(cuStreamSynchronize(s), CUDA_ERROR_ILLEGAL_ADDRESS);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    t_context(0);
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuModuleLoad(&t_module, argv[1]));
    mapped_range();
    pool();
    return 0;
}
