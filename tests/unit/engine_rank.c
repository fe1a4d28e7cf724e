/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_rank.c - what the engine finds in place of src/ucx and src/cuda.
 *
 * Their headers are not included: they declare the two tables const, and here
 * they are filled at run time. */
#include "engine_rank.h"

#include <stdio.h>

static struct engine_rank this;

extern struct cx_wire_ops cx_ucx_ops;
extern struct cx_gpu_ops cx_cuda_ops;
struct cx_wire_ops cx_ucx_ops;
struct cx_gpu_ops cx_cuda_ops;

enum cx_status cx_ucx_create(const char *net_devices, struct cx_wire **out);
void cx_ucx_destroy(struct cx_wire *wire);
void cx_ucx_describe(struct cx_wire *wire, char *out, size_t n);
enum cx_status cx_cuda_create(int sync, struct cx_gpu **out);
void cx_cuda_destroy(struct cx_gpu *gpu);
void cx_cuda_describe(struct cx_gpu *gpu, char *out, size_t n);
void coax_rank_setup(const struct engine_rank *rank);

static enum cx_status settle(struct cx_gpu *gpu, const struct cx_mem *mem)
{
    (void)gpu;
    (void)mem;
    return CX_OK;
}

__attribute__((visibility("default"))) void
coax_rank_setup(const struct engine_rank *rank)
{
    this = *rank;
    cx_ucx_ops = *rank->wire_ops;
    cx_cuda_ops = *rank->gpu_ops;
    if (!cx_cuda_ops.settle)
        cx_cuda_ops.settle = settle;
}

enum cx_status cx_ucx_create(const char *net_devices, struct cx_wire **out)
{
    (void)net_devices;
    *out = this.wire;
    return CX_OK;
}

void cx_ucx_destroy(struct cx_wire *wire)
{
    (void)wire;
}

void cx_ucx_describe(struct cx_wire *wire, char *out, size_t n)
{
    (void)wire;
    snprintf(out, n, "memory");
}

enum cx_status cx_cuda_create(int sync, struct cx_gpu **out)
{
    (void)sync;
    *out = this.gpu;
    return CX_OK;
}

void cx_cuda_destroy(struct cx_gpu *gpu)
{
    (void)gpu;
}

void cx_cuda_describe(struct cx_gpu *gpu, char *out, size_t n)
{
    (void)gpu;
    snprintf(out, n, "fake");
}
