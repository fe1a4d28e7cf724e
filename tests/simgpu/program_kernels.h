/* SPDX-License-Identifier: BSD-3-Clause */
/* program_kernels.h - the kernels of program.cu, for nvcc and for the host. */
#include "simgpu/kernel.h"

__device__ int launches;
SIMGPU_GLOBAL(launches)

__global__ void axpy(int n, float a, const float *x, float *y)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i == 0)
        launches++;
    if (i < n)
        y[i] += a * x[i];
}
SIMGPU_KERNEL(axpy, int, float, const float *, float *)

__global__ void block_sum(const float *in, float *out)
{
    __shared__ float part[64];
    unsigned me = threadIdx.x;
    part[me] = in[blockIdx.x * blockDim.x + me];
    __syncthreads();
    for (unsigned half = 32; half > 0; half /= 2) {
        if (me < half)
            part[me] += part[me + half];
        __syncthreads();
    }
    if (me == 0)
        out[blockIdx.x] = part[0];
}
SIMGPU_KERNEL(block_sum, const float *, float *)
