/* SPDX-License-Identifier: BSD-3-Clause */
/* twin.h - what a library of kernels as host code, made with kernel.h, tells
 * the stand-in. */
#ifndef SIMGPU_TWIN_H
#define SIMGPU_TWIN_H

#include <stddef.h>
#include <stdint.h>

#define SIMGPU_TWIN_VERSION 1

struct simgpu_dim3 {
    unsigned x, y, z;
};

/* What a thread of a kernel is told; one for all threads of a launch. */
struct simgpu_env {
    struct simgpu_dim3 grid, block, block_idx, thread_idx;
    void *shared; /* dynamic shared memory */
    void (*barrier)(struct simgpu_env *env);
};

struct simgpu_param {
    unsigned size, align;
    unsigned pointer; /* 1: the program passes an address */
};

struct simgpu_kernel {
    const char *name; /* as written */
    void *fn; /* its symbol is the name that a compiler for GPUs would give */
    void (*call)(void **args); /* one thread; args[i] points at parameter i */
    const struct simgpu_param *params;
    unsigned nparams;
};

struct simgpu_global {
    const char *name;
    void *mem;
    size_t size;
};

/* What simgpu_twin() of the library gives. */
struct simgpu_twin {
    unsigned version;
    const struct simgpu_kernel *const *kernels, *const *kernels_end;
    const struct simgpu_global *const *globals, *const *globals_end;
    void (*set_env)(struct simgpu_env *env); /* for the calling thread */
};

#endif
