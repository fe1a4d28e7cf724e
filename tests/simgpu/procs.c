/* SPDX-License-Identifier: BSD-3-Clause */
/* procs.c - cuGetProcAddress gives every function that is counted, the right
 * version and form of it, and the same as the loader. */
#define __CUDA_API_VERSION_INTERNAL
#include "t.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

static const char *const names[] = {
#define SIM_FN(name) #name,
#include "simgpu/functions.def"
#undef SIM_FN
};

static void *get(const char *name, int version, cuuint64_t flags, CUresult want,
                 int want_status)
{
    void *fn = NULL;
    CUdriverProcAddressQueryResult status;
    IS(cuGetProcAddress_v2(name, &fn, version, flags, &status), want);
    IS(status, want_status);
    return fn;
}

int main(void)
{
    const cuuint64_t own = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    void *fn;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(names[i], "cuda", 4) != 0)
            CHECK(get(names[i], 13000, 0, CUDA_SUCCESS,
                      CU_GET_PROC_ADDRESS_SUCCESS) != NULL);
    CHECK(get("cuMemAlloc", 13000, 0, CUDA_SUCCESS, 0) ==
          dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"));
    CHECK(get("cuCtxCreate", 11000, 0, CUDA_SUCCESS, 0) ==
          dlsym(RTLD_DEFAULT, "cuCtxCreate_v2"));
    CHECK(get("cuCtxCreate", 13000, 0, CUDA_SUCCESS, 0) ==
          dlsym(RTLD_DEFAULT, "cuCtxCreate_v4"));
    CHECK(get("cuMemcpyAsync", 13000, own, CUDA_SUCCESS, 0) ==
          dlsym(RTLD_DEFAULT, "cuMemcpyAsync_ptsz"));
    CHECK(get("cuMemcpyAsync", 13000, 0, CUDA_SUCCESS, 0) ==
          dlsym(RTLD_DEFAULT, "cuMemcpyAsync"));
    CHECK(get("cuNoSuch", 13000, 0, CUDA_ERROR_NOT_FOUND,
              CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND) == NULL);
    CHECK(get("cuCtxGetId", 11000, 0, CUDA_ERROR_NOT_FOUND,
              CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT) == NULL);
    enum cudaDriverEntryPointQueryResult found;
    OK(cudaGetDriverEntryPointByVersion("cuMemFree", &fn, 13000,
                                        cudaEnableDefault, &found));
    CHECK(found == cudaDriverEntryPointSuccess &&
          fn == dlsym(RTLD_DEFAULT, "cuMemFree_v2"));
    return 0;
}
