/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.c - the kernels and variables of the program, and their launches.
 *
 * A program registers them before main, with addresses of its own that stand
 * for them; nothing is asked of the driver until one is used. An image is a
 * library of the driver, so each context gets its module when it needs it. */
#include "rt.h"

#include "registration.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_MAX 16

struct image {
    struct image *next;
    const void *code;
    CUlibrary library; /* NULL: not loaded yet */
};

/* A kernel, or a variable. */
struct entry {
    struct entry *next;
    struct image *image;
    const void *host; /* what stands for it in the program */
    const char *name; /* on the device; the program's */
    size_t size;      /* of a variable */
    bool is_kernel;
    CUkernel kernel; /* NULL: not looked up yet */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct image *images;
static struct entry *entries;

/* Launches in the form kernel<<<...>>>() that have been begun. */
struct call {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};
static _Thread_local struct call calls[CALLS_MAX];
static _Thread_local int ncalls;

/* What nvcc wraps an image in. */
struct wrapper {
    uint32_t magic, version;
    const void *code;
    const void *rest;
};

void **CUDARTAPI __cudaRegisterFatBinary(void *fatCubin)
{
    const struct wrapper *w = fatCubin;
    struct image *image = calloc(1, sizeof(*image));
    if (image == NULL)
        return NULL;
    image->code = w->code;
    pthread_mutex_lock(&lock);
    image->next = images;
    images = image;
    pthread_mutex_unlock(&lock);
    return (void **)image;
}

void CUDARTAPI __cudaRegisterFatBinaryEnd(void **fatCubinHandle)
{
    (void)fatCubinHandle;
}

/* At exit, or when a library of the program is unloaded. The driver's part is
 * left: it may be gone already. */
void CUDARTAPI __cudaUnregisterFatBinary(void **fatCubinHandle)
{
    struct image *image = (struct image *)fatCubinHandle;
    if (image == NULL)
        return;
    pthread_mutex_lock(&lock);
    for (struct entry **at = &entries; *at != NULL;) {
        struct entry *e = *at;
        if (e->image != image) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        free(e);
    }
    struct image **at = &images;
    while (*at != NULL && *at != image)
        at = &(*at)->next;
    if (*at != NULL)
        *at = image->next;
    pthread_mutex_unlock(&lock);
    free(image);
}

static void add(struct entry from)
{
    struct entry *e = malloc(sizeof(*e));
    if (e == NULL || from.image == NULL) {
        free(e);
        return;
    }
    *e = from;
    pthread_mutex_lock(&lock);
    e->next = entries;
    entries = e;
    pthread_mutex_unlock(&lock);
}

void CUDARTAPI __cudaRegisterFunction(void **fatCubinHandle,
                                      const char *hostFun, char *deviceFun,
                                      const char *deviceName, int thread_limit,
                                      void *tid, void *bid, dim3 *bDim,
                                      dim3 *gDim, int *wSize)
{
    (void)deviceFun;
    (void)thread_limit;
    (void)tid;
    (void)bid;
    (void)bDim;
    (void)gDim;
    (void)wSize;
    add((struct entry){.image = (struct image *)fatCubinHandle,
                       .host = hostFun,
                       .name = deviceName,
                       .is_kernel = true});
}

void CUDARTAPI __cudaRegisterVar(void **fatCubinHandle, char *hostVar,
                                 char *deviceAddress, const char *deviceName,
                                 int ext, size_t size, int constant, int global)
{
    (void)deviceAddress;
    (void)ext;
    (void)constant;
    (void)global;
    add((struct entry){.image = (struct image *)fatCubinHandle,
                       .host = hostVar,
                       .name = deviceName,
                       .size = size});
}

void CUDARTAPI __cudaRegisterManagedVar(void **fatCubinHandle,
                                        void **hostVarPtrAddress,
                                        char *deviceAddress,
                                        const char *deviceName, int ext,
                                        size_t size, int constant, int global)
{
    (void)fatCubinHandle;
    (void)hostVarPtrAddress;
    (void)deviceAddress;
    (void)ext;
    (void)size;
    (void)constant;
    (void)global;
    fprintf(stderr, "simgpu: %s: managed variables are not simulated\n",
            deviceName);
}

char CUDARTAPI __cudaInitModule(void **fatCubinHandle)
{
    return fatCubinHandle != NULL;
}

static struct entry *find(const void *host)
{
    struct entry *e = entries;
    while (e != NULL && e->host != host)
        e = e->next;
    return e;
}

static cudaError_t load(struct image *image)
{
    if (image->library != NULL)
        return cudaSuccess;
    return rt_error(rt.cuLibraryLoadData(&image->library, image->code, NULL,
                                         NULL, 0, NULL, NULL, 0));
}

static cudaError_t get_kernel(struct entry *e, CUkernel *out)
{
    cudaError_t err = cudaSuccess;
    if (e == NULL || !e->is_kernel)
        return cudaErrorInvalidDeviceFunction;
    if (e->kernel == NULL) {
        err = load(e->image);
        if (err == cudaSuccess)
            err = rt_error(
                rt.cuLibraryGetKernel(&e->kernel, e->image->library, e->name));
        if (err == cudaErrorSymbolNotFound)
            err = cudaErrorInvalidDeviceFunction;
    }
    *out = e->kernel;
    return err;
}

/* The function of the driver that func stands for. */
static cudaError_t function(const void *func, CUfunction *out)
{
    CUkernel k = NULL;
    pthread_mutex_lock(&lock);
    cudaError_t err = get_kernel(find(func), &k);
    pthread_mutex_unlock(&lock);
    *out = (CUfunction)k;
    return err;
}

static cudaError_t launch(CUfunction f, dim3 g, dim3 b, void **args,
                          size_t shared, cudaStream_t stream)
{
    if (shared > UINT32_MAX)
        return cudaErrorInvalidValue;
    cudaError_t err = rt_error(rt.cuLaunchKernel(
        f, g.x, g.y, g.z, b.x, b.y, b.z, (unsigned)shared, stream, args, NULL));
    /* A launch says in its own way that its shape is not possible. */
    return err == cudaErrorInvalidValue ? cudaErrorInvalidConfiguration : err;
}

cudaError_t CUDARTAPI cudaLaunchKernel(const void *func, dim3 gridDim,
                                       dim3 blockDim, void **args,
                                       size_t sharedMem, cudaStream_t stream)
{
    CUfunction f;
    cudaError_t err = rt_enter(RT_cudaLaunchKernel, RT_BOUND);
    if (err == cudaSuccess)
        err = function(func, &f);
    if (err == cudaSuccess)
        err = launch(f, gridDim, blockDim, args, sharedMem, stream);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaLaunchKernel_ptsz(const void *func, dim3 gridDim,
                                            dim3 blockDim, void **args,
                                            size_t sharedMem,
                                            cudaStream_t stream)
{
    return cudaLaunchKernel(func, gridDim, blockDim, args, sharedMem,
                            rt_own(stream));
}

unsigned CUDARTAPI __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim,
                                               size_t sharedMem,
                                               struct CUstream_st *stream)
{
    if (ncalls == CALLS_MAX)
        return 1;
    calls[ncalls++] = (struct call){gridDim, blockDim, sharedMem, stream};
    return 0;
}

cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim,
                                                 size_t *sharedMem,
                                                 void *stream)
{
    if (ncalls == 0)
        return cudaErrorMissingConfiguration;
    const struct call *c = &calls[--ncalls];
    *gridDim = c->grid;
    *blockDim = c->block;
    *sharedMem = c->shared;
    *(cudaStream_t *)stream = c->stream;
    return cudaSuccess;
}

