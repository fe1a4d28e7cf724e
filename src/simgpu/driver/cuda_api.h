/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_api.h - cuda.h with every version of every function declared and none
 * renamed by a macro, all of them visible outside the library. */
#ifndef SIM_CUDA_API_H
#define SIM_CUDA_API_H

#define __CUDA_API_VERSION_INTERNAL

#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop

#endif
