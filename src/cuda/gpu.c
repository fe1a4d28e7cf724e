/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.c - life of the GPU side and its table of functions. */
#include "cuda/internal.h"

#include "base/alloc.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

enum cx_status cx_cuda_create(enum cx_sync sync, struct cx_gpu **out)
{
    struct cx_gpu *gpu;

    (void)cx_cuda_driver();
    if (cx_cuda_unusable())
        return CX_ERR_GPU;
    gpu = cx_alloc(1, sizeof(*gpu));
    if (!gpu) {
        cx_error("no memory for the GPU side");
        return CX_ERR_NOMEM;
    }
    gpu->forks = cx_cuda_forks();
    gpu->sync = sync;
    *out = gpu;
    return CX_OK;
}

void cx_cuda_destroy(struct cx_gpu *gpu)
{
    if (!gpu)
        return;
    cx_cuda_contexts_destroy(gpu);
    cx_cuda_pinned_destroy(gpu);
    cx_cuda_primaries_release(gpu);
    cx_free(gpu);
}

/* "2 x NVIDIA H200, NVIDIA L4" of devices 0 to n - 1. */
static void list_devices(const struct driver *cu, int n, char *out, size_t size)
{
    char name[128], next[128] = "";
    size_t used = 0;

    for (int i = 0, run = 0; i < n; i++) {
        CUdevice device;

        if (!run &&
            (cu->cuDeviceGet(&device, i) != CUDA_SUCCESS ||
             cu->cuDeviceGetName(name, sizeof(name), device) != CUDA_SUCCESS))
            snprintf(name, sizeof(name), "unknown device");
        run++;
        if (i + 1 < n && cu->cuDeviceGet(&device, i + 1) == CUDA_SUCCESS &&
            cu->cuDeviceGetName(next, sizeof(next), device) == CUDA_SUCCESS &&
            !strcmp(name, next))
            continue;
        if (used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%d x %s",
                                     used ? ", " : "", run, name);
        run = 0;
    }
}

void cx_cuda_describe(struct cx_gpu *gpu, char *out, size_t n)
{
    const struct driver *cu = cx_cuda_ready(gpu);
    int devices = 0, version = 0;
    char list[512] = "";
    CUresult res;

    if (!cu) {
        snprintf(out, n, "none (no CUDA driver loaded by this process)");
        return;
    }
    res = cu->cuDeviceGetCount(&devices);
    if (res == CUDA_ERROR_NOT_INITIALIZED) {
        snprintf(out, n, "none (the program has not started CUDA)");
        return;
    }
    if (res != CUDA_SUCCESS || devices < 1) {
        snprintf(out, n, "none");
        return;
    }
    cu->cuDriverGetVersion(&version);
    list_devices(cu, devices, list, sizeof(list));
    snprintf(out, n, "%s, driver %d.%d", list, version / 1000,
             version % 1000 / 10);
}

static void counters(struct cx_gpu *gpu, struct cx_gpu_counters *out)
{
    *out = gpu->count;
}

const struct cx_gpu_ops cx_cuda_ops = {
    .query = cx_cuda_query,
    .piece = cx_cuda_piece,
    .settle = cx_cuda_settle,
    .fence = cx_cuda_fence,
    .copy = cx_cuda_copy,
    .copy2d = cx_cuda_copy2d,
    .copy_now = cx_cuda_copy_now,
    .progress = cx_cuda_progress,
    .cancel = cx_cuda_cancel,
    .pinned_alloc = cx_cuda_pinned_alloc,
    .pinned_free = cx_cuda_pinned_free,
    .counters = counters,
};
