/* SPDX-License-Identifier: BSD-3-Clause */
/* ipc_refused.c - what cannot be exported, and what cannot be opened. */
#include "t.h"

int main(void)
{
    CUipcMemHandle handle;
    CUdeviceptr d, m, opened;
    void *h;
    int capable;
    char plain[64];
    t_context(0);
    OK(cuMemAlloc(&d, 4096));
    OK(cuMemAllocManaged(&m, 4096, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemHostAlloc(&h, 4096, 0));

    IS(cuIpcGetMemHandle(&handle, m), CUDA_ERROR_INVALID_VALUE);
    IS(cuIpcGetMemHandle(&handle, (CUdeviceptr)(uintptr_t)h),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuIpcGetMemHandle(&handle, (CUdeviceptr)(uintptr_t)plain),
       CUDA_ERROR_INVALID_VALUE);
    OK(cuPointerGetAttribute(
        &capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, m));
    CHECK(!capable);
    OK(cuPointerGetAttribute(
        &capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, d));
    CHECK(capable);

    /* a handle that nobody made */
    memset(&handle, 0, sizeof(handle));
    IS(cuIpcOpenMemHandle(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
       CUDA_ERROR_INVALID_VALUE);
    /* by the process that made it */
    OK(cuIpcGetMemHandle(&handle, d));
    IS(cuIpcOpenMemHandle(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
       CUDA_ERROR_INVALID_CONTEXT);
    /* without the one flag there is */
    IS(cuIpcOpenMemHandle(&opened, handle, 0), CUDA_ERROR_INVALID_VALUE);
    /* what was not opened */
    IS(cuIpcCloseMemHandle(d), CUDA_ERROR_INVALID_VALUE);
    return 0;
}
