/* SPDX-License-Identifier: BSD-3-Clause */
/* reuse.c - freed addresses are given out again, the last one first, as
 * another allocation; with the argument "off" (and SIMGPU_REUSE=off) never. */
#include "t.h"

static unsigned long long id_of(CUdeviceptr d)
{
    unsigned long long id;
    OK(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, d));
    return id;
}

static void reused(void)
{
    CUdeviceptr a, b, c, d;
    OK(cuMemAlloc(&a, 1000));
    OK(cuMemAlloc(&b, 1000));
    unsigned long long id = id_of(b);
    CHECK(id != id_of(a) && id == id_of(b + 999));
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    OK(cuMemAlloc(&c, 1000));
    OK(cuMemAlloc(&d, 1000));
    CHECK(c == b && d == a);
    CHECK(id_of(c) != id);
}

static void not_reused(void)
{
    CUdeviceptr seen[20];
    for (int i = 0; i < 20; i++) {
        OK(cuMemAlloc(&seen[i], 1000));
        OK(cuMemFree(seen[i]));
        for (int k = 0; k < i; k++)
            CHECK(seen[k] != seen[i]);
    }
}

/* Memory is found again whatever sizes it was cut into. */
static void all_of_it(void)
{
    CUdeviceptr p[64];
    size_t free_bytes, total, now;
    OK(cuMemGetInfo(&free_bytes, &total));
    size_t part = free_bytes / 64 & ~(size_t)255;
    for (int round = 1; round <= 64; round *= 4) {
        for (int i = 0; i < 64 / round; i++)
            OK(cuMemAlloc(&p[i], part * (size_t)round));
        IS(cuMemAlloc(&p[63], part * 64), CUDA_ERROR_OUT_OF_MEMORY);
        for (int i = 64 / round; i-- > 0;)
            OK(cuMemFree(p[i]));
        OK(cuMemGetInfo(&now, &total));
        CHECK(now == free_bytes);
    }
}

int main(int argc, char **argv)
{
    t_context(0);
    if (argc > 1 && strcmp(argv[1], "off") == 0)
        not_reused();
    else
        reused();
    all_of_it();
    return 0;
}
