/* SPDX-License-Identifier: BSD-3-Clause */
/* entry.c - see entry.h. */
#include "entry.h"

#include "stream.h"

CUresult sim_enter_device(enum sim_fn fn, CUdevice ordinal,
                          struct sim_device **dev)
{
    CUresult rc = sim_enter(fn);
    return rc == CUDA_SUCCESS ? sim_device_find(ordinal, dev) : rc;
}

CUresult sim_begin(enum sim_fn fn)
{
    CUresult rc = sim_enter(fn);
    if (rc == CUDA_SUCCESS)
        pthread_mutex_lock(&sim_lock);
    return rc;
}

CUresult sim_end(CUresult rc)
{
    pthread_mutex_unlock(&sim_lock);
    return rc;
}

CUresult sim_begin_device(enum sim_fn fn, CUdevice ordinal,
                          struct sim_device **dev)
{
    CUresult rc = sim_enter_device(fn, ordinal, dev);
    if (rc == CUDA_SUCCESS)
        pthread_mutex_lock(&sim_lock);
    return rc;
}

CUresult sim_begin_current(enum sim_fn fn, CUcontext *ctx)
{
    CUresult rc = sim_begin(fn);
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = sim_current_locked(ctx);
    return rc == CUDA_SUCCESS ? rc : sim_end(rc);
}

CUresult sim_begin_stream(enum sim_fn fn, CUstream handle, CUstream *s)
{
    CUcontext ctx;
    CUresult rc = sim_begin_current(fn, &ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = sim_stream_find(ctx, handle, s);
    return rc == CUDA_SUCCESS ? rc : sim_end(rc);
}
