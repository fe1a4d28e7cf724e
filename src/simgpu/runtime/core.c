/* SPDX-License-Identifier: BSD-3-Clause */
/* core.c - loading the driver, the thread's device and its last error. */
#include "rt.h"

#include "simgpu/counters.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define DEVICES_MAX 16

struct rt_driver rt;

static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static const struct simgpu_control *control; /* NULL: no usable driver */

static pthread_mutex_t retain_lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext retained[DEVICES_MAX];

static _Thread_local int thread_device;
static _Thread_local cudaError_t last_error;

/* Object to function pointer, without a cast that ISO C does not know. */
static void set_symbol(void *slot, void *symbol)
{
    memcpy(slot, &symbol, sizeof(symbol));
}

/* Only the driver of this folder will do: the real one has no such table. */
static void load(void)
{
    static const CUuuid id = SIMGPU_CONTROL_UUID;
    __typeof__(cuGetExportTable) *get_table = NULL;
    const void *table = NULL;
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (lib == NULL)
        return;
    set_symbol(&get_table, dlsym(lib, "cuGetExportTable"));
    if (get_table == NULL || get_table(&table, &id) != CUDA_SUCCESS)
        return;
    bool all = true;
#define RT_DRIVER(name)                                                        \
    set_symbol(&rt.name, dlsym(lib, #name));                                   \
    all = all && rt.name != NULL;
#include "driver.def"
#undef RT_DRIVER
    if (all)
        control = table;
}

static CUresult current(CUcontext *ctx)
{
    CUdevice dev;
    CUresult rc = rt.cuCtxGetCurrent(ctx);
    if (rc != CUDA_SUCCESS || *ctx == NULL)
        return rc;
    if (rt.cuCtxGetDevice(&dev) != CUDA_SUCCESS)
        *ctx = NULL; /* it was destroyed */
    return CUDA_SUCCESS;
}

CUresult rt_primary(int device, CUcontext *ctx)
{
    unsigned flags;
    int active;
    CUresult rc = rt.cuDevicePrimaryCtxGetState(device, &flags, &active);
    if (rc != CUDA_SUCCESS)
        return rc;
    pthread_mutex_lock(&retain_lock);
    if (retained[device] == NULL || !active)
        rc = rt.cuDevicePrimaryCtxRetain(&retained[device], device);
    if (rc == CUDA_SUCCESS)
        *ctx = retained[device];
    pthread_mutex_unlock(&retain_lock);
    return rc;
}

CUresult rt_set_device(int device)
{
    CUcontext ctx;
    CUresult rc = rt_primary(device, &ctx);
    if (rc == CUDA_SUCCESS)
        rc = rt.cuCtxSetCurrent(ctx);
    if (rc == CUDA_SUCCESS)
        thread_device = device;
    return rc;
}

/* A context that the program made current through the driver is used as it
 * is; only a thread without one gets its device's primary context. */
static CUresult bind(void)
{
    CUcontext ctx;
    CUresult rc = current(&ctx);
    if (rc != CUDA_SUCCESS || ctx != NULL)
        return rc;
    return rt_set_device(thread_device);
}

int rt_device(void)
{
    CUcontext ctx;
    CUdevice dev;
    if (current(&ctx) == CUDA_SUCCESS && ctx != NULL &&
        rt.cuCtxGetDevice(&dev) == CUDA_SUCCESS)
        return dev;
    return thread_device;
}

CUresult rt_reset_device(void)
{
    int device = rt_device();
    pthread_mutex_lock(&retain_lock);
    retained[device] = NULL;
    CUresult rc = rt.cuDevicePrimaryCtxReset_v2(device);
    pthread_mutex_unlock(&retain_lock);
    return rc;
}

cudaError_t rt_enter(enum rt_fn fn, enum rt_need need)
{
    pthread_once(&load_once, load);
    if (control == NULL)
        return cudaErrorInsufficientDriver;
    CUresult rc = (CUresult)control->enter((int)fn);
    if (rc == CUDA_SUCCESS && need >= RT_INITED)
        rc = rt.cuInit(0);
    if (rc == CUDA_SUCCESS && need >= RT_BOUND)
        rc = bind();
    return rt_error(rc);
}

cudaError_t rt_leave(cudaError_t err)
{
    if (control != NULL)
        control->leave();
    if (err != cudaSuccess)
        last_error = err;
    return err;
}

cudaError_t CUDARTAPI cudaGetLastError(void)
{
    cudaError_t err = last_error;
    last_error = cudaSuccess;
    return err;
}

cudaError_t CUDARTAPI cudaPeekAtLastError(void)
{
    return last_error;
}
