/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_runtime.h - for C programs the same as cuda_runtime_api.h; what the
 * toolkit adds for CUDA C++ is not here. */
#ifndef COAX_CUDA_RUNTIME_H
#define COAX_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"

#endif
