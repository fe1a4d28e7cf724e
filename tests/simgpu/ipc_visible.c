/* SPDX-License-Identifier: BSD-3-Clause */
/* ipc_visible.c - a handle is for a device of the machine, whatever number two
 * processes give it; a process that does not see that device cannot open it,
 * nor take a descriptor of its memory (SIMGPU_DEVICES=3,
 * SIMGPU_P2P=off). */
#include "t.h"

#define FLAG CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
#define SHARED CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

struct message {
    CUuuid uuid;
    CUipcMemHandle handle;
    int fd;
};

static void exporter(int fd)
{
    struct message m;
    CUdeviceptr d;
    CUmemGenericAllocationHandle block;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = SHARED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    memset(&m, 0, sizeof(m));
    setenv("CUDA_VISIBLE_DEVICES", "1,0", 1);
    t_context(0); /* the machine's device 1 */
    OK(cuDeviceGetUuid(&m.uuid, 0));
    OK(cuMemAlloc(&d, 4096));
    OK(cuMemsetD8(d, 8, 4096));
    OK(cuCtxSynchronize());
    OK(cuIpcGetMemHandle(&m.handle, d));
    OK(cuMemCreate(&block, (size_t)2 << 20, &prop, 0));
    OK(cuMemExportToShareableHandle(&m.fd, block, SHARED, 0));
    t_send(fd, &m, sizeof(m));
    t_meet(fd);
}

static int import(const struct message *m, CUmemGenericAllocationHandle *block)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getppid(), m->fd);
    FILE *f = fopen(path, "r+");
    CHECK(f != NULL);
    return (int)cuMemImportFromShareableHandle(
        block, (void *)(intptr_t)fileno(f), SHARED);
}

static void sees_it(int fd)
{
    struct message m;
    CUuuid uuid;
    CUdeviceptr d;
    CUmemGenericAllocationHandle block;
    CUmemAllocationProp prop;
    char host[64];
    setenv("CUDA_VISIBLE_DEVICES", "2,0,1", 1);
    t_context(2);
    t_receive(fd, &m, sizeof(m));
    OK(cuDeviceGetUuid(&uuid, 2));
    CHECK(memcmp(&uuid, &m.uuid, sizeof(uuid)) == 0);
    OK(cuIpcOpenMemHandle(&d, m.handle, FLAG));
    OK(cuMemcpyDtoH(host, d, 64));
    CHECK(t_all(host, 8, 64));
    IS(import(&m, &block), CUDA_SUCCESS);
    OK(cuMemGetAllocationPropertiesFromHandle(&prop, block));
    CHECK(prop.location.id == 2);
    t_meet(fd);
}

static void sees_it_not(int fd)
{
    struct message m;
    CUdeviceptr d;
    CUmemGenericAllocationHandle block;
    setenv("CUDA_VISIBLE_DEVICES", "0", 1);
    t_context(0);
    t_receive(fd, &m, sizeof(m));
    IS(cuIpcOpenMemHandle(&d, m.handle, FLAG), CUDA_ERROR_INVALID_DEVICE);
    IS(import(&m, &block), CUDA_ERROR_NOT_SUPPORTED);
    t_meet(fd);
}

int main(int argc, char **argv)
{
    int hidden = argc > 1 && strcmp(argv[1], "hidden") == 0;
    return t_pair(exporter, hidden ? sees_it_not : sees_it);
}
