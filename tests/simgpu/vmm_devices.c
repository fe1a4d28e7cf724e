/* SPDX-License-Identifier: BSD-3-Clause */
/* vmm_devices.c - one range, chunks of two devices: a device uses the part that
 * it was given access to, from a context of its own, and a device that cannot
 * reach the memory cannot be given any (SIMGPU_DEVICES=3, SIMGPU_P2P=0-1). */
#include "vmm.h"

#define RW CU_MEM_ACCESS_FLAGS_PROT_READWRITE

int main(void)
{
    int ordinal;
    static char host[2 * CHUNK];
    CUcontext c0 = t_context(0);
    CUcontext c1 = t_context(1);
    CUdeviceptr d = t_reserve(2);
    CUmemGenericAllocationHandle a = t_block(0), b = t_block(1);
    OK(cuMemMap(d, CHUNK, 0, a, 0));
    OK(cuMemMap(d + CHUNK, CHUNK, 0, b, 0));
    OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                             d + CHUNK));
    CHECK(ordinal == 1);
    OK(t_access(d, 2 * CHUNK, 0, RW));
    OK(t_access(d + CHUNK, CHUNK, 1, RW));
    IS(t_access(d, CHUNK, 2, RW), CUDA_ERROR_INVALID_DEVICE);

    /* device 1 has access to its own half only, peers or not */
    OK(cuCtxEnablePeerAccess(c0, 0));
    OK(cuMemsetD8(d + CHUNK, 3, CHUNK));
    OK(cuCtxSynchronize());
    IS(cuMemsetD8(d, 3, CHUNK), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyDtoH(host, d, 64), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyDtoH(host, d + CHUNK - 32, 64), CUDA_ERROR_INVALID_VALUE);
    /* named by its own context, the other half can be reached */
    OK(cuMemcpyPeer(d, c0, d + CHUNK, c1, CHUNK));
    OK(cuCtxSynchronize());
    OK(cuCtxSetCurrent(c0));
    OK(cuMemcpyDtoH(host, d, 2 * CHUNK));
    CHECK(t_all(host, 3, 2 * CHUNK));
    /* taken away again */
    OK(t_access(d + CHUNK, CHUNK, 0, CU_MEM_ACCESS_FLAGS_PROT_NONE));
    IS(cuMemcpyDtoH(host, d, 2 * CHUNK), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemcpyDtoH(host, d, CHUNK));
    return 0;
}
