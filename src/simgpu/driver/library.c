/* SPDX-License-Identifier: BSD-3-Clause */
/* library.c - see library.h; the driver's calls on libraries and kernels. */
#include "library.h"
#include "entry.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

struct CUkern_st {
    CUkernel next; /* in its library */
    CUlibrary library;
    char *name; /* owned */
};

struct CUlib_st {
    CUlibrary next;
    char *image; /* owned */
    CUkernel kernels;
};

static CUlibrary libraries;

static CUlibrary check(CUlibrary library)
{
    for (CUlibrary l = libraries; l != NULL; l = l->next)
        if (l == library)
            return l;
    return NULL;
}

static CUkernel check_kernel(const void *kernel)
{
    for (CUlibrary l = libraries; l != NULL; l = l->next)
        for (CUkernel k = l->kernels; k != NULL; k = k->next)
            if ((const void *)k == kernel)
                return k;
    return NULL;
}

static CUresult module_of(CUlibrary l, CUcontext ctx, CUmodule *out)
{
    *out = sim_module_of_library(l, ctx);
    if (*out != NULL)
        return CUDA_SUCCESS;
    CUresult rc = sim_module_load(ctx, l->image, out);
    if (rc == CUDA_SUCCESS)
        (*out)->library = l;
    return rc;
}

static CUresult function_of(CUkernel k, CUcontext ctx, CUfunction *out)
{
    CUmodule m;
    CUresult rc = module_of(k->library, ctx, &m);
    return rc == CUDA_SUCCESS ? sim_module_function(m, k->name, out) : rc;
}

CUfunction sim_library_function(CUfunction kernel, CUcontext ctx)
{
    CUfunction f;
    CUkernel k = check_kernel(kernel);
    return k != NULL && function_of(k, ctx, &f) == CUDA_SUCCESS ? f : NULL;
}

