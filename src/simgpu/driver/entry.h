/* SPDX-License-Identifier: BSD-3-Clause */
/* entry.h - how entry points begin and end.
 *
 * sim_begin and its forms pass the gate and take the lock, which is held until
 * sim_end; when they fail it is not, and the error is what the call returns. */
#ifndef SIM_ENTRY_H
#define SIM_ENTRY_H

#include "sim.h"

/* For what may be done without the lock. */
CUresult sim_enter_device(enum sim_fn fn, CUdevice ordinal,
                          struct sim_device **dev);

CUresult sim_begin(enum sim_fn fn);
CUresult sim_begin_device(enum sim_fn fn, CUdevice ordinal,
                          struct sim_device **dev);
/* ctx is the current context, usable. */
CUresult sim_begin_current(enum sim_fn fn, CUcontext *ctx);
/* s is the stream that handle means in the current context. */
CUresult sim_begin_stream(enum sim_fn fn, CUstream handle, CUstream *s);
CUresult sim_end(CUresult rc);

/* For the forms of calls whose default stream is the thread's own. */
static inline CUstream sim_own_stream(CUstream s)
{
    return s != NULL ? s : CU_STREAM_PER_THREAD;
}

#endif
