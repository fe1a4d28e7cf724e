/* SPDX-License-Identifier: BSD-3-Clause */
/* delay.c - work that takes a while, so that what forgot to wait is seen.
 *
 * A delay belongs to a kind of work or to a kind of stream, or, set by a
 * control call only, to one stream; of those that apply the longest counts.
 * Only work that the program does not wait for anyway is delayed. */
#include "stream.h"

#include <unistd.h>

void sim_delay_set(const unsigned us[SIM_DELAYS])
{
    for (int i = 0; i < SIM_DELAYS; i++)
        __atomic_store_n(&sim.config.delay_us[i], us[i], __ATOMIC_RELAXED);
}

static unsigned setting(enum sim_delay what)
{
    return __atomic_load_n(&sim.config.delay_us[what], __ATOMIC_RELAXED);
}

static enum sim_delay kind_of(const struct CUstream_st *s)
{
    if (s->kind == SIM_STREAM_LEGACY)
        return SIM_DELAY_LEGACY;
    if (s->kind == SIM_STREAM_THREAD)
        return SIM_DELAY_THREAD;
    return (s->flags & CU_STREAM_NON_BLOCKING) != 0 ? SIM_DELAY_NONBLOCKING
                                                    : SIM_DELAY_BLOCKING;
}

void sim_delay_wait(CUstream s, const struct sim_op *op)
{
    if (!op->delayed)
        return;
    unsigned us = setting(op->work);
    if (us < setting(kind_of(s)))
        us = setting(kind_of(s));
    unsigned own = __atomic_load_n(&s->delay_us, __ATOMIC_RELAXED);
    if (us < own)
        us = own;
    if (us != 0)
        usleep(us);
}

int sim_delay_set_stream(void *stream, unsigned us)
{
    CUcontext ctx;
    CUstream s;
    if (sim.forked || us > SIM_DELAY_MAX_US)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sim_lock);
    CUresult rc = sim_current_locked(&ctx);
    if (rc == CUDA_SUCCESS)
        rc = sim_stream_find(ctx, stream, &s);
    if (rc == CUDA_SUCCESS)
        __atomic_store_n(&s->delay_us, us, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&sim_lock);
    return (int)rc;
}
