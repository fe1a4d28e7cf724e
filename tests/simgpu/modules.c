/* SPDX-License-Identifier: BSD-3-Clause */
/* modules.c - images, modules and libraries: what is loaded, what is refused,
 * what has an instance of its own; and launches that are refused. */
#include "kernel_test.h"

#include <sys/stat.h>

static const char *file;

static void *read_file(void)
{
    struct stat st;
    FILE *f = fopen(file, "rb");
    CHECK(f != NULL && fstat(fileno(f), &st) == 0);
    void *bytes = malloc((size_t)st.st_size);
    CHECK(fread(bytes, 1, (size_t)st.st_size, f) == (size_t)st.st_size);
    fclose(f);
    return bytes;
}

static int counter_of(CUmodule m)
{
    CUdeviceptr d;
    int value;
    OK(cuModuleGetGlobal(&d, NULL, m, "counter"));
    OK(cuMemcpyDtoH(&value, d, sizeof(value)));
    return value;
}

static void run_count(CUfunction f)
{
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
}

static void images(const void *image)
{
    CUmodule a, b;
    CUfunction f, g, same;
    static const char junk[8192] = "no image of anything";
    OK(cuModuleLoadData(&a, image));
    OK(cuModuleLoadDataEx(&b, image, 0, NULL, NULL));
    OK(cuModuleGetFunction(&f, a, "count"));
    OK(cuModuleGetFunction(&same, a, "count"));
    OK(cuModuleGetFunction(&g, b, "count"));
    CHECK(f == same && f != g);
    run_count(f);
    CHECK(counter_of(a) == 41 && counter_of(b) == 40);
    IS(cuModuleGetFunction(&f, a, "none"), CUDA_ERROR_NOT_FOUND);
    OK(cuModuleUnload(a));
    IS(cuModuleGetFunction(&f, a, "count"), CUDA_ERROR_INVALID_HANDLE);
    IS(cuLaunchKernel(same, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
       CUDA_ERROR_INVALID_HANDLE);
    run_count(g);
    OK(cuModuleUnload(b));
    IS(cuModuleLoadData(&a, junk), CUDA_ERROR_INVALID_IMAGE);
    IS(cuModuleLoad(&a, "/nonexistent"), CUDA_ERROR_FILE_NOT_FOUND);
    /* many of them, loaded and unloaded */
    for (int i = 0; i < 80; i++) {
        OK(cuModuleLoadData(&a, image));
        CHECK(counter_of(a) == 40);
        OK(cuModuleGetFunction(&f, a, "count"));
        run_count(f);
        OK(cuModuleUnload(a));
    }
}

/* Code for a GPU is a promise that SIMGPU_KERNELS keeps, here by the test. */
static void promises(void)
{
    static const unsigned fatbin[16] = {0xba55ed50};
    CUmodule m;
    CUfunction f;
    OK(cuModuleLoadFatBinary(&m, fatbin));
    OK(cuModuleGetFunction(&f, m, "count"));
    run_count(f);
    CHECK(counter_of(m) == 41);
    IS(cuModuleGetFunction(&f, m, "none"), CUDA_ERROR_NO_BINARY_FOR_GPU);
    OK(cuModuleUnload(m));
}

static void libraries(const void *image)
{
    CUlibrary lib;
    CUkernel k;
    CUfunction f;
    CUmodule m;
    CUcontext own;
    CUdeviceptr d;
    size_t size;
    OK(cuLibraryLoadData(&lib, image, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&k, lib, "count"));
    IS(cuLibraryGetKernel(&k, lib, "none"), CUDA_ERROR_NOT_FOUND);
    run_count((CUfunction)k);
    OK(cuKernelGetFunction(&f, k));
    run_count(f);
    OK(cuLibraryGetModule(&m, lib));
    CHECK(counter_of(m) == 42);
    OK(cuLibraryGetGlobal(&d, &size, lib, "counter"));
    CHECK(size == sizeof(int));
    IS(cuModuleUnload(m), CUDA_ERROR_INVALID_HANDLE);
    /* another context has its own */
    OK(cuCtxCreate(&own, NULL, 0, 0));
    run_count((CUfunction)k);
    OK(cuLibraryGetModule(&m, lib));
    CHECK(counter_of(m) == 41);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
       CUDA_ERROR_INVALID_HANDLE);
    OK(cuCtxDestroy(own));
    OK(cuLibraryUnload(lib));
    IS(cuLibraryUnload(lib), CUDA_ERROR_INVALID_HANDLE);
    IS(cuLibraryLoadFromFile(&lib, "/nonexistent", NULL, NULL, 0, NULL, NULL,
                             0),
       CUDA_ERROR_FILE_NOT_FOUND);
    OK(cuLibraryLoadFromFile(&lib, file, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryUnload(lib));
}

static void refused(void)
{
    CUfunction f = t_function("store");
    CUdeviceptr d = 0;
    long at = 0;
    void *params[] = {&d, &at};
    const unsigned bad[][6] = {
        {0, 1, 1, 1, 1, 1},     {1, 0, 1, 1, 1, 1},   {1, 1, 1, 1, 0, 1},
        {1, 1, 1, 1025, 1, 1},  {1, 1, 1, 32, 33, 1}, {1, 1, 1, 1, 1, 65},
        {1, 65536, 1, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        IS(cuLaunchKernel(f, bad[i][0], bad[i][1], bad[i][2], bad[i][3],
                          bad[i][4], bad[i][5], 0, NULL, params, NULL),
           CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 49153, NULL, params, NULL),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL),
       CUDA_ERROR_INVALID_HANDLE);
    CUlaunchAttribute attr = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE};
    attr.value.cooperative = 1;
    CUlaunchConfig c = {1, 1, 1, 1, 1, 1, 0, NULL, &attr, 1};
    IS(cuLaunchKernelEx(&c, f, params, NULL), CUDA_ERROR_NOT_SUPPORTED);
}

static void functions(void)
{
    CUfunction f = t_function("axpy");
    CUmodule m;
    const char *name;
    size_t offset, size;
    int value, grid, block;
    OK(cuFuncGetModule(&m, f));
    OK(cuFuncGetName(&name, f));
    CHECK(m == t_module && strcmp(name, "axpy") == 0);
    OK(cuFuncGetParamInfo(f, 2, &offset, &size));
    CHECK(offset == 8 && size == 8);
    IS(cuFuncGetParamInfo(f, 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
    CHECK(value == 1024);
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                          100000));
    OK(cuFuncGetAttribute(&value,
                          CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
    CHECK(value == 100000);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 256, 0));
    CHECK(value == 8);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 32, 100000));
    CHECK(value == 2);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 0));
    CHECK(grid == 264 && block == 1024);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    file = argv[1];
    t_context(0);
    void *image = read_file();
    images(image);
    promises();
    libraries(image);
    OK(cuModuleLoad(&t_module, file));
    refused();
    functions();
    free(image);
    return 0;
}
