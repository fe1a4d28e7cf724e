/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel_peers.c - a kernel reaches another device's memory once its context
 * has enabled that, and not before (SIMGPU_DEVICES=2). */
#include "kernel_test.h"

int main(int argc, char **argv)
{
    CUcontext near, far;
    CUdeviceptr there, here;
    int value = 0;
    CHECK(argc == 2);
    far = t_context(1);
    OK(cuMemAlloc(&there, 4));
    OK(cuMemsetD32(there, 77, 1));
    OK(cuCtxSynchronize());
    near = t_context(0);
    OK(cuMemAlloc(&here, 4));
    OK(cuModuleLoad(&t_module, argv[1]));
    void *params[] = {&there, &here};
    OK(cuCtxEnablePeerAccess(far, 0));
    OK(t_launch("load", 1, 1, NULL, params));
    OK(cuMemcpyDtoH(&value, here, 4));
    CHECK(value == 77);
    OK(cuCtxDisablePeerAccess(far));
    OK(t_launch("load", 1, 1, NULL, params));
    IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cuCtxSetCurrent(far));
    OK(cuCtxSynchronize());
    (void)near;
    return 0;
}
