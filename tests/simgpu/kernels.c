/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.c - kernels as host code do what they would on a GPU: indices,
 * barriers, shared memory, addresses in arguments and in structs, variables of
 * the module, order in streams, graphs. */
#include "kernel_test.h"

#define N 1000

static CUstream s;

static CUdeviceptr ints(int n, int first, int step)
{
    CUdeviceptr d;
    int *host = malloc((size_t)n * sizeof(int));
    for (int i = 0; i < n; i++)
        host[i] = first + i * step;
    OK(cuMemAlloc(&d, (size_t)n * sizeof(int)));
    OK(cuMemcpyHtoD(d, host, (size_t)n * sizeof(int)));
    free(host);
    return d;
}

static int *fetch(CUdeviceptr d, int n)
{
    static int host[4096];
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(host, d, (size_t)n * sizeof(int)));
    return host;
}

static void plain(void)
{
    float host[N], a = 2;
    CUdeviceptr x, y;
    int n = N;
    for (int i = 0; i < N; i++)
        host[i] = (float)i;
    OK(cuMemAlloc(&x, sizeof(host)));
    OK(cuMemAlloc(&y, sizeof(host)));
    OK(cuMemcpyHtoD(x, host, sizeof(host)));
    OK(cuMemcpyHtoD(y, host, sizeof(host)));
    void *params[] = {&n, &a, &x, &y};
    OK(t_launch("axpy", 8, 128, s, params));
    n = 0; /* the call has read them */
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(host, y, sizeof(host)));
    for (int i = 0; i < N; i++)
        CHECK(host[i] == 3.0f * (float)i);
    OK(cuMemFree(x));
    OK(cuMemFree(y));
}

/* The same struct as in twin.c, as one parameter and as packed arguments. */
static void pointers_in_a_struct(void)
{
    struct {
        int k;
        CUdeviceptr src[8];
        CUdeviceptr dst;
        unsigned long n;
    } a = {.k = 3, .n = N};
    for (int k = 0; k < 3; k++)
        a.src[k] = ints(N, k, 1 + k);
    a.dst = ints(N, 0, 0);
    void *params[] = {&a};
    size_t size = sizeof(a);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &a,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    for (int packed = 0; packed < 2; packed++) {
        OK(cuMemsetD8Async(a.dst, 0, N * sizeof(int), s));
        OK(cuLaunchKernel(t_function("ordered_sum"), 3, 1, 1, 64, 1, 1, 0, s,
                          packed ? NULL : params, packed ? extra : NULL));
        int *sum = fetch(a.dst, N);
        for (int i = 0; i < N; i++)
            CHECK(sum[i] == (i * 3 + 1 + 2 * i) * 3 + 2 + 3 * i);
    }
    size--;
    IS(cuLaunchKernel(t_function("ordered_sum"), 1, 1, 1, 1, 1, 1, 0, s, NULL,
                      extra),
       CUDA_ERROR_INVALID_VALUE);
    for (int k = 0; k < 3; k++)
        OK(cuMemFree(a.src[k]));
    OK(cuMemFree(a.dst));
}

static void barriers(void)
{
    CUdeviceptr in = ints(1024, 0, 1), out = ints(4, 0, 0);
    void *params[] = {&in, &out};
    OK(t_launch("block_sum", 4, 256, s, params));
    int *sums = fetch(out, 4);
    for (int b = 0; b < 4; b++)
        CHECK(sums[b] == 256 * 255 / 2 + 256 * 256 * b);
    unsigned n = 100;
    void *more[] = {&in, &n};
    OK(t_launch("reverse", 1, 128, s, more));
    int *turned = fetch(in, 128);
    for (int i = 0; i < 128; i++)
        CHECK(turned[i] == (i < 100 ? 99 - i : i));
    OK(cuMemFree(in));
    OK(cuMemFree(out));
}

static void shapes(void)
{
    CUdeviceptr out = ints(24 * 30, 0, 0);
    void *params[] = {&out};
    CUlaunchConfig c = {.gridDimX = 2,
                        .gridDimY = 3,
                        .gridDimZ = 4,
                        .blockDimX = 5,
                        .blockDimY = 3,
                        .blockDimZ = 2,
                        .hStream = s};
    OK(cuLaunchKernelEx(&c, t_function("shape"), params, NULL));
    int *got = fetch(out, 24 * 30);
    for (int i = 0; i < 24 * 30; i++)
        CHECK(got[i] == i / 30 * 1000 + i % 30);
    /* one past the end of an allocation is still its address */
    CUdeviceptr end = out + 24 * 30 * sizeof(int);
    int value = 5;
    void *range[] = {&out, &end, &value};
    OK(t_launch("fill", 1, 1, s, range));
    got = fetch(out, 24 * 30);
    for (int i = 0; i < 24 * 30; i++)
        CHECK(got[i] == 5);
    OK(cuMemFree(out));
}

static void variables(void)
{
    CUdeviceptr d, again;
    size_t size;
    int value = 0;
    OK(cuModuleGetGlobal(&d, &size, t_module, "counter"));
    CHECK(size == sizeof(int));
    CHECK(!t_cpu_can((char *)(uintptr_t)d, 0));
    OK(t_launch("count", 2, 3, s, NULL));
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(&value, d, size));
    CHECK(value == 46);
    OK(cuModuleGetGlobal(&again, NULL, t_module, "counter"));
    CHECK(again == d);
    OK(cuModuleGetGlobal(NULL, &size, t_module, "factors"));
    CHECK(size == 4 * sizeof(float));
    IS(cuModuleGetGlobal(&d, &size, t_module, "none"), CUDA_ERROR_NOT_FOUND);
    IS(cuMemFree(again), CUDA_ERROR_INVALID_VALUE);
}

/* Pinned memory, managed memory and captured launches. */
static void other_memory(void)
{
    int *pinned, value = 7;
    CUdeviceptr managed, end;
    CUgraph graph;
    CUgraphExec exec;
    OK(cuMemHostAlloc((void **)&pinned, 64, 0));
    OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    int *end_pinned = pinned + 16;
    void *params[] = {&pinned, &end_pinned, &value};
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(t_launch("fill", 1, 1, s, params));
    end = managed + 64;
    void *more[] = {&managed, &end, &value};
    OK(t_launch("fill", 1, 1, s, more));
    OK(cuStreamEndCapture(s, &graph));
    memset(pinned, 0, 64);
    memset((void *)(uintptr_t)managed, 0, 64);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, s));
    OK(cuStreamSynchronize(s));
    for (int i = 0; i < 16; i++)
        CHECK(pinned[i] == 7 && ((int *)(uintptr_t)managed)[i] == 7);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    t_context(0);
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuModuleLoad(&t_module, argv[1]));
    plain();
    pointers_in_a_struct();
    barriers();
    shapes();
    variables();
    other_memory();
    CHECK(t_control()->counters->kernels == 10);
    CHECK(t_control()->counters->kernel_faults == 0);
    OK(cuModuleUnload(t_module));
    IS(cuModuleUnload(t_module), CUDA_ERROR_INVALID_HANDLE);
    return 0;
}
