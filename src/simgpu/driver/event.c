/* SPDX-License-Identifier: BSD-3-Clause */
/* event.c - events: a place in a stream, and when it was reached. */
#include "stream.h"

#include "capture.h"
#include "ipc_event.h"

#include <stdlib.h>
#include <time.h>

struct record_op {
    struct sim_op op;        /* first */
    struct sim_stamp *stamp; /* shared, counted */
};

static void stamp_put(struct sim_stamp *stamp)
{
    if (stamp != NULL && --stamp->refs == 0) {
        sim_stream_put(stamp->stream);
        free(stamp);
    }
}

static void record_run(struct sim_op *op)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    ((struct record_op *)op)->stamp->t_ns =
        (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void record_done(struct sim_op *op)
{
    stamp_put(((struct record_op *)op)->stamp);
    free(op);
}

static void forget(CUevent e)
{
    stamp_put(e->stamp);
    e->stamp = NULL;
    sim_nodes_clear(&e->after);
    e->captured = 0;
}

/* In a stream that captures: stands for what the stream has captured. */
static CUresult mark_capture(CUevent e, CUstream s)
{
    struct sim_nodes after = {0};
    CUresult rc = sim_capture_enqueue(s);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (!sim_nodes_join(&after, &s->tip))
        return CUDA_ERROR_OUT_OF_MEMORY;
    forget(e);
    e->captured = sim_capture_id(s->capture);
    e->after = after;
    return CUDA_SUCCESS;
}

CUresult sim_event_record(CUevent e, CUstream s)
{
    if (e->shared != NULL)
        return sim_ipc_event_record(e, s);
    if (s->capture != NULL)
        return mark_capture(e, s);
    struct sim_stamp *stamp = calloc(1, sizeof(*stamp));
    struct record_op *rec = calloc(1, sizeof(*rec));
    CUresult rc = CUDA_ERROR_OUT_OF_MEMORY;
    if (stamp == NULL || rec == NULL)
        goto err_free;
    rec->stamp = stamp;
    rec->op.run = record_run;
    rec->op.done = record_done;
    rec->op.prompt = true;
    stamp->stream = s;
    stamp->refs = 2; /* the event's and the operation's */
    sim_stream_get(s);
    rc = sim_stream_submit(s, &rec->op, NULL, &stamp->seq);
    if (rc != CUDA_SUCCESS)
        goto err_put;
    forget(e);
    e->stamp = stamp;
    return CUDA_SUCCESS;

err_put:
    sim_stream_put(s);
err_free:
    free(rec);
    free(stamp);
    return rc;
}

CUevent sim_event_find(CUevent handle)
{
    for (CUcontext c = sim.contexts; c != NULL; c = c->next)
        for (CUevent e = c->events; e != NULL; e = e->next)
            if (e == handle)
                return e;
    return NULL;
}

CUresult sim_event_create(CUcontext ctx, unsigned flags, CUevent *out)
{
    CUevent e = calloc(1, sizeof(*e));
    if (e == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    e->ctx = ctx;
    e->flags = flags;
    e->next = ctx->events;
    ctx->events = e;
    sim_count(&sim_counters->events_live, 1);
    if ((flags & CU_EVENT_INTERPROCESS) != 0) {
        CUresult rc = sim_ipc_event_create(e);
        if (rc != CUDA_SUCCESS) {
            sim_event_destroy(e);
            return rc;
        }
    }
    *out = e;
    return CUDA_SUCCESS;
}

void sim_event_destroy(CUevent e)
{
    struct CUevent_st **at = &e->ctx->events;
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    forget(e);
    sim_ipc_event_destroy(e);
    free(e);
    sim_uncount(&sim_counters->events_live, 1);
}
