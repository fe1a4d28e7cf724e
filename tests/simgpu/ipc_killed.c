/* SPDX-License-Identifier: BSD-3-Clause */
/* ipc_killed.c - an importer that is killed with a mapping open does not hold
 * the exporter's memory any longer. */
#include "t.h"

#define N (1 << 20)

static size_t in_use(void)
{
    size_t free_bytes, total;
    OK(cuMemGetInfo(&free_bytes, &total));
    return total - free_bytes;
}

static void importer(int fd)
{
    CUipcMemHandle handle;
    CUdeviceptr d;
    t_context(0);
    for (int i = 0; i < 2; i++) {
        t_receive(fd, &handle, sizeof(handle));
        OK(cuIpcOpenMemHandle(&d, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    }
    t_meet(fd);                 /* both are mapped */
    t_meet(fd);                 /* both are freed there */
    OK(cuIpcCloseMemHandle(d)); /* the first one stays open */
    t_meet(fd);
    for (;;)
        pause();
}

int main(void)
{
    CUipcMemHandle handle;
    CUdeviceptr d[2];
    int fds[2], status;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        close(fds[0]); /* so that an end of the parent ends the child */
        importer(fds[1]);
    }
    close(fds[1]);
    t_context(0);
    for (int i = 0; i < 2; i++) {
        OK(cuMemAlloc(&d[i], N));
        OK(cuIpcGetMemHandle(&handle, d[i]));
        t_send(fds[0], &handle, sizeof(handle));
    }
    t_meet(fds[0]);
    OK(cuMemFree(d[0]));
    OK(cuMemFree(d[1]));
    CHECK(in_use() == 2 * N);
    t_meet(fds[0]);
    t_meet(fds[0]);
    CHECK(in_use() == N);
    kill(child, SIGKILL);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(in_use() == 0);
    return 0;
}