/* The handle is what stands for the kernel, so that an error comes from the
 * launch, which the program may look at. */
cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t *kernel, const void *func)
{
    *kernel = (cudaKernel_t)(uintptr_t)func;
    return cudaSuccess;
}

cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim,
                                         dim3 blockDim, void **args,
                                         size_t sharedMem, cudaStream_t stream)
{
    return cudaLaunchKernel((const void *)kernel, gridDim, blockDim, args,
                            sharedMem, stream);
}

cudaError_t CUDARTAPI __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 gridDim,
                                              dim3 blockDim, void **args,
                                              size_t sharedMem,
                                              cudaStream_t stream)
{
    return __cudaLaunchKernel(kernel, gridDim, blockDim, args, sharedMem,
                              rt_own(stream));
}

static int attribute(CUfunction f, CUfunction_attribute attr)
{
    int value = 0;
    rt.cuFuncGetAttribute(&value, attr, f);
    return value;
}

static void fill(struct cudaFuncAttributes *a, CUfunction f)
{
    memset(a, 0, sizeof(*a));
    a->maxThreadsPerBlock =
        attribute(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    a->numRegs = attribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS);
    a->ptxVersion = attribute(f, CU_FUNC_ATTRIBUTE_PTX_VERSION);
    a->binaryVersion = attribute(f, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
    a->maxDynamicSharedSizeBytes =
        attribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
}

cudaError_t CUDARTAPI cudaFuncGetAttributes(struct cudaFuncAttributes *attr,
                                            const void *func)
{
    CUfunction f;
    cudaError_t err = rt_enter(RT_cudaFuncGetAttributes, RT_BOUND);
    if (err == cudaSuccess && attr == NULL)
        err = cudaErrorInvalidValue;
    if (err == cudaSuccess)
        err = function(func, &f);
    if (err == cudaSuccess)
        fill(attr, f);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaFuncSetAttribute(const void *func,
                                           enum cudaFuncAttribute attr,
                                           int value)
{
    CUfunction f;
    cudaError_t err = rt_enter(RT_cudaFuncSetAttribute, RT_BOUND);
    if (err == cudaSuccess)
        err = function(func, &f);
    if (err == cudaSuccess)
        err = rt_error(
            rt.cuFuncSetAttribute(f, (CUfunction_attribute)attr, value));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize,
    unsigned int flags)
{
    CUfunction f;
    cudaError_t err =
        rt_enter(RT_cudaOccupancyMaxActiveBlocksPerMultiprocessor, RT_BOUND);
    if (err == cudaSuccess)
        err = function(func, &f);
    if (err == cudaSuccess)
        err = rt_error(rt.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            numBlocks, f, blockSize, dynamicSMemSize, flags));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, func, blockSize, dynamicSMemSize, 0);
}

