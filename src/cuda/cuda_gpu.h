/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_gpu.h - GPU memory over the CUDA driver API, as the engine sees it.
 *
 * Implements struct cx_gpu_ops (base/gpu.h) with functions found in the
 * libcuda.so.1 that the program itself has loaded; never loads it, never
 * initialises it, never creates a context. What it adds to that contract:
 *
 * - In a forked child every pointer is host memory and nothing is called: CUDA
 *   does not work there.
 * - A context that the program destroyed or reset takes our streams, and the
 *   pinned memory allocated in it, with it; later calls start afresh.
 * - `cancel` waits for the copy, and its outcome is in the request. */
#ifndef CX_CUDA_GPU_H
#define CX_CUDA_GPU_H

#include "base/gpu.h"

CX_MUST enum cx_status cx_cuda_create(enum cx_sync sync, struct cx_gpu **gpu);

/* Waits for copies under way. Requests still in progress are forgotten, not
 * written to. NULL is allowed. */
void cx_cuda_destroy(struct cx_gpu *gpu);

extern const struct cx_gpu_ops cx_cuda_ops;

/* Has this process loaded libcuda.so.1? About 15 ns while it has not; any
 * thread may ask. */
int cx_cuda_loaded(void);

/* "2 x NVIDIA H200, driver 12.4", or "none" with the reason, into `out`, at
 * most `n` bytes with the NUL. */
void cx_cuda_describe(struct cx_gpu *gpu, char *out, size_t n);

#endif
