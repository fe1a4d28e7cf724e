/* SPDX-License-Identifier: BSD-3-Clause */
/* binding_memory.c - memory for programs of any language: a device's with
 * MT_GPU=1 in the environment, else the host's. Never freed. */
#include <stdlib.h>
#include <string.h>

#include "binding_memory.h"
#include "mtbuf.h"

static int on_gpu(void)
{
    return getenv("MT_GPU") != NULL;
}

void *bm_alloc(size_t nbytes)
{
    void *ptr = NULL;

    if (!on_gpu())
        return malloc(nbytes);
    mt_cuda_open();
    mt_cuda_ok(cuda.Malloc(&ptr, nbytes), "cudaMalloc");
    return ptr;
}

void bm_write(void *dst, const void *src, size_t nbytes)
{
    if (on_gpu())
        mt_cuda_ok(cuda.Memcpy(dst, src, nbytes, MT_H2D), "cudaMemcpy");
    else
        memcpy(dst, src, nbytes);
}

void bm_read(void *dst, const void *src, size_t nbytes)
{
    if (on_gpu())
        mt_cuda_ok(cuda.Memcpy(dst, src, nbytes, MT_D2H), "cudaMemcpy");
    else
        memcpy(dst, src, nbytes);
}
