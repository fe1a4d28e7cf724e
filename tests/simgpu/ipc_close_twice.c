/* SPDX-License-Identifier: BSD-3-Clause */
/* ipc_close_twice.c - a mapping is closed once; a second close is refused. */
#include "t.h"

static void exporter(int fd)
{
    CUipcMemHandle handle;
    CUdeviceptr d;

    t_context(0);
    OK(cuMemAlloc(&d, 4096));
    OK(cuIpcGetMemHandle(&handle, d));
    t_send(fd, &handle, sizeof(handle));
    t_meet(fd); /* the importer has closed it */
    OK(cuMemFree(d));
}

static void importer(int fd)
{
    CUipcMemHandle handle;
    CUdeviceptr d;

    t_context(0);
    t_receive(fd, &handle, sizeof(handle));
    OK(cuIpcOpenMemHandle(&d, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    OK(cuIpcCloseMemHandle(d));
    IS(cuIpcCloseMemHandle(d), CUDA_ERROR_INVALID_VALUE);
    t_meet(fd);
}

int main(void)
{
    return t_pair(exporter, importer);
}
