/* SPDX-License-Identifier: BSD-3-Clause */
/* runtime_kernels.c - what nvcc's code does to register and launch kernels,
 * done by hand; the host code of the kernels is in SIMGPU_KERNELS. */
#include "t.h"

#include "simgpu/runtime/registration.h"

static const unsigned fatbin[16] = {0xba55ed50};
static const struct {
    unsigned magic, version;
    const void *code, *rest;
} wrapper = {0x466243b1, 1, fatbin, NULL};

/* What stands for the kernels and the variable in the program. */
static void fill_stub(int *from, int *end, int value)
{
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    cudaKernel_t handle = NULL;
    void *args[] = {&from, &end, &value};
    OK(__cudaGetKernel(&handle, (const void *)(uintptr_t)fill_stub));
    OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    __cudaLaunchKernel(handle, grid, block, args, shared, stream);
}

static void none_stub(void)
{
}

static int counter_stub;

int main(void)
{
    const dim3 one = {1, 1, 1}, none = {0, 1, 1};
    const void *fill = (const void *)(uintptr_t)fill_stub;
    const void *missing = (const void *)(uintptr_t)none_stub;
    void **handle = __cudaRegisterFatBinary((void *)(uintptr_t)&wrapper);
    __cudaRegisterFunction(handle, fill, NULL, "fill", -1, NULL, NULL, NULL,
                           NULL, NULL);
    __cudaRegisterFunction(handle, missing, NULL, "no_host_code", -1, NULL,
                           NULL, NULL, NULL, NULL);
    __cudaRegisterVar(handle, (char *)&counter_stub, NULL, "counter", 0,
                      sizeof(int), 0, 0);
    __cudaRegisterFatBinaryEnd(handle);

    int *d, *addr, host[16], value = 3, blocks;
    size_t size;
    struct cudaFuncAttributes attr;
    OK(cudaMalloc((void **)&d, sizeof(host)));
    OK(__cudaPushCallConfiguration(one, one, 0, NULL));
    fill_stub(d, d + 16, value);
    OK(cudaGetLastError());
    OK(cudaMemcpy(host, d, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 16; i++)
        CHECK(host[i] == 3);

    int *end = d + 16;
    void *args[] = {&d, &end, &value};
    IS(cudaLaunchKernel(fill, none, one, args, 0, NULL),
       cudaErrorInvalidConfiguration);
    IS(cudaLaunchKernel(missing, one, one, args, 0, NULL),
       cudaErrorNoKernelImageForDevice);
    IS(cudaLaunchKernel(&host, one, one, args, 0, NULL),
       cudaErrorInvalidDeviceFunction);
    IS(__cudaPopCallConfiguration(NULL, NULL, NULL, NULL),
       cudaErrorMissingConfiguration);
    OK(cudaFuncGetAttributes(&attr, fill));
    CHECK(attr.maxThreadsPerBlock == 1024);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 128, 0));
    CHECK(blocks == 16);

    OK(cudaGetSymbolSize(&size, &counter_stub));
    OK(cudaGetSymbolAddress((void **)&addr, &counter_stub));
    CHECK(size == sizeof(int) && addr != &counter_stub);
    value = 9;
    OK(cudaMemcpyToSymbol(&counter_stub, &value, sizeof(int), 0,
                          cudaMemcpyHostToDevice));
    OK(cudaMemcpy(&value, addr, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(value == 9);
    OK(cudaMemcpyFromSymbol(host, &counter_stub, 2, 2, cudaMemcpyDeviceToHost));
    IS(cudaMemcpyFromSymbol(host, &counter_stub, 4, 2, cudaMemcpyDeviceToHost),
       cudaErrorInvalidValue);
    IS(cudaGetSymbolSize(&size, &host), cudaErrorInvalidSymbol);
    __cudaUnregisterFatBinary(handle);
    IS(cudaLaunchKernel(fill, one, one, args, 0, NULL),
       cudaErrorInvalidDeviceFunction);
    return 0;
}
