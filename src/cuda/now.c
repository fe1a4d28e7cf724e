/* SPDX-License-Identifier: BSD-3-Clause */
/* now.c - the second way to copy: cuMemcpy in the memory's context.
 *
 * It runs on the legacy default stream, so after all that fence.c waits for;
 * the direction is in the addresses. From pageable host memory it may return
 * before the last bytes have reached the device, hence the wait for the stream.
 * Row by row: slow, but it needs nothing that the first way needs. */
#include "cuda/internal.h"

#include "base/log.h"

enum cx_status cx_cuda_copy_now(struct cx_gpu *gpu, const struct cx_mem *mem,
                                void *dst, size_t dpitch, const void *src,
                                size_t spitch, size_t width, size_t rows)
{
    const struct driver *cu = cx_cuda_ready(gpu);
    CUresult res = CUDA_SUCCESS;
    struct visit visit;

    if (!cu || !mem->ctx) {
        cx_error("device memory without a usable CUDA context");
        return CX_ERR_GPU;
    }
    res = cx_cuda_enter(cu, mem->ctx, &visit);
    if (res != CUDA_SUCCESS)
        return cx_cuda_fail(cu, "cuCtxPushCurrent", res);
    for (size_t row = 0; row < rows && res == CUDA_SUCCESS; row++)
        res = cu->cuMemcpy((CUdeviceptr)(uintptr_t)dst + row * dpitch,
                           (CUdeviceptr)(uintptr_t)src + row * spitch, width);
    if (res == CUDA_SUCCESS)
        res = cu->cuStreamSynchronize(CU_STREAM_LEGACY);
    cx_cuda_leave(&visit);
    return res == CUDA_SUCCESS ? CX_OK : cx_cuda_fail(cu, "cuMemcpy", res);
}
