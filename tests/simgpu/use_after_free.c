/* SPDX-License-Identifier: BSD-3-Clause */
/* use_after_free.c - copies, fills and queries refuse memory that was freed,
 * and so do a second free and a free that is not of the beginning. */
#include "t.h"

int main(void)
{
    char host[64] = {0};
    unsigned type;
    CUdeviceptr d, e, base;
    size_t size;
    t_context(0);
    OK(cuMemAlloc(&d, 4096));
    OK(cuMemAlloc(&e, 4096));
    IS(cuMemFree(d + 256), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(d));
    IS(cuMemFree(d), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoD(d, host, 64), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyDtoH(host, d, 64), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyDtoD(e, d, 64), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpy((CUdeviceptr)(uintptr_t)host, d, 64), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemsetD8(d, 0, 64), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemGetAddressRange(&base, &size, d), CUDA_ERROR_NOT_FOUND);
    IS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, d),
       CUDA_ERROR_INVALID_VALUE);

    /* past the end */
    IS(cuMemcpyHtoD(e + 4090, host, 64), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoD(0, host, 64), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(e));
    return 0;
}
