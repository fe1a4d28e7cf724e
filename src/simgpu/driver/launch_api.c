/* SPDX-License-Identifier: BSD-3-Clause */
/* launch_api.c - the driver's calls that launch kernels. */
#include "launch.h"

static CUstream own(CUstream s)
{
    return s != NULL ? s : CU_STREAM_PER_THREAD;
}

/* The packed form of the arguments: pairs of a key and a value. */
static CUresult read_extra(void **extra, struct sim_launch *l)
{
    bool sized = false;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            l->args = extra[1];
        } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
            l->nbytes = *(const size_t *)extra[1];
            sized = true;
        } else {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return sized && l->args != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Blocks run one after the other, so none may have to wait for another. */
static CUresult read_attributes(const CUlaunchConfig *c)
{
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const CUlaunchAttribute *a = &c->attrs[i];
        if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
            a->value.cooperative != 0)
            return CUDA_ERROR_NOT_SUPPORTED;
        if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
            (a->value.clusterDim.x > 1 || a->value.clusterDim.y > 1 ||
             a->value.clusterDim.z > 1))
            return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}

static CUresult launch_locked(struct sim_launch *l, CUstream handle)
{
    CUcontext ctx;
    CUstream s;
    CUresult rc = sim_current_locked(&ctx);
    if (rc == CUDA_SUCCESS)
        rc = sim_stream_find(ctx, handle, &s);
    if (rc == CUDA_SUCCESS && s->ctx != ctx)
        rc = CUDA_ERROR_INVALID_HANDLE;
    return rc == CUDA_SUCCESS ? sim_launch(l, s) : rc;
}

static CUresult launch(enum sim_fn fn, const CUlaunchConfig *c, CUfunction f,
                       void **params, void **extra)
{
    CUresult rc = sim_enter(fn);
    if (rc != CUDA_SUCCESS)
        return rc;
    struct sim_launch l = {
        .function = f,
        .grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
        .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
        .shared = c->sharedMemBytes,
        .params = params,
    };
    if (params != NULL && extra != NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (extra != NULL)
        rc = read_extra(extra, &l);
    if (rc == CUDA_SUCCESS)
        rc = read_attributes(c);
    if (rc != CUDA_SUCCESS)
        return rc;
    pthread_mutex_lock(&sim_lock);
    rc = launch_locked(&l, c->hStream);
    pthread_mutex_unlock(&sim_lock);
    return rc;
}

CUresult CUDAAPI cuLaunchKernel(CUfunction f, unsigned int gridDimX,
                                unsigned int gridDimY, unsigned int gridDimZ,
                                unsigned int blockDimX, unsigned int blockDimY,
                                unsigned int blockDimZ,
                                unsigned int sharedMemBytes, CUstream hStream,
                                void **kernelParams, void **extra)
{
    const CUlaunchConfig c = {
        .gridDimX = gridDimX,
        .gridDimY = gridDimY,
        .gridDimZ = gridDimZ,
        .blockDimX = blockDimX,
        .blockDimY = blockDimY,
        .blockDimZ = blockDimZ,
        .sharedMemBytes = sharedMemBytes,
        .hStream = hStream,
    };
    return launch(SIM_FN_cuLaunchKernel, &c, f, kernelParams, extra);
}

CUresult CUDAAPI cuLaunchKernel_ptsz(
    CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
    unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
    unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
    void **kernelParams, void **extra)
{
    return cuLaunchKernel(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY,
                          blockDimZ, sharedMemBytes, own(hStream), kernelParams,
                          extra);
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f,
                                  void **kernelParams, void **extra)
{
    if (config == NULL || (config->numAttrs > 0 && config->attrs == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    return launch(SIM_FN_cuLaunchKernelEx, config, f, kernelParams, extra);
}

CUresult CUDAAPI cuLaunchKernelEx_ptsz(const CUlaunchConfig *config,
                                       CUfunction f, void **kernelParams,
                                       void **extra)
{
    if (config == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUlaunchConfig c = *config;
    c.hStream = own(c.hStream);
    return cuLaunchKernelEx(&c, f, kernelParams, extra);
}
