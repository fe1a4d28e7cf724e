/* SPDX-License-Identifier: BSD-3-Clause */
/* counters.c - calls, copies and bytes are counted, in the program's own view
 * and in the file that SIMGPU_COUNTERS names (argument: that file). */
#include "simgpu/counters.h"

#include "t.h"

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/mman.h>

static const struct simgpu_counters *counters;

static uint64_t calls(const char *name)
{
    for (uint32_t i = 0; i < counters->nfns; i++)
        if (strcmp(counters->fn[i].name, name) == 0)
            return counters->fn[i].calls;
    CHECK(!"no such function");
    return 0;
}

static void open_file(const char *path)
{
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    void *map = mmap(NULL, sizeof(*counters), PROT_READ, MAP_SHARED, fd, 0);
    CHECK(map != MAP_FAILED);
    counters = map;
    CHECK(memcmp(counters->magic, SIMGPU_COUNTERS_MAGIC, 8) == 0);
    CHECK(counters->size == sizeof(*counters));
    CHECK(counters->pid == getpid());
    close(fd);
}

int main(int argc, char **argv)
{
    const CUuuid id = SIMGPU_CONTROL_UUID;
    const void *table;
    CUdeviceptr d, e;
    char host[100], *p;
    CHECK(argc == 2);
    OK(cuGetExportTable(&table, &id));
    counters = ((const struct simgpu_control *)table)->counters;
    t_context(0);
    open_file(argv[1]);
    CHECK(counters->contexts_made == 1 && calls("cuInit") == 1);
    OK(cuMemAlloc(&d, 1000));
    OK(cuMemAlloc(&e, 1000));
    OK(cuMemcpyHtoD(d, host, 100));
    OK(cuMemcpyDtoH(host, d, 60));
    OK(cuMemcpyDtoD(e, d, 30));
    OK(cuMemcpy((CUdeviceptr)(uintptr_t)host, (CUdeviceptr)(uintptr_t)host, 7));
    OK(cuMemsetD32(d, 0, 5));
    CHECK(counters->copies[SIMGPU_H2D] == 1);
    CHECK(counters->bytes[SIMGPU_H2D] == 100);
    CHECK(counters->bytes[SIMGPU_D2H] == 60);
    CHECK(counters->bytes[SIMGPU_D2D] == 30);
    CHECK(counters->bytes[SIMGPU_H2H] == 7);
    CHECK(counters->bytes[SIMGPU_MEMSET] == 20);
    CHECK(counters->copies_2d == 0);
    CHECK(counters->allocs == 2 && counters->frees == 0);
    CHECK(counters->device_bytes == 2048);
    CHECK(calls("cuMemcpyHtoD") == 1 && calls("cuMemAlloc") == 2);
    IS(cuMemcpyHtoD(0, host, 100), CUDA_ERROR_INVALID_VALUE);
    CHECK(calls("cuMemcpyHtoD") == 2); /* called, but nothing copied */
    CHECK(counters->copies[SIMGPU_H2D] == 1);
    OK(cuMemFree(d));
    CHECK(counters->device_bytes == 1024 && counters->frees == 1);
    CHECK(counters->device_bytes_peak == 2048);
    OK(cudaMalloc((void **)&p, 10));
    OK(cudaMemcpy2D(p, 2, host, 50, 2, 2, cudaMemcpyHostToDevice));
    CHECK(calls("cudaMalloc") == 1 && calls("cuMemAlloc") == 2);
    CHECK(calls("cudaMemcpy2D") == 1 && calls("cuMemcpy2D") == 0);
    CHECK(counters->copies_2d == 1 && counters->bytes[SIMGPU_H2D] == 104);
    return 0;
}
