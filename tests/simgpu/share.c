/* SPDX-License-Identifier: BSD-3-Clause */
/* share.c - two processes on one device have its memory together, all kinds of
 * it; what a process that is killed had is free again (argument: a file for
 * SIMGPU_SHARE; SIMGPU_MEM=64M). */
#include "t.h"

#define M ((size_t)1 << 20)

static size_t free_now(void)
{
    size_t free_bytes, total;
    OK(cuMemGetInfo(&free_bytes, &total));
    CHECK(total == 64 * M);
    return free_bytes;
}

static void second(int fd)
{
    CUdeviceptr d;
    CUmemGenericAllocationHandle block;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    t_meet(fd); /* the first one has 40 MiB */
    t_context(0);
    CHECK(free_now() == 24 * M);
    IS(cuMemAlloc(&d, 25 * M), CUDA_ERROR_OUT_OF_MEMORY);
    IS(cuMemAllocAsync(&d, 25 * M, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    IS(cuMemCreate(&block, 26 * M, &prop, 0), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemAlloc(&d, 4 * M));
    OK(cuMemAllocAsync(&d, 8 * M, NULL));
    OK(cuMemCreate(&block, 10 * M, &prop, 0));
    CHECK(free_now() == 2 * M);
    t_meet(fd);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    int fds[2], status;
    CUdeviceptr d, e;
    CHECK(argc == 2);
    unlink(argv[1]);
    CHECK(setenv("SIMGPU_SHARE", argv[1], 1) == 0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        close(fds[0]);
        second(fds[1]);
    }
    close(fds[1]);
    t_context(0);
    CHECK(free_now() == 64 * M);
    OK(cuMemAlloc(&d, 40 * M));
    t_meet(fds[0]);
    t_meet(fds[0]); /* the second one has 22 */
    CHECK(free_now() == 2 * M);
    IS(cuMemAlloc(&e, 3 * M), CUDA_ERROR_OUT_OF_MEMORY);
    kill(child, SIGKILL);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(free_now() == 24 * M);
    OK(cuMemAlloc(&e, 24 * M));
    OK(cuMemFree(e));
    OK(cuMemFree(d));
    CHECK(free_now() == 64 * M);
    unlink(argv[1]);
    return 0;
}
