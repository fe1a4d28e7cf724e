/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.h - streams as threads: queues of operations, and their order.
 *
 * Every operation of a stream has a number; a stream is at number n when all
 * operations up to n have ended. An operation may name (stream, number) pairs
 * that it waits for. These always point at operations queued before it, so
 * waiting cannot be circular. The legacy stream of a context waits for all
 * blocking streams of it and they for it; non-blocking streams do neither. */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include "sim.h"

struct sim_dep {
    CUstream stream; /* shared, counted */
    uint64_t seq;
};

/* Embedded in what is queued. run is called without the lock, done with it;
 * done frees the operation. An operation that a graph may hold has a size, is
 * copied with memcpy for each launch, and owns nothing while it is in there. */
struct sim_op {
    struct sim_op *next;
    uint64_t seq;
    size_t size; /* of the struct that holds it; 0: cannot be captured */
    enum sim_delay work; /* its kind */
    bool delayed;        /* SIMGPU_DELAY_US applies */
    bool prompt; /* the caller may run it, where nothing comes before it */
    void (*run)(struct sim_op *op);
    void (*done)(struct sim_op *op);
    /* For a copy that a graph launches: looks its addresses up, with the
     * lock held. NULL: nothing to look up. */
    CUresult (*bind)(struct sim_op *op);
    CUresult fault;       /* set by run: kills the context of the stream */
    struct sim_dep *deps; /* owned */
    size_t ndeps;
};

struct sim_capture;

/* A set of nodes of one graph. */
struct sim_nodes {
    CUgraphNode *v; /* owned */
    size_t n;
};

enum sim_stream_kind { SIM_STREAM_LEGACY, SIM_STREAM_THREAD, SIM_STREAM_USER };

struct CUstream_st {
    struct CUstream_st *next; /* in its context */
    CUcontext ctx;
    enum sim_stream_kind kind;
    unsigned flags;
    int priority;
    unsigned long long id;
    unsigned long owner; /* thread, SIM_STREAM_THREAD */
    int refs;
    bool destroyed; /* no handle any more; ends when its queue is empty */
    bool started;   /* has a thread */
    uint64_t submitted, completed;
    struct sim_op *head, **tail;
    pthread_cond_t work;
    unsigned delay_us;           /* of its own */
    struct sim_capture *capture; /* borrowed until it ends; NULL: none */
    struct sim_nodes tip;        /* what its next captured node comes after */
};

/* When an event was last recorded; outlives the event. */
struct sim_stamp {
    int refs;
    CUstream stream; /* shared, counted */
    uint64_t seq;
    uint64_t t_ns; /* set when it is reached */
};

struct sim_shared_event;

struct CUevent_st {
    struct CUevent_st *next; /* in its context */
    CUcontext ctx;
    unsigned flags;
    struct sim_stamp *stamp;     /* shared, counted; NULL: never recorded */
    unsigned long long captured; /* the capture it was last recorded in, or 0 */
    struct sim_nodes after;      /* what it stands for in that capture */
    struct sim_shared_event *shared; /* of an interprocess one, or NULL */
    unsigned long long shared_id;
    void *shared_map; /* owned, where another process made it */
};

CUresult sim_stream_create(CUcontext ctx, enum sim_stream_kind kind,
                           unsigned flags, int priority, CUstream *out);
/* The stream that a handle means to this thread whose context is ctx. */
CUresult sim_stream_find(CUcontext ctx, CUstream handle, CUstream *out);
void sim_stream_destroy(CUstream s);
void sim_stream_get(CUstream s);
void sim_stream_put(CUstream s);

/* Queues op, whose run and done are set; also after stamp, if not NULL. *seq
 * is its number. A prompt one may have been run when this returns, and the
 * lock released meanwhile. On failure op is the caller's again. */
CUresult sim_stream_submit(CUstream s, struct sim_op *op,
                           const struct sim_stamp *after, uint64_t *seq);
/* Waits, releasing the lock meanwhile. */
void sim_stream_wait(CUstream s, uint64_t seq);
/* Waits for all that is queued now: on the streams of a context, and on all
 * streams of the process. */
void sim_stream_drain(CUcontext ctx);
void sim_stream_drain_all(void);
bool sim_stream_idle(CUstream s);
/* The same for all that a handle stands for: the legacy stream encompasses
 * the blocking streams of its context. */
void sim_stream_sync(CUstream s);
bool sim_stream_done(CUstream s);

/* delay.c: waits as long as op is to be held up in s; no lock. */
void sim_delay_wait(CUstream s, const struct sim_op *op);

CUevent sim_event_find(CUevent handle);
CUresult sim_event_create(CUcontext ctx, unsigned flags, CUevent *out);
CUresult sim_event_record(CUevent e, CUstream s);
void sim_event_destroy(CUevent e);

#endif
