/* SPDX-License-Identifier: BSD-3-Clause */
/* ipc_own.c - a handle does not open in the process that made it. */
#include "t.h"

int main(void)
{
    CUipcMemHandle handle;
    CUdeviceptr d, opened;

    t_context(0);
    OK(cuMemAlloc(&d, 4096));
    OK(cuIpcGetMemHandle(&handle, d));
    IS(cuIpcOpenMemHandle(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
       CUDA_ERROR_INVALID_CONTEXT);
    return 0;
}
