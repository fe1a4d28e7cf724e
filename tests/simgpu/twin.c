/* SPDX-License-Identifier: BSD-3-Clause */
/* twin.c - kernels for the tests, as host code: the image of a module. */
#include "simgpu/kernel.h"

__device__ int counter = 40;
__constant__ float factors[4];
SIMGPU_GLOBAL(counter)
SIMGPU_GLOBAL(factors)

static __device__ unsigned global_index(void)
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

SIMGPU_C __global__ void axpy(int n, float a, const float *x, float *y)
{
    int i = (int)global_index();
    if (i < n)
        y[i] += a * x[i];
}
SIMGPU_KERNEL(axpy, int, float, const float *, float *)

/* Pointers in a struct, as a collective passes its peers' buffers. */
struct sum_args {
    int k;
    const int *src[8];
    int *dst;
    unsigned long n;
};

SIMGPU_C __global__ void ordered_sum(struct sum_args a)
{
    for (unsigned long i = global_index(); i < a.n;
         i += (unsigned long)gridDim.x * blockDim.x) {
        int sum = a.src[0][i];
        for (int k = 1; k < a.k; k++)
            sum = sum * 3 + a.src[k][i];
        a.dst[i] = sum;
    }
}
SIMGPU_KERNEL(ordered_sum, struct sum_args)

/* The tree in a block, with a barrier in a loop. */
SIMGPU_C __global__ void block_sum(const int *in, int *out)
{
    __shared__ int part[256];
    unsigned me = threadIdx.x;
    part[me] = in[global_index()];
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (me < half)
            part[me] += part[me + half];
        __syncthreads();
    }
    if (me == 0)
        out[blockIdx.x] = part[0];
}
SIMGPU_KERNEL(block_sum, const int *, int *)

/* Turns a block around; some threads leave before the barrier. */
SIMGPU_C __global__ void reverse(int *data, unsigned n)
{
    SIMGPU_DYNAMIC_SHARED(int, copy);
    unsigned me = threadIdx.x;
    if (me >= n)
        return;
    copy[me] = data[me];
    __syncthreads();
    data[me] = copy[n - 1 - me];
}
SIMGPU_KERNEL(reverse, int *, unsigned)

SIMGPU_C __global__ void shape(unsigned *out)
{
    unsigned block =
        (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread =
        (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    out[block * threads + thread] = block * 1000 + thread;
}
SIMGPU_KERNEL(shape, unsigned *)

SIMGPU_C __global__ void count(void)
{
    counter++;
}
SIMGPU_KERNEL0(count)

SIMGPU_C __global__ void fill(int *from, int *end, int value)
{
    for (int *p = from; p != end; p++)
        *p = value;
}
SIMGPU_KERNEL(fill, int *, int *, int)

SIMGPU_C __global__ void store(int *p, long at)
{
    p[at] = 1;
}
SIMGPU_KERNEL(store, int *, long)

SIMGPU_C __global__ void load(const int *p, int *out)
{
    *out = *p;
}
SIMGPU_KERNEL(load, const int *, int *)

SIMGPU_C __global__ void chase(int *const *table, int *out)
{
    *out = *table[0];
}
SIMGPU_KERNEL(chase, int *const *, int *)

SIMGPU_C __global__ void trap(int when)
{
    if (when)
        __trap();
}
SIMGPU_KERNEL(trap, int)
