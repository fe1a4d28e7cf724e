/* SPDX-License-Identifier: BSD-3-Clause */
/* rt.h - the runtime library: a thin layer over the driver of this folder.
 *
 * Every call is rt_enter, then driver calls through rt.<name>, then rt_leave,
 * which also keeps the thread's last error. Calls that the runtime makes to
 * the driver are not counted and not made to fail: those are for calls that
 * the program makes. */
#ifndef SIM_RT_H
#define SIM_RT_H

#define __CUDA_API_VERSION_INTERNAL

#pragma GCC visibility push(default)
#include <cuda.h>
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

/* Set for libcudart.so.12, see v12.h. */
#if !defined(RT_VERSION)
#define RT_VERSION CUDART_VERSION
#else
#define RT_SYMBOL(name, symbol) __typeof__(name) name __asm__(#symbol);
RT_SYMBOL(cudaMemAdvise, cudaMemAdvise_v2)
RT_SYMBOL(cudaMemPrefetchAsync, cudaMemPrefetchAsync_v2)
RT_SYMBOL(cudaMemPrefetchAsync_ptsz, cudaMemPrefetchAsync_v2_ptsz)
RT_SYMBOL(cudaGetDeviceProperties, rt_properties_13)
RT_SYMBOL(cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_v3)
RT_SYMBOL(cudaStreamGetCaptureInfo_ptsz, cudaStreamGetCaptureInfo_v3_ptsz)
#endif

enum rt_fn {
#define SIM_FN(name) RT_##name,
#include "simgpu/functions.def"
#undef SIM_FN
    RT_FN_COUNT
};

/* How far a call must be set up. */
enum rt_need {
    RT_DRIVER_ONLY, /* the driver is loaded */
    RT_INITED,      /* and cuInit has been called */
    RT_BOUND        /* and the thread has a context, its device's primary */
};

struct rt_driver {
#define RT_DRIVER(name) __typeof__(name) *name;
#include "driver.def"
#undef RT_DRIVER
};

extern struct rt_driver rt;

/* rt_leave must follow, with what the call returns, also after a refusal. */
cudaError_t rt_enter(enum rt_fn fn, enum rt_need need);
cudaError_t rt_leave(cudaError_t err);

/* The numbers of the two libraries agree. */
static inline cudaError_t rt_error(CUresult rc)
{
    return (cudaError_t)rc;
}

/* The device of the calling thread; makes no context. */
int rt_device(void);
/* The primary context of a device, which this library retains once. */
CUresult rt_primary(int device, CUcontext *ctx);
CUresult rt_set_device(int device);
CUresult rt_reset_device(void);

/* The thread's own stream in place of none. */
static inline cudaStream_t rt_own(cudaStream_t s)
{
    return s != NULL ? s : cudaStreamPerThread;
}

#endif
