/* SPDX-License-Identifier: BSD-3-Clause */
/* program.cu - an ordinary program, compiled by nvcc: prints the error of its
 * first launch, and, if that was none, whether its results are right. */
#include "program_kernels.h"

#include <cstdio>

int main()
{
    const int n = 256;
    float host[n], sums[4], *x, *y, *out;
    int count = 0;
    cudaFuncAttributes attr;
    for (int i = 0; i < n; i++)
        host[i] = (float)i;
    cudaMalloc(&x, sizeof(host));
    cudaMalloc(&y, sizeof(host));
    cudaMalloc(&out, sizeof(sums));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaMemset(y, 0, sizeof(host));
    axpy<<<4, 64>>>(n, 2.0f, x, y);
    cudaError_t err = cudaGetLastError();
    printf("%s\n", cudaGetErrorName(err));
    if (err != cudaSuccess)
        return 0;
    block_sum<<<4, 64>>>(y, out);
    cudaMemcpy(sums, out, sizeof(sums), cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&count, launches, sizeof(count));
    bool good = count == 1 && cudaFuncGetAttributes(&attr, axpy) == cudaSuccess;
    for (int b = 0; b < 4; b++)
        good = good && sums[b] == 2 * (64 * 63 / 2 + 64 * 64 * b);
    axpy<<<1, 2000>>>(n, 2.0f, x, y);
    good = good && cudaGetLastError() == cudaErrorInvalidConfiguration;
    good = good && cudaDeviceSynchronize() == cudaSuccess;
    printf("%s\n", good ? "right" : "wrong");
    return 0;
}
