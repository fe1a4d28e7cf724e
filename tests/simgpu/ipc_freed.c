/* SPDX-License-Identifier: BSD-3-Clause */
/* ipc_freed.c - the exporter frees memory that an importer has mapped: the
 * address is given out again but the old mapping does not show the new bytes,
 * the memory stays in use until it is closed, the old handle is dead, and the
 * new one is another. */
#include "t.h"

#define N (1 << 20)

static size_t in_use(void)
{
    size_t free_bytes, total;
    OK(cuMemGetInfo(&free_bytes, &total));
    return total - free_bytes;
}

static void exporter(int fd)
{
    CUipcMemHandle old_handle, new_handle;
    CUdeviceptr d, e;
    unsigned long long old_id, new_id;
    t_context(0);
    size_t before = in_use();
    OK(cuMemAlloc(&d, N));
    OK(cuMemsetD8(d, 1, N));
    OK(cuCtxSynchronize());
    OK(cuPointerGetAttribute(&old_id, CU_POINTER_ATTRIBUTE_BUFFER_ID, d));
    OK(cuIpcGetMemHandle(&old_handle, d));
    t_send(fd, &old_handle, sizeof(old_handle));
    t_meet(fd); /* it is mapped there */
    OK(cuMemFree(d));
    CHECK(in_use() - before >= N);
    OK(cuMemAlloc(&e, N));
    CHECK(e == d);
    OK(cuPointerGetAttribute(&new_id, CU_POINTER_ATTRIBUTE_BUFFER_ID, e));
    CHECK(new_id != old_id);
    OK(cuMemsetD8(e, 2, N));
    OK(cuCtxSynchronize());
    OK(cuIpcGetMemHandle(&new_handle, e));
    CHECK(memcmp(&new_handle, &old_handle, sizeof(new_handle)) != 0);
    CHECK(in_use() - before >= 2 * N);
    t_send(fd, &new_handle, sizeof(new_handle));
    t_meet(fd); /* the old mapping is gone */
    CHECK(in_use() - before < 2 * N);
    t_meet(fd);
}

static void importer(int fd)
{
    CUipcMemHandle old_handle, new_handle;
    CUdeviceptr d, e, again;
    unsigned char *host = malloc(N);
    t_context(0);
    t_receive(fd, &old_handle, sizeof(old_handle));
    OK(cuIpcOpenMemHandle(&d, old_handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    OK(cuMemcpyDtoH(host, d, N));
    CHECK(t_all(host, 1, N));
    t_meet(fd);
    t_receive(fd, &new_handle, sizeof(new_handle));
    OK(cuMemcpyDtoH(host, d, N));
    CHECK(host[0] != 2 && host[N - 1] != 2);
    OK(cuIpcOpenMemHandle(&e, new_handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    CHECK(e != d);
    OK(cuMemcpyDtoH(host, e, N));
    CHECK(t_all(host, 2, N));
    OK(cuIpcCloseMemHandle(d));
    IS(cuIpcOpenMemHandle(&again, old_handle,
                          CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
       CUDA_ERROR_INVALID_VALUE);
    t_meet(fd);
    OK(cuIpcCloseMemHandle(e));
    t_meet(fd);
    free(host);
}

int main(void)
{
    return t_pair(exporter, importer);
}
