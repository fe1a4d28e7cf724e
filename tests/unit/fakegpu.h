/* SPDX-License-Identifier: BSD-3-Clause */
/* fakegpu.h - GPU memory without a GPU, for tests: base/gpu.h over a mapping
 * that crashes on any access but the fake's own.
 *
 * Copies complete after a random number of progress calls, one after another in
 * each direction; until then their destination holds rubbish. A copy of a
 * buffer that was not fenced since it was allocated ends the test, and so does
 * one whose other end is not staging memory of the buffer's context. */
#ifndef CX_FAKEGPU_H
#define CX_FAKEGPU_H

#include "base/gpu.h"

extern const struct cx_gpu_ops fakegpu_ops;

struct cx_gpu *fakegpu_create(size_t nbytes);
void fakegpu_destroy(struct cx_gpu *gpu);
void fakegpu_configure(struct cx_gpu *gpu, uint64_t seed, int max_delay);

/* A buffer until the next fakegpu_reset, which frees all; `*mem` tells its
 * kind, DEVICE or MANAGED. */
void *fakegpu_alloc(struct cx_gpu *gpu, size_t nbytes, enum cx_mem_kind kind,
                    int device, struct cx_mem *mem);
void fakegpu_reset(struct cx_gpu *gpu);
/* The program resets a device: its context has the same address and another
 * number, and staging memory made for it may not be used any more. Buffers
 * stay, but `*mem` tells the old number. */
void fakegpu_reset_device(struct cx_gpu *gpu, int device);
/* Staging memory is kept when it is given back, as a real one's is: frees what
 * is idle; how many blocks are not. */
void fakegpu_drop_idle(struct cx_gpu *gpu);
int fakegpu_lent(const struct cx_gpu *gpu);
/* The same bytes where the test may touch them. */
char *fakegpu_peek(struct cx_gpu *gpu, void *addr);
/* Fences since the last reset; copies not complete. */
int fakegpu_fences(const struct cx_gpu *gpu);
int fakegpu_pending(const struct cx_gpu *gpu);
/* The next copy fails. */
void fakegpu_fail_next(struct cx_gpu *gpu);

#endif
