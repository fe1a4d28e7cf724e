/* SPDX-License-Identifier: BSD-3-Clause */
/* ipc_twice.c - a mapping that is open cannot be opened again in the process,
 * whether by the same handle or by one from another address inside the
 * allocation; closed, it can. */
#include "t.h"

#define FLAG CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS

static void exporter(int fd)
{
    CUipcMemHandle handle;
    CUdeviceptr d;
    t_context(0);
    OK(cuMemAlloc(&d, 4096));
    OK(cuMemsetD8(d, 6, 4096));
    OK(cuCtxSynchronize());
    for (int i = 0; i < 2; i++) {
        OK(cuIpcGetMemHandle(&handle, d + 2048 * (unsigned)i));
        t_send(fd, &handle, sizeof(handle));
    }
    t_meet(fd);
    OK(cuMemFree(d));
}

static void importer(int fd)
{
    CUipcMemHandle first, inside;
    CUdeviceptr d, again = 1;
    CUcontext other;
    char host[64];
    t_context(0);
    t_receive(fd, &first, sizeof(first));
    t_receive(fd, &inside, sizeof(inside));
    OK(cuIpcOpenMemHandle(&d, first, FLAG));
    IS(cuIpcOpenMemHandle(&again, first, FLAG), CUDA_ERROR_ALREADY_MAPPED);
    IS(cuIpcOpenMemHandle(&again, inside, FLAG), CUDA_ERROR_ALREADY_MAPPED);
    CHECK(again == 1);
    /* nor by another context of the device */
    OK(cuCtxCreate(&other, NULL, 0, 0));
    IS(cuIpcOpenMemHandle(&again, first, FLAG), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxDestroy(other));
    /* the first one is whole */
    OK(cuMemcpyDtoH(host, d, 64));
    CHECK(t_all(host, 6, 64));
    OK(cuIpcCloseMemHandle(d));
    IS(cuIpcCloseMemHandle(d), CUDA_ERROR_INVALID_VALUE);
    OK(cuIpcOpenMemHandle(&d, inside, FLAG));
    OK(cuIpcCloseMemHandle(d));
    t_meet(fd);
}

int main(void)
{
    return t_pair(exporter, importer);
}
