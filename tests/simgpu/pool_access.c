/* SPDX-License-Identifier: BSD-3-Clause */
/* pool_access.c - memory of a pool is for its own device, until the pool lets
 * another in; peer access of contexts does not (SIMGPU_DEVICES=3,
 * SIMGPU_P2P=0-1). */
#include "t.h"

#define N 4096

int main(void)
{
    CUmemoryPool pool;
    CUmemAccessDesc one = {{CU_MEM_LOCATION_TYPE_DEVICE, 1},
                           CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemAccessDesc two = {{CU_MEM_LOCATION_TYPE_DEVICE, 2},
                           CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemAccessDesc self = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                            CU_MEM_ACCESS_FLAGS_PROT_NONE};
    CUmemAccess_flags flags;
    CUdeviceptr d, e;
    unsigned may;
    char host[N];
    CUcontext c0 = t_context(0);
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemAllocAsync(&d, N, NULL));
    OK(cuCtxSynchronize());
    CUcontext c1 = t_context(1);
    OK(cuMemAlloc(&e, N));
    OK(cuMemsetD8(e, 7, N));
    OK(cuCtxSynchronize());

    /* from device 1: not without access, whatever the contexts agreed on */
    OK(cuCtxEnablePeerAccess(c0, 0));
    OK(cuPointerGetAttribute(&may, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, d));
    CHECK(may == 0);
    IS(cuMemcpyDtoD(d, e, N), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyDtoH(host, d, N), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemsetD8(d, 0, N), CUDA_ERROR_INVALID_VALUE);
    /* a peer copy names the contexts and works */
    OK(cuMemcpyPeer(d, c0, e, c1, N));
    OK(cuCtxSynchronize());
    /* with access */
    OK(cuMemPoolSetAccess(pool, &one, 1));
    OK(cuMemPoolGetAccess(&flags, pool, &one.location));
    CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cuMemcpyDtoH(host, d, N));
    CHECK(t_all(host, 7, N));
    /* what cannot be */
    IS(cuMemPoolSetAccess(pool, &two, 1), CUDA_ERROR_INVALID_DEVICE);
    IS(cuMemPoolSetAccess(pool, &self, 1), CUDA_ERROR_INVALID_DEVICE);
    one.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    OK(cuMemPoolSetAccess(pool, &one, 1));
    IS(cuMemcpyDtoH(host, d, N), CUDA_ERROR_INVALID_VALUE);
    return 0;
}
