/* SPDX-License-Identifier: BSD-3-Clause */
/* ipc_range.c - a handle made from an address inside an allocation is for the
 * whole of it and opens at its beginning; both processes see one memory; a
 * repeated open counts, and one close too many is refused
 * (SIMGPU_IPC_REOPEN=counted). */
#include "t.h"

#define N 10000
#define INSIDE 5000

static void exporter(int fd)
{
    CUipcMemHandle handle;
    CUdeviceptr small, d;
    static unsigned char host[N];
    t_context(0);
    OK(cuMemAlloc(&small, 300)); /* so that d begins inside a page */
    OK(cuMemAlloc(&d, N));
    for (int i = 0; i < N; i++)
        host[i] = (unsigned char)(i * 7);
    OK(cuMemcpyHtoD(d, host, N));
    OK(cuIpcGetMemHandle(&handle, d + INSIDE));
    t_send(fd, &handle, sizeof(handle));
    t_meet(fd); /* the importer has written */
    OK(cuMemcpyDtoH(host, d, N));
    CHECK(host[INSIDE] == 0xAB && host[INSIDE + 1] != 0xAB);
    t_meet(fd);
    OK(cuMemFree(d));
}

static void importer(int fd)
{
    CUipcMemHandle handle;
    CUdeviceptr d, again, base;
    size_t size;
    unsigned managed;
    static unsigned char host[N];
    t_context(0);
    t_receive(fd, &handle, sizeof(handle));
    OK(cuIpcOpenMemHandle(&d, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    CHECK(!t_cpu_can((char *)(uintptr_t)d, 0));
    OK(cuMemGetAddressRange(&base, &size, d + INSIDE));
    CHECK(base == d && size == N);
    OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, d));
    CHECK(!managed);
    OK(cuMemcpyDtoH(host, d, N));
    for (int i = 0; i < N; i++)
        CHECK(host[i] == (unsigned char)(i * 7));
    OK(cuMemsetD8(d + INSIDE, 0xAB, 1));
    OK(cuCtxSynchronize());
    t_meet(fd);

    IS(cuMemFree(d), CUDA_ERROR_INVALID_VALUE);
    IS(cuIpcGetMemHandle(&handle, d), CUDA_ERROR_INVALID_VALUE);
    OK(cuIpcOpenMemHandle(&again, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    CHECK(again == d);
    OK(cuIpcCloseMemHandle(d));
    OK(cuMemcpyDtoH(host, d, N));
    IS(cuIpcCloseMemHandle(d + 256), CUDA_ERROR_INVALID_VALUE);
    OK(cuIpcCloseMemHandle(d));
    IS(cuIpcCloseMemHandle(d), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyDtoH(host, d, N), CUDA_ERROR_INVALID_VALUE);
    t_meet(fd);
}

int main(void)
{
    return t_pair(exporter, importer);
}
