/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel_faults.c - a kernel that uses an address that is not its own does not
 * end the program: its context is lost, the rest goes on. */
#include "kernel_test.h"

static const char *file;
static CUcontext ctx;
static CUstream s;

static void setup(void)
{
    ctx = t_context(0);
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuModuleLoad(&t_module, file));
}

/* Launches, sees the context lost, and gets a new one. */
static void lost(const char *kernel, void **params, CUresult want)
{
    CUdeviceptr d;
    uint64_t faults = t_control()->counters->kernel_faults;
    OK(t_launch(kernel, 1, 1, s, params));
    IS(cuStreamSynchronize(s), want);
    IS(cuMemAlloc(&d, 4), want);
    CHECK(t_control()->counters->kernel_faults == faults + 1);
    OK(cuDevicePrimaryCtxReset(0));
    setup();
}

static void lost_store(CUdeviceptr p, long at)
{
    void *params[] = {&p, &at};
    lost("store", params, CUDA_ERROR_ILLEGAL_ADDRESS);
}

int main(int argc, char **argv)
{
    CUdeviceptr d, freed, out;
    static int on_host;
    int *host = &on_host;
    CHECK(argc == 2);
    file = argv[1];
    setup();

    OK(cuMemAlloc(&d, 4096));
    lost_store(d, 4096 + 65536); /* far outside */
    OK(cuMemAlloc(&d, 4096));
    lost_store(d, -65536);
    OK(cuMemAlloc(&freed, 4096));
    OK(cuMemFree(freed));
    lost_store(freed, 0);
    lost_store(0, 0);

    OK(cuMemAlloc(&out, 4));
    void *host_params[] = {&host, &out};
    lost("load", host_params, CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cuMemAlloc(&out, 4));
    lost_store((CUdeviceptr)(uintptr_t)host, 0);
    CHECK(on_host == 0);

    /* an address that was read from memory: a limit of this stand-in */
    OK(cuMemAlloc(&d, 8));
    OK(cuMemAlloc(&out, 4));
    OK(cuMemcpyHtoD(d, &out, 8));
    void *chase_params[] = {&d, &out};
    lost("chase", chase_params, CUDA_ERROR_ILLEGAL_ADDRESS);

    int when = 1;
    void *trap_params[] = {&when};
    lost("trap", trap_params, CUDA_ERROR_LAUNCH_FAILED);

    /* passing a bad address is none of these, only using it */
    freed = 0;
    void *unused[] = {&freed, &freed, &when};
    OK(t_launch("fill", 1, 1, s, unused));
    OK(cuStreamSynchronize(s));
    return 0;
}