/* Takes image over, also on failure. */
static CUresult create(char *image, CUlibrary *out)
{
    CUlibrary l = calloc(1, sizeof(*l));
    if (l == NULL) {
        free(image);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    l->image = image;
    l->next = libraries;
    libraries = l;
    *out = l;
    return CUDA_SUCCESS;
}

/* Needs no context. The options are about code for GPUs. */
CUresult CUDAAPI cuLibraryLoadData(CUlibrary *library, const void *code,
                                   CUjit_option *jitOptions,
                                   void **jitOptionsValues,
                                   unsigned int numJitOptions,
                                   CUlibraryOption *libraryOptions,
                                   void **libraryOptionValues,
                                   unsigned int numLibraryOptions)
{
    CUresult rc = sim_enter(SIM_FN_cuLibraryLoadData);
    (void)jitOptions;
    (void)jitOptionsValues;
    (void)numJitOptions;
    (void)libraryOptions;
    (void)libraryOptionValues;
    (void)numLibraryOptions;
    if (rc != CUDA_SUCCESS)
        return rc;
    if (library == NULL || code == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    char *image = sim_image_copy(code);
    if (image == NULL)
        return CUDA_ERROR_INVALID_IMAGE;
    pthread_mutex_lock(&sim_lock);
    return sim_end(create(image, library));
}

CUresult CUDAAPI cuLibraryLoadFromFile(CUlibrary *library, const char *fileName,
                                       CUjit_option *jitOptions,
                                       void **jitOptionsValues,
                                       unsigned int numJitOptions,
                                       CUlibraryOption *libraryOptions,
                                       void **libraryOptionValues,
                                       unsigned int numLibraryOptions)
{
    CUresult rc = sim_enter(SIM_FN_cuLibraryLoadFromFile);
    (void)jitOptions;
    (void)jitOptionsValues;
    (void)numJitOptions;
    (void)libraryOptions;
    (void)libraryOptionValues;
    (void)numLibraryOptions;
    if (rc != CUDA_SUCCESS)
        return rc;
    if (library == NULL || fileName == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    char *image = sim_image_read(fileName);
    if (image == NULL)
        return CUDA_ERROR_FILE_NOT_FOUND;
    if (sim_image_kind(image) == SIM_IMAGE_NONE) {
        free(image);
        return CUDA_ERROR_INVALID_IMAGE;
    }
    pthread_mutex_lock(&sim_lock);
    return sim_end(create(image, library));
}

static void destroy(CUlibrary library)
{
    CUlibrary *at = &libraries;
    while (*at != library)
        at = &(*at)->next;
    *at = library->next;
    sim_module_unload_library(library);
    while (library->kernels != NULL) {
        CUkernel k = library->kernels;
        library->kernels = k->next;
        free(k->name);
        free(k);
    }
    free(library->image);
    free(library);
}

CUresult CUDAAPI cuLibraryUnload(CUlibrary library)
{
    CUresult rc = sim_enter(SIM_FN_cuLibraryUnload);
    if (rc != CUDA_SUCCESS)
        return rc;
    pthread_mutex_lock(&sim_lock);
    sim_stream_drain_all();
    if (check(library) == NULL)
        return sim_end(CUDA_ERROR_INVALID_HANDLE);
    destroy(library);
    return sim_end(CUDA_SUCCESS);
}

static CUresult get_kernel(CUlibrary l, const char *name, CUkernel *out)
{
    for (CUkernel k = l->kernels; k != NULL; k = k->next) {
        if (strcmp(k->name, name) == 0) {
            *out = k;
            return CUDA_SUCCESS;
        }
    }
    CUkernel k = calloc(1, sizeof(*k));
    char *copy = strdup(name);
    if (k == NULL || copy == NULL) {
        free(copy);
        free(k);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    k->library = l;
    k->name = copy;
    k->next = l->kernels;
    l->kernels = k;
    *out = k;
    return CUDA_SUCCESS;
}

/* Stricter than a GPU, which needs no context here: only a module can tell
 * whether there is such a kernel. */
CUresult CUDAAPI cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library,
                                    const char *name)
{
    CUcontext ctx;
    CUmodule m;
    CUfunction f;
    CUresult rc = sim_begin_current(SIM_FN_cuLibraryGetKernel, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (check(library) == NULL)
        return sim_end(CUDA_ERROR_INVALID_HANDLE);
    if (pKernel == NULL || name == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    rc = module_of(library, ctx, &m);
    if (rc == CUDA_SUCCESS)
        rc = sim_module_function(m, name, &f);
    return sim_end(rc == CUDA_SUCCESS ? get_kernel(library, name, pKernel)
                                      : rc);
}

CUresult CUDAAPI cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(SIM_FN_cuLibraryGetModule, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (check(library) == NULL)
        return sim_end(CUDA_ERROR_INVALID_HANDLE);
    return sim_end(pMod == NULL ? CUDA_ERROR_INVALID_VALUE
                                : module_of(library, ctx, pMod));
}

CUresult CUDAAPI cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes,
                                    CUlibrary library, const char *name)
{
    CUcontext ctx;
    CUmodule m;
    struct sim_alloc *a;
    CUresult rc = sim_begin_current(SIM_FN_cuLibraryGetGlobal, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (check(library) == NULL)
        return sim_end(CUDA_ERROR_INVALID_HANDLE);
    if (name == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    rc = module_of(library, ctx, &m);
    if (rc == CUDA_SUCCESS)
        rc = sim_module_symbol(m, name, &a);
    if (rc == CUDA_SUCCESS && dptr != NULL)
        *dptr = a->base;
    if (rc == CUDA_SUCCESS && bytes != NULL)
        *bytes = a->size;
    return sim_end(rc);
}

CUresult CUDAAPI cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(SIM_FN_cuKernelGetFunction, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (check_kernel(kernel) == NULL)
        return sim_end(CUDA_ERROR_INVALID_HANDLE);
    return sim_end(pFunc == NULL ? CUDA_ERROR_INVALID_VALUE
                                 : function_of(kernel, ctx, pFunc));
}