/* Where a variable of the program is on the current device. */
static cudaError_t variable(const void *symbol, CUdeviceptr *addr, size_t *size)
{
    cudaError_t err = cudaErrorInvalidSymbol;
    pthread_mutex_lock(&lock);
    const struct entry *e = find(symbol);
    if (e != NULL && !e->is_kernel)
        err = load(e->image);
    if (err == cudaSuccess)
        err = rt_error(
            rt.cuLibraryGetGlobal(addr, size, e->image->library, e->name));
    pthread_mutex_unlock(&lock);
    return err == cudaErrorSymbolNotFound ? cudaErrorInvalidSymbol : err;
}

cudaError_t CUDARTAPI cudaGetSymbolAddress(void **devPtr, const void *symbol)
{
    CUdeviceptr addr;
    size_t size;
    cudaError_t err = rt_enter(RT_cudaGetSymbolAddress, RT_BOUND);
    if (err == cudaSuccess && devPtr == NULL)
        err = cudaErrorInvalidValue;
    if (err == cudaSuccess)
        err = variable(symbol, &addr, &size);
    if (err == cudaSuccess)
        *devPtr = (void *)(uintptr_t)addr;
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaGetSymbolSize(size_t *size, const void *symbol)
{
    CUdeviceptr addr;
    cudaError_t err = rt_enter(RT_cudaGetSymbolSize, RT_BOUND);
    if (err == cudaSuccess && size == NULL)
        err = cudaErrorInvalidValue;
    if (err == cudaSuccess)
        err = variable(symbol, &addr, size);
    return rt_leave(err);
}

/* The address of count bytes at offset in a variable. */
static cudaError_t part(const void *symbol, size_t count, size_t offset,
                        void **out)
{
    CUdeviceptr addr;
    size_t size;
    cudaError_t err = variable(symbol, &addr, &size);
    if (err == cudaSuccess && (offset > size || count > size - offset))
        err = cudaErrorInvalidValue;
    if (err == cudaSuccess)
        *out = (void *)(uintptr_t)(addr + offset);
    return err;
}

cudaError_t CUDARTAPI cudaMemcpyToSymbol(const void *symbol, const void *src,
                                         size_t count, size_t offset,
                                         enum cudaMemcpyKind kind)
{
    void *dst;
    cudaError_t err = rt_enter(RT_cudaMemcpyToSymbol, RT_BOUND);
    if (err == cudaSuccess)
        err = part(symbol, count, offset, &dst);
    if (err == cudaSuccess)
        err = cudaMemcpy(dst, src, count, kind);
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaMemcpyFromSymbol(void *dst, const void *symbol,
                                           size_t count, size_t offset,
                                           enum cudaMemcpyKind kind)
{
    void *src;
    cudaError_t err = rt_enter(RT_cudaMemcpyFromSymbol, RT_BOUND);
    if (err == cudaSuccess)
        err = part(symbol, count, offset, &src);
    if (err == cudaSuccess)
        err = cudaMemcpy(dst, src, count, kind);
    return rt_leave(err);
}
