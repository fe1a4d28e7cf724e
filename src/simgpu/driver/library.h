/* SPDX-License-Identifier: BSD-3-Clause */
/* library.h - CUDA's libraries: an image that becomes a module in each context
 * that uses it, and kernels that are a function in each. The lock is held. */
#ifndef SIM_LIBRARY_H
#define SIM_LIBRARY_H

#include "module.h"

/* The function that kernel is in ctx, whose module is loaded if need be. NULL:
 * not a kernel, or it cannot be loaded. */
CUfunction sim_library_function(CUfunction kernel, CUcontext ctx);

#endif
