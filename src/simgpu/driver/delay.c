/* SPDX-License-Identifier: BSD-3-Clause */
/* delay.c - work that takes a while, so that what forgot to wait is seen.
 *
 * A delay belongs to a kind of work or to a kind of stream, or, set by a
 * control call only, to one stream; of those that apply the longest counts.
 * Only work that the program does not wait for anyway is delayed. */
#include "stream.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DELAY_MAX_US 10000000

static const char *const names[SIM_DELAYS] = {
    [SIM_DELAY_COPY] = "copy",         [SIM_DELAY_MEMSET] = "memset",
    [SIM_DELAY_KERNEL] = "kernel",     [SIM_DELAY_GRAPH] = "graph",
    [SIM_DELAY_LEGACY] = "legacy",     [SIM_DELAY_THREAD] = "thread",
    [SIM_DELAY_BLOCKING] = "blocking", [SIM_DELAY_NONBLOCKING] = "nonblocking",
};

static bool parse_us(const char *s, unsigned *us, const char **end)
{
    char *stop;
    if (*s < '0' || *s > '9')
        return false;
    unsigned long v = strtoul(s, &stop, 10);
    *us = (unsigned)v;
    *end = stop;
    return v <= DELAY_MAX_US;
}

/* One "what:us"; returns what follows it, NULL if it is bad. */
static const char *parse_one(const char *s, unsigned us[SIM_DELAYS])
{
    const char *colon = strchr(s, ':');
    int i = 0;
    while (colon != NULL && i < SIM_DELAYS &&
           (strlen(names[i]) != (size_t)(colon - s) ||
            strncmp(names[i], s, strlen(names[i])) != 0))
        i++;
    if (colon == NULL || i == SIM_DELAYS || !parse_us(colon + 1, &us[i], &s))
        return NULL;
    if (*s == ',')
        return s[1] != '\0' ? s + 1 : NULL;
    return *s == '\0' ? s : NULL;
}

bool sim_delay_parse(const char *spec, unsigned us[SIM_DELAYS])
{
    const char *s;
    unsigned all;
    memset(us, 0, SIM_DELAYS * sizeof(us[0]));
    if (parse_us(spec, &all, &s) && *s == '\0') {
        for (int i = 0; i <= SIM_DELAY_GRAPH; i++)
            us[i] = all;
        return true;
    }
    s = spec;
    do {
        s = parse_one(s, us);
    } while (s != NULL && *s != '\0');
    return s != NULL;
}

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
    if (sim.forked || us > DELAY_MAX_US)
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
