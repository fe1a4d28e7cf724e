/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel_test.h - what the tests of kernels share: launching one by name, from
 * a module whose file is the program's first argument. */
#ifndef SIMGPU_KERNEL_TEST_H
#define SIMGPU_KERNEL_TEST_H

#include "t.h"

static CUmodule t_module;

static inline CUfunction t_function(const char *name)
{
    CUfunction f;
    OK(cuModuleGetFunction(&f, t_module, name));
    return f;
}

static inline CUresult t_launch(const char *name, unsigned grid, unsigned block,
                                CUstream s, void **params)
{
    return cuLaunchKernel(t_function(name), grid, 1, 1, block, 1, 1, 1024, s,
                          params, NULL);
}

#endif
