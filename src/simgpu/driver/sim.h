/* SPDX-License-Identifier: BSD-3-Clause */
/* sim.h - the state of the simulated driver.
 *
 * One mutex, sim_lock, guards all of it; worker threads of streams hold it
 * only between operations, never while they copy. Names ending in _locked, and
 * all functions of memory.h, ipc.c and stream.h that do not say otherwise,
 * want it held. */
#ifndef SIM_H
#define SIM_H

#include "config.h"
#include "cuda_api.h"
#include "simgpu/counters.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum sim_fn {
#define SIM_FN(name) SIM_FN_##name,
#include "simgpu/functions.def"
#undef SIM_FN
    SIM_FN_COUNT
};

#define SIM_STACK_MAX 32

struct sim_arena;

struct sim_device {
    int ordinal;
    int phys; /* device of the machine, the same number in every process */
    struct CUctx_st *primary; /* made at the first retain, then kept */
    struct sim_arena *arena;  /* made at the first allocation */
    size_t used;              /* bytes given out, also those that peers pin */
    CUmemoryPool pool;        /* the default one, made when asked for */
    CUmemoryPool pool_set;    /* by cuDeviceSetMemPool */
};

/* A context. Never freed, so that a stale handle is recognised as such. */
struct CUctx_st {
    struct CUctx_st *next;
    struct sim_device *dev;
    unsigned long long id;
    unsigned flags;
    bool primary;
    bool active;
    CUresult fault; /* killed it: what all calls give until it is gone */
    int refs;       /* retains of a primary context */
    uint32_t peers; /* ordinals with peer access enabled */
    struct CUstream_st *legacy;  /* owned */
    struct CUstream_st *streams; /* all of this context, legacy too */
    struct CUevent_st *events;   /* owned */
};

struct sim_thread {
    unsigned long id;
    struct CUctx_st *stack[SIM_STACK_MAX];
    int depth;
    int nested;       /* inside a call of the runtime library */
    bool in_callback; /* a host function of a stream runs here */
    CUstreamCaptureMode capture_mode;
};

struct sim_state {
    struct sim_config config;
    bool inited;
    bool forked; /* a child of a process that had called cuInit */
    struct sim_device dev[SIM_MAX_DEVICES];
    struct CUctx_st *contexts;
    unsigned long long next_id; /* of buffers, contexts and streams */
};

extern struct sim_state sim;
extern pthread_mutex_t sim_lock;

/* gate.c */

/* Begins a driver call of the program: counts it and says with which error it
 * is to be refused (CUDA_SUCCESS: go on). The lock must not be held. */
CUresult sim_enter(enum sim_fn fn);
/* The same for the few calls that work before cuInit. */
CUresult sim_enter_early(enum sim_fn fn);
/* Reads settings and opens counters, once. */
void sim_start(void);
struct sim_thread *sim_thread(void);
unsigned long long sim_next_id(void);

/* counters.c, faults.c: no lock needed */
extern struct simgpu_counters *sim_counters;
void sim_counters_open(const struct sim_config *c);
void sim_counters_close(void);
static inline void sim_count(uint64_t *word, uint64_t n)
{
    __atomic_fetch_add(word, n, __ATOMIC_RELAXED);
}
static inline void sim_uncount(uint64_t *word, uint64_t n)
{
    __atomic_fetch_sub(word, n, __ATOMIC_RELAXED);
}
int sim_fn_find(const char *name, size_t len);
int sim_faults_set(const char *spec);
extern int sim_nfaults; /* read without a lock: 0 is the common case */
int sim_faults_hit(int fn);

/* delay.c: replaces SIMGPU_DELAY_US; sets one stream's. No lock. */
void sim_delay_set(const unsigned us[SIM_DELAYS]);
int sim_delay_set_stream(void *stream, unsigned us);

/* context.c */
CUresult sim_device_find(CUdevice ordinal, struct sim_device **dev);
/* visible.c: the name of a device of the machine, also as text: GPU-... */
#define SIM_UUID_TEXT 41
void sim_device_uuid(int phys, CUuuid *uuid);
void sim_device_uuid_text(int phys, char text[SIM_UUID_TEXT]);
/* The calling thread's current context, usable. */
CUresult sim_current_locked(CUcontext *ctx);
/* The context is of no use any more, as after an illegal address; nothing for
 * CUDA_SUCCESS. The first fault stays. */
void sim_context_fault(CUcontext ctx, CUresult fault);
/* To be called when the program has waited for work of ctx: lets pools give
 * memory back, and returns the fault of the context. */
CUresult sim_synced(CUcontext ctx);
/* NULL unless ctx is a context of ours that is alive. */
CUcontext sim_context_check(CUcontext ctx);
bool sim_peer_reachable(const struct sim_device *a, const struct sim_device *b);

/* pool.c: pools give back what they need not hold: after a synchronisation,
 * and when the device is out of memory. */
void sim_pools_synced(void);
void sim_pools_relieve(struct sim_device *dev);

#endif
