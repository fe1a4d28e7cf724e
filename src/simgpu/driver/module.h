/* SPDX-License-Identifier: BSD-3-Clause */
/* module.h - modules: which host code a kernel is.
 *
 * The image of a module is a shared library of the host, made with kernel.h,
 * in memory or in a file; each module has an instance of its own. Any other
 * image that looks like one of CUDA's is a promise: its kernels are looked up
 * by name in the libraries of SIMGPU_KERNELS. All functions want the lock. */
#ifndef SIM_MODULE_H
#define SIM_MODULE_H

#include "image.h"
#include "stream.h"

struct sim_alloc;

struct CUfunc_st {
    CUfunction next; /* in its module */
    CUmodule module;
    const struct simgpu_kernel *kernel;
    const struct simgpu_twin *twin;
    char *name;      /* as it was asked for, owned */
    int max_dynamic; /* bytes of dynamic shared memory */
};

/* A variable that the program asked for: memory of the device. */
struct sim_symbol {
    struct sim_symbol *next;
    const struct simgpu_global *global;
    struct sim_alloc *alloc; /* owned */
};

struct CUmod_st {
    CUmodule next;
    CUcontext ctx;
    CUlibrary library;    /* that it belongs to, or NULL */
    struct sim_lib *libs; /* owned */
    size_t nlibs;
    bool promised;              /* the kernels are in SIMGPU_KERNELS */
    CUfunction functions;       /* owned */
    struct sim_symbol *symbols; /* owned */
};

/* Reads an image, of which nobody tells the size, or a file. */
CUresult sim_module_load(CUcontext ctx, const void *image, CUmodule *out);
CUresult sim_module_load_file(CUcontext ctx, const char *path, CUmodule *out);
/* Waits for all work first. */
void sim_module_unload(CUmodule module);
/* Those of a context, whose work has ended. */
void sim_module_unload_context(CUcontext ctx);
/* NULL unless it is alive. */
CUmodule sim_module_check(CUmodule module);
/* The module that a library has in a context, or NULL; and unloads all that it
 * has, whose work has ended. */
CUmodule sim_module_of_library(CUlibrary library, CUcontext ctx);
void sim_module_unload_library(CUlibrary library);

CUresult sim_module_function(CUmodule module, const char *name,
                             CUfunction *out);
CUresult sim_module_symbol(CUmodule module, const char *name,
                           struct sim_alloc **out);
/* The function that a handle means in a context: a CUfunction, or a CUkernel,
 * which is one in each. NULL: neither. */
CUfunction sim_function_find(CUfunction handle, CUcontext ctx);

#endif
