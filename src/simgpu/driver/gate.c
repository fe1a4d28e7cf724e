/* SPDX-License-Identifier: BSD-3-Clause */
/* gate.c - what every call passes first: settings, counting, faults, and the
 * refusals that hold for all of the API (no cuInit, forked child, call from a
 * host function). */
#include "sim.h"

#include "capture.h"
#include "share.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct sim_state sim;
pthread_mutex_t sim_lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_once_t start_once = PTHREAD_ONCE_INIT;
static bool started; /* faster to ask than pthread_once */
static _Thread_local struct sim_thread this_thread
    __attribute__((tls_model("initial-exec")));

/* The first question of a thread. */
static __attribute__((noinline)) void number_thread(void)
{
    static unsigned long next;
    this_thread.id = __atomic_add_fetch(&next, 1, __ATOMIC_RELAXED);
}

struct sim_thread *sim_thread(void)
{
    if (this_thread.id == 0)
        number_thread();
    return &this_thread;
}

unsigned long long sim_next_id(void)
{
    return __atomic_add_fetch(&sim.next_id, 1, __ATOMIC_RELAXED);
}

/* A child of fork has none of the stream threads and may have been forked
 * while a lock was held, so this comes before everything else. */
static inline __attribute__((always_inline)) CUresult enter(int fn)
{
    if (sim.forked)
        return CUDA_ERROR_NOT_INITIALIZED;
    sim_start();
    struct sim_thread *t = sim_thread();
    if (t->nested == 0) {
        sim_count(&sim_counters->fn[fn].calls, 1);
        int error = __atomic_load_n(&sim_nfaults, __ATOMIC_ACQUIRE) != 0
                        ? sim_faults_hit(fn)
                        : 0;
        if (error != 0) {
            sim_count(&sim_counters->fn[fn].faults, 1);
            return (CUresult)error;
        }
    }
    return t->in_callback ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
}

static int control_enter(int fn)
{
    CUresult rc =
        fn >= 0 && fn < SIM_FN_COUNT ? enter(fn) : CUDA_ERROR_NOT_SUPPORTED;
    sim_thread()->nested++;
    return (int)rc;
}

static void control_leave(void)
{
    sim_thread()->nested--;
}

static void control_set_delay(unsigned delay_us)
{
    unsigned us[SIM_DELAYS] = {0};
    for (int i = 0; i <= SIM_DELAY_GRAPH; i++)
        us[i] = delay_us;
    sim_delay_set(us);
}

static int control_set_delays(const char *spec)
{
    unsigned us[SIM_DELAYS];
    if (!sim_delay_parse(spec, us))
        return -1;
    sim_delay_set(us);
    return 0;
}

static struct simgpu_control control = {
    .size = sizeof(control),
    .set_faults = sim_faults_set,
    .set_delay_us = control_set_delay,
    .enter = control_enter,
    .leave = control_leave,
    .set_delays = control_set_delays,
    .set_stream_delay = sim_delay_set_stream,
};

static void start(void)
{
    sim_config_read(&sim.config);
    sim_counters_open(&sim.config);
    control.counters = sim_counters;
    if (sim.config.share[0] != '\0' && !sim_share_open(sim.config.share)) {
        fprintf(stderr, "simgpu: SIMGPU_SHARE=%s: cannot use it: %s\n",
                sim.config.share, strerror(errno));
        sim.config.ok = false;
    }
    if (sim.config.faults != NULL && sim_faults_set(sim.config.faults) != 0)
        sim.config.ok = false;
    __atomic_store_n(&started, true, __ATOMIC_RELEASE);
}

void sim_start(void)
{
    if (!__atomic_load_n(&started, __ATOMIC_ACQUIRE))
        pthread_once(&start_once, start);
}

CUresult sim_enter_early(enum sim_fn fn)
{
    return enter((int)fn);
}

CUresult sim_enter(enum sim_fn fn)
{
    CUresult rc = enter((int)fn);
    if (rc == CUDA_SUCCESS && !__atomic_load_n(&sim.inited, __ATOMIC_ACQUIRE))
        rc = CUDA_ERROR_NOT_INITIALIZED;
    if (rc != CUDA_SUCCESS ||
        __atomic_load_n(&sim_ncaptures, __ATOMIC_ACQUIRE) == 0)
        return rc;
    return sim_capture_gate(fn);
}

static void after_fork_in_child(void)
{
    sim.forked = true;
}

static void init_locked(void)
{
    for (int i = 0; i < sim.config.nvisible; i++) {
        sim.dev[i].ordinal = i;
        sim.dev[i].phys = sim.config.visible[i];
    }
    pthread_atfork(NULL, NULL, after_fork_in_child);
    __atomic_store_n(&sim.inited, true, __ATOMIC_RELEASE);
}

CUresult CUDAAPI cuInit(unsigned int Flags)
{
    CUresult rc = sim_enter_early(SIM_FN_cuInit);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (Flags != 0 || !sim.config.ok)
        return CUDA_ERROR_INVALID_VALUE;
    if (sim.config.nvisible == 0)
        return CUDA_ERROR_NO_DEVICE;
    pthread_mutex_lock(&sim_lock);
    if (!sim.inited)
        init_locked();
    pthread_mutex_unlock(&sim_lock);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDriverGetVersion(int *driverVersion)
{
    CUresult rc = sim_enter_early(SIM_FN_cuDriverGetVersion);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (driverVersion == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = 13000;
    return CUDA_SUCCESS;
}

/* Also in a forked child, where the functions of the table refuse. */
CUresult CUDAAPI cuGetExportTable(const void **ppExportTable,
                                  const CUuuid *pExportTableId)
{
    static const CUuuid control_id = SIMGPU_CONTROL_UUID;
    if (ppExportTable == NULL || pExportTableId == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (memcmp(pExportTableId, &control_id, sizeof(control_id)) != 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!sim.forked)
        sim_start();
    *ppExportTable = &control;
    return CUDA_SUCCESS;
}

/* Writes the report. */
__attribute__((destructor)) static void finish(void)
{
    if (sim.forked || sim_counters->size == 0)
        return;
    sim_counters_close();
}
