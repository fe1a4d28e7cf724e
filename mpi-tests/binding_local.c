/* SPDX-License-Identifier: BSD-3-Clause */
/* binding_local.c - a program without MPI that loads a module with it by
 * dlopen(RTLD_LOCAL): MPI is then in no global scope, and RTLD_NEXT of a
 * preload finds nothing. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int (*cuda_malloc)(void **, size_t);
static int (*cuda_memcpy)(void *, const void *, size_t, int);

static void *own_alloc(size_t nbytes)
{
    void *ptr = NULL;

    if (!cuda_malloc)
        return malloc(nbytes);
    return cuda_malloc(&ptr, nbytes) ? NULL : ptr;
}

static void put(void *dst, const void *src, size_t nbytes)
{
    if (cuda_memcpy)
        cuda_memcpy(dst, src, nbytes, 1);
    else
        memcpy(dst, src, nbytes);
}

static void get(void *dst, const void *src, size_t nbytes)
{
    if (cuda_memcpy)
        cuda_memcpy(dst, src, nbytes, 2);
    else
        memcpy(dst, src, nbytes);
}

int main(int argc, char **argv)
{
    int (*run)(void *(*)(size_t), void (*)(void *, const void *, size_t),
               void (*)(void *, const void *, size_t));
    void *cuda = NULL, *module;

    if (argc < 2)
        return 2;
    if (dlsym(RTLD_DEFAULT, "MPI_Comm_rank")) {
        fprintf(stderr, "MPI is in the global scope: this tests nothing\n");
        return 1;
    }
    if (getenv("MT_GPU")) {
        cuda = dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
        if (!cuda)
            return 1;
        *(void **)&cuda_malloc = dlsym(cuda, "cudaMalloc");
        *(void **)&cuda_memcpy = dlsym(cuda, "cudaMemcpy");
    }
    module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!module) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **)&run = dlsym(module, "binding_module");
    return run && run(own_alloc, put, get) == 0 ? 0 : 1;
}
