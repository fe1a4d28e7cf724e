/* SPDX-License-Identifier: BSD-3-Clause */
/* fork_refused.c - after cuInit a forked child can use nothing; the parent is
 * none the worse, even when the fork came in the middle of work. */
#include "t.h"

#include <cuda_runtime_api.h>

static int child(CUdeviceptr d, CUstream s)
{
    char host[64];
    int n;
    unsigned type;
    void *p;
    IS(cuInit(0), CUDA_ERROR_NOT_INITIALIZED);
    IS(cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
    IS(cuMemcpyDtoH(host, d, 64), CUDA_ERROR_NOT_INITIALIZED);
    IS(cuStreamSynchronize(s), CUDA_ERROR_NOT_INITIALIZED);
    IS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, d),
       CUDA_ERROR_NOT_INITIALIZED);
    IS(cudaMalloc(&p, 64), cudaErrorInitializationError);
    IS(cudaGetDeviceCount(&n), cudaErrorInitializationError);
    CHECK(!t_cpu_can((char *)(uintptr_t)d, 0));
    return 0;
}

int main(void)
{
    CUdeviceptr d;
    CUstream s;
    struct t_gate gate;
    char host[64];
    int status;
    t_context(0);
    OK(cuMemAlloc(&d, 64));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    t_gate_close(&gate, s);
    OK(cuMemsetD8Async(d, 7, 64, s));
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        _exit(child(d, s)); /* leak checkers do not work in a child */
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    t_gate_open(&gate);
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(host, d, 64));
    CHECK(t_all(host, 7, 64));
    return 0;
}
