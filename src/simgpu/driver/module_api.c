/* SPDX-License-Identifier: BSD-3-Clause */
/* module_api.c - the driver's calls on modules and functions. */
#include "entry.h"
#include "memory.h"
#include "module.h"

/* Of one multiprocessor, as in device.c. */
#define SM_THREADS 2048
#define SM_BLOCKS 32
#define SM_SHARED 233472
#define SM_COUNT 132
#define BLOCK_THREADS 1024
#define BLOCK_SHARED_OPTIN 232448
#define BLOCK_SHARED_RESERVED 1024

static CUresult load(enum sim_fn fn, CUmodule *module, const void *image)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(fn, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (module == NULL || image == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    return sim_end(sim_module_load(ctx, image, module));
}

CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image)
{
    return load(SIM_FN_cuModuleLoadData, module, image);
}

/* The options are about code for GPUs. */
CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *module, const void *image,
                                    unsigned int numOptions,
                                    CUjit_option *options, void **optionValues)
{
    (void)numOptions;
    (void)options;
    (void)optionValues;
    return load(SIM_FN_cuModuleLoadDataEx, module, image);
}

CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    return load(SIM_FN_cuModuleLoadFatBinary, module, fatCubin);
}

CUresult CUDAAPI cuModuleLoad(CUmodule *module, const char *fname)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(SIM_FN_cuModuleLoad, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (module == NULL || fname == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    return sim_end(sim_module_load_file(ctx, fname, module));
}

CUresult CUDAAPI cuModuleUnload(CUmodule hmod)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(SIM_FN_cuModuleUnload, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (sim_module_check(hmod) == NULL || hmod->library != NULL)
        return sim_end(CUDA_ERROR_INVALID_HANDLE);
    sim_module_unload(hmod);
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod,
                                     const char *name)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(SIM_FN_cuModuleGetFunction, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (sim_module_check(hmod) == NULL)
        return sim_end(CUDA_ERROR_INVALID_HANDLE);
    if (hfunc == NULL || name == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    return sim_end(sim_module_function(hmod, name, hfunc));
}

CUresult CUDAAPI cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes,
                                      CUmodule hmod, const char *name)
{
    CUcontext ctx;
    struct sim_alloc *a;
    CUresult rc = sim_begin_current(SIM_FN_cuModuleGetGlobal, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (sim_module_check(hmod) == NULL)
        return sim_end(CUDA_ERROR_INVALID_HANDLE);
    if (name == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    rc = sim_module_symbol(hmod, name, &a);
    if (rc == CUDA_SUCCESS && dptr != NULL)
        *dptr = a->base;
    if (rc == CUDA_SUCCESS && bytes != NULL)
        *bytes = a->size;
    return sim_end(rc);
}

/* Begins a call about a function; on success the lock is held. */
static CUresult begin_function(enum sim_fn fn, CUfunction *f)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(fn, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    *f = sim_function_find(*f, ctx);
    return *f != NULL ? CUDA_SUCCESS : sim_end(CUDA_ERROR_INVALID_HANDLE);
}

CUresult CUDAAPI cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    CUresult rc = begin_function(SIM_FN_cuFuncGetModule, &hfunc);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (hmod == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    *hmod = hfunc->module;
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuFuncGetName(const char **name, CUfunction hfunc)
{
    CUresult rc = begin_function(SIM_FN_cuFuncGetName, &hfunc);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (name == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    *name = hfunc->name;
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuFuncGetParamInfo(CUfunction func, size_t paramIndex,
                                    size_t *paramOffset, size_t *paramSize)
{
    CUresult rc = begin_function(SIM_FN_cuFuncGetParamInfo, &func);
    size_t at = 0;
    if (rc != CUDA_SUCCESS)
        return rc;
    if (paramOffset == NULL || paramIndex >= func->kernel->nparams)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0;; i++) {
        const struct simgpu_param *p = &func->kernel->params[i];
        at = (at + p->align - 1) / p->align * p->align;
        if (i == paramIndex)
            break;
        at += p->size;
    }
    *paramOffset = at;
    if (paramSize != NULL)
        *paramSize = func->kernel->params[paramIndex].size;
    return sim_end(CUDA_SUCCESS);
}

static CUresult attribute(const struct CUfunc_st *f,
                          CUfunction_attribute attrib, int *value)
{
    switch (attrib) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = BLOCK_THREADS;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = f->max_dynamic;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = 32;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = 90;
        return CUDA_SUCCESS;
    default:
        *value = 0;
        return (int)attrib >= 0 && attrib < CU_FUNC_ATTRIBUTE_MAX
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_VALUE;
    }
}

/* What host code does not tell, such as static shared memory, is 0. */
CUresult CUDAAPI cuFuncGetAttribute(int *pi, CUfunction_attribute attrib,
                                    CUfunction hfunc)
{
    int value;
    CUresult rc = begin_function(SIM_FN_cuFuncGetAttribute, &hfunc);
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = pi == NULL ? CUDA_ERROR_INVALID_VALUE
                    : attribute(hfunc, attrib, &value);
    if (rc == CUDA_SUCCESS)
        *pi = value;
    return sim_end(rc);
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction hfunc,
                                    CUfunction_attribute attrib, int value)
{
    CUresult rc = begin_function(SIM_FN_cuFuncSetAttribute, &hfunc);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (attrib == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
        return sim_end(value >= -1 && value <= 100 ? CUDA_SUCCESS
                                                   : CUDA_ERROR_INVALID_VALUE);
    if (attrib != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
        value < 0 || value > BLOCK_SHARED_OPTIN)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    hfunc->max_dynamic = value;
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    CUresult rc = begin_function(SIM_FN_cuFuncSetCacheConfig, &hfunc);
    (void)config;
    return rc != CUDA_SUCCESS ? rc : sim_end(CUDA_SUCCESS);
}

static int blocks_per_sm(int block, size_t dynamic)
{
    int by_threads = SM_THREADS / ((block + 31) / 32 * 32);
    int by_shared = (int)(SM_SHARED / (dynamic + BLOCK_SHARED_RESERVED));
    int n = by_threads < by_shared ? by_threads : by_shared;
    return n < SM_BLOCKS ? n : SM_BLOCKS;
}

static CUresult occupancy(enum sim_fn fn, int *numBlocks, CUfunction f,
                          int blockSize, size_t dynamic, unsigned flags)
{
    CUresult rc = begin_function(fn, &f);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (numBlocks == NULL || blockSize <= 0 ||
        (flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) != 0)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    *numBlocks = blockSize > BLOCK_THREADS || dynamic > (size_t)f->max_dynamic
                     ? 0
                     : blocks_per_sm(blockSize, dynamic);
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(
    int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize)
{
    return occupancy(SIM_FN_cuOccupancyMaxActiveBlocksPerMultiprocessor,
                     numBlocks, func, blockSize, dynamicSMemSize, 0);
}

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize,
    unsigned int flags)
{
    return occupancy(
        SIM_FN_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, numBlocks,
        func, blockSize, dynamicSMemSize, flags);
}

CUresult CUDAAPI cuOccupancyMaxPotentialBlockSize(
    int *minGridSize, int *blockSize, CUfunction func,
    CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
    int blockSizeLimit)
{
    CUresult rc =
        begin_function(SIM_FN_cuOccupancyMaxPotentialBlockSize, &func);
    if (rc != CUDA_SUCCESS)
        return rc;
    int block = blockSizeLimit > 0 && blockSizeLimit < BLOCK_THREADS
                    ? blockSizeLimit
                    : BLOCK_THREADS;
    if (minGridSize == NULL || blockSize == NULL || blockSizeLimit < 0)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    sim_end(CUDA_SUCCESS);
    if (blockSizeToDynamicSMemSize != NULL)
        dynamicSMemSize = blockSizeToDynamicSMemSize(block);
    *blockSize = block;
    *minGridSize = SM_COUNT * blocks_per_sm(block, dynamicSMemSize);
    return CUDA_SUCCESS;
}
