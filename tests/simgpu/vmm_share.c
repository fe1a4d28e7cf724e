/* SPDX-License-Identifier: BSD-3-Clause */
/* vmm_share.c - memory shared by a descriptor: another process maps it at an
 * address of its own, and it outlives the handles of the one that made it. */
#include "vmm.h"

#define RW CU_MEM_ACCESS_FLAGS_PROT_READWRITE

static void send_fd(int to, int fd)
{
    char byte = 'x', space[CMSG_SPACE(sizeof(fd))];
    struct iovec io = {&byte, 1};
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
    memset(space, 0, sizeof(space));
    m.msg_control = space;
    m.msg_controllen = sizeof(space);
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(fd));
    memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    CHECK(sendmsg(to, &m, 0) == 1);
}

static int receive_fd(int from)
{
    char byte, space[CMSG_SPACE(sizeof(int))];
    int fd;
    struct iovec io = {&byte, 1};
    struct msghdr m = {.msg_iov = &io,
                       .msg_iovlen = 1,
                       .msg_control = space,
                       .msg_controllen = sizeof(space)};
    CHECK(recvmsg(from, &m, 0) == 1);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
    return fd;
}

static void exporter(int fd)
{
    int shared;
    char host[64];
    t_context(0);
    CUdeviceptr d = t_reserve(1);
    CUmemGenericAllocationHandle a = t_block(0);
    OK(cuMemMap(d, CHUNK, 0, a, 0));
    OK(t_access(d, CHUNK, 0, RW));
    OK(cuMemsetD8(d, 1, CHUNK));
    OK(cuCtxSynchronize());
    IS(cuMemExportToShareableHandle(&shared, a, CU_MEM_HANDLE_TYPE_FABRIC, 0),
       CUDA_ERROR_INVALID_VALUE);
    OK(cuMemExportToShareableHandle(
        &shared, a, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    send_fd(fd, shared);
    close(shared);
    t_meet(fd); /* it is mapped and written there */
    OK(cuMemcpyDtoH(host, d, 64));
    CHECK(t_all(host, 2, 64));
    OK(cuMemUnmap(d, CHUNK));
    OK(cuMemRelease(a));
    t_meet(fd);
    t_meet(fd);
}

static void importer(int fd)
{
    char host[64];
    CUmemGenericAllocationHandle a;
    CUmemAllocationProp prop;
    t_context(0);
    int shared = receive_fd(fd);
    IS(cuMemImportFromShareableHandle(&a, (void *)(intptr_t)fd,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
       CUDA_ERROR_INVALID_VALUE);
    OK(cuMemImportFromShareableHandle(
        &a, (void *)(intptr_t)shared,
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(shared);
    OK(cuMemGetAllocationPropertiesFromHandle(&prop, a));
    CHECK(prop.location.type == CU_MEM_LOCATION_TYPE_DEVICE);
    CHECK(prop.location.id == 0);
    CUdeviceptr d = t_reserve(1);
    OK(cuMemMap(d, CHUNK, 0, a, 0));
    IS(cuMemcpyDtoH(host, d, 64), CUDA_ERROR_INVALID_VALUE);
    OK(t_access(d, CHUNK, 0, RW));
    OK(cuMemcpyDtoH(host, d, 64));
    CHECK(t_all(host, 1, 64));
    OK(cuMemsetD8(d, 2, CHUNK));
    OK(cuCtxSynchronize());
    t_meet(fd);
    t_meet(fd); /* it is gone there */
    OK(cuMemcpyDtoH(host, d, 64));
    CHECK(t_all(host, 2, 64));
    OK(cuMemUnmap(d, CHUNK));
    OK(cuMemRelease(a));
    t_meet(fd);
}

int main(void)
{
    return t_pair(exporter, importer);
}
