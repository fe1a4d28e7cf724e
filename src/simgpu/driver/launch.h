/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.h - kernels in streams. The lock is held. */
#ifndef SIM_LAUNCH_H
#define SIM_LAUNCH_H

#include "module.h"

struct sim_launch {
    CUfunction function; /* as in sim_function_find */
    struct simgpu_dim3 grid, block;
    size_t shared;
    void **params;    /* one address for each parameter, or */
    const char *args; /* all of them, packed as in C, */
    size_t nbytes;    /* so many bytes */
};

CUresult sim_launch(const struct sim_launch *l, CUstream s);

/* The offset of each parameter is where C would place it in a struct. Returns
 * the end of the last one. */
size_t sim_launch_offsets(const struct simgpu_kernel *k, size_t *offsets);

#endif
