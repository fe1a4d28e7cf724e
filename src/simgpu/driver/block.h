/* SPDX-License-Identifier: BSD-3-Clause */
/* block.h - runs the threads of a kernel. */
#ifndef SIM_BLOCK_H
#define SIM_BLOCK_H

#include "simgpu/twin.h"

#include <stdbool.h>

struct sim_grid {
    const struct simgpu_kernel *kernel;
    const struct simgpu_twin *twin;
    void **args; /* one for each parameter */
    struct simgpu_dim3 grid, block;
    size_t shared_size;
};

struct sim_grid_end {
    bool done;      /* all threads came to their end */
    int signal;     /* if not: what ended them, 0: nothing could be started */
    uintptr_t addr; /* of SIGSEGV and SIGBUS, 0: not known */
};

/* Runs all of it and returns; the signals of the program are not touched. */
void sim_grid_run(const struct sim_grid *g, struct sim_grid_end *end);

#endif
