/* SPDX-License-Identifier: BSD-3-Clause */
/* capture.c - see capture.h. The rules are those of the chapter on stream
 * capture in CUDA's programming guide and of the calls' own pages; where these
 * say that a call fails and not whether the capture survives, it does not. */
#include "capture.h"

#include <stdlib.h>
#include <string.h>

static struct sim_capture *captures;
int sim_ncaptures;

static const bool unsafe[SIM_FN_COUNT] = {
#define SIM_UNSAFE(name) [SIM_FN_##name] = true,
#include "unsafe.def"
#undef SIM_UNSAFE
};

static void invalidate(struct sim_capture *c)
{
    if (!c->invalid)
        sim_count(&sim_counters->captures_broken, 1);
    c->invalid = true;
}

unsigned long long sim_capture_id(const struct sim_capture *c)
{
    return c->id;
}

CUresult sim_capture_unsafe(void)
{
    const struct sim_thread *me = sim_thread();
    CUresult rc = CUDA_SUCCESS;
    if (me->capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_SUCCESS;
    for (struct sim_capture *c = captures; c != NULL; c = c->next) {
        bool mine = c->thread == me->id;
        bool global = c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                      me->capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (c->invalid || c->mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
            (!mine && !global))
            continue;
        invalidate(c);
        rc = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return rc;
}

CUresult sim_capture_gate(enum sim_fn fn)
{
    if (!unsafe[fn])
        return CUDA_SUCCESS;
    pthread_mutex_lock(&sim_lock);
    CUresult rc = sim_capture_unsafe();
    pthread_mutex_unlock(&sim_lock);
    return rc;
}

/* The legacy stream stands for all blocking streams of its context as well,
 * also for those that capture. */
static CUresult legacy_in_use(CUcontext ctx, bool breaks)
{
    CUresult rc = CUDA_SUCCESS;
    for (CUstream s = ctx->streams; s != NULL; s = s->next) {
        if (s->capture == NULL || (s->flags & CU_STREAM_NON_BLOCKING) != 0)
            continue;
        if (breaks)
            invalidate(s->capture);
        rc = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    return rc;
}

CUresult sim_capture_enqueue(CUstream s)
{
    if (s->kind == SIM_STREAM_LEGACY)
        return legacy_in_use(s->ctx, true);
    if (s->capture != NULL && s->capture->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    return CUDA_SUCCESS;
}

CUresult sim_capture_peek(CUstream s)
{
    return s->kind == SIM_STREAM_LEGACY ? legacy_in_use(s->ctx, false)
                                        : CUDA_SUCCESS;
}

CUresult sim_capture_refuse(CUstream s)
{
    if (s->capture == NULL)
        return CUDA_SUCCESS;
    if (s->capture->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    invalidate(s->capture);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult sim_capture_ask_stream(CUstream s)
{
    if (s->kind != SIM_STREAM_LEGACY)
        return sim_capture_refuse(s);
    CUresult rc = legacy_in_use(s->ctx, true);
    return rc != CUDA_SUCCESS ? rc : sim_capture_unsafe();
}

CUresult sim_capture_ask_context(CUcontext ctx)
{
    CUresult rc = CUDA_SUCCESS;
    for (CUstream s = ctx->streams; s != NULL; s = s->next) {
        if (s->capture == NULL)
            continue;
        invalidate(s->capture);
        rc = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return rc;
}

/* The capture that e was last recorded in, if it has not ended. */
static struct sim_capture *capture_of(CUevent e)
{
    for (struct sim_capture *c = captures; c != NULL; c = c->next)
        if (c->id == e->captured)
            return c;
    return NULL;
}

CUresult sim_capture_ask_event(CUevent e)
{
    if (e->captured == 0)
        return CUDA_SUCCESS;
    struct sim_capture *c = capture_of(e);
    if (c != NULL)
        invalidate(c);
    return CUDA_ERROR_CAPTURED_EVENT;
}

CUresult sim_capture_begin(CUstream s, CUstreamCaptureMode mode)
{
    if (s->kind == SIM_STREAM_LEGACY)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (s->capture != NULL)
        return CUDA_ERROR_ILLEGAL_STATE;
    struct sim_capture *c = calloc(1, sizeof(*c));
    CUgraph graph = sim_graph_create();
    if (c == NULL || graph == NULL) {
        free(c);
        if (graph != NULL)
            sim_graph_destroy(graph);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    graph->capturing = true;
    c->graph = graph;
    c->id = sim_next_id();
    c->origin = s;
    c->mode = mode;
    c->thread = sim_thread()->id;
    c->next = captures;
    captures = c;
    s->capture = c;
    __atomic_add_fetch(&sim_ncaptures, 1, __ATOMIC_RELEASE);
    return CUDA_SUCCESS;
}

/* Frees the capture, takes its streams out of it; the graph stays. */
static void finish(struct sim_capture *c)
{
    for (CUcontext ctx = sim.contexts; ctx != NULL; ctx = ctx->next) {
        for (CUstream s = ctx->streams; s != NULL; s = s->next) {
            if (s->capture != c)
                continue;
            s->capture = NULL;
            sim_nodes_clear(&s->tip);
        }
    }
    struct sim_capture **at = &captures;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    __atomic_sub_fetch(&sim_ncaptures, 1, __ATOMIC_RELEASE);
    c->graph->capturing = false;
    free(c);
}

/* Whether the origin comes after every node. Nodes only depend on earlier
 * ones, so one pass from the last to the first finds all that it does. */
static bool all_joined(const struct sim_capture *c)
{
    const struct sim_nodes *all = &c->graph->nodes;
    for (size_t i = 0; i < c->origin->tip.n; i++)
        c->origin->tip.v[i]->joined = true;
    for (size_t i = all->n; i-- > 0;) {
        CUgraphNode node = all->v[i];
        if (!node->joined)
            return false;
        for (size_t k = 0; k < node->deps.n; k++)
            node->deps.v[k]->joined = true;
    }
    return true;
}

CUresult sim_capture_end(CUstream s, CUgraph *graph)
{
    struct sim_capture *c = s->capture;
    CUresult rc = CUDA_SUCCESS;
    if (c == NULL)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (c->origin != s)
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    if (c->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
        c->thread != sim_thread()->id)
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    if (c->invalid)
        rc = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!all_joined(c))
        rc = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    *graph = c->graph;
    finish(c);
    if (rc != CUDA_SUCCESS) {
        sim_graph_destroy(*graph);
        *graph = NULL;
    }
    return rc;
}

void sim_capture_leave(CUstream s)
{
    struct sim_capture *c = s->capture;
    if (c == NULL)
        return;
    invalidate(c);
    if (c->origin == s) {
        CUgraph graph = c->graph;
        finish(c);
        sim_graph_destroy(graph);
        return;
    }
    s->capture = NULL;
    sim_nodes_clear(&s->tip);
}

CUresult sim_capture_add(CUstream s, struct sim_op *op)
{
    CUgraphNode node = NULL;
    if (op->size == 0)
        return sim_capture_refuse(s);
    struct sim_nodes tip = {.v = malloc(sizeof(tip.v[0])), .n = 1};
    if (tip.v != NULL)
        node = sim_graph_add(s->capture->graph, op, &s->tip);
    if (node == NULL) {
        free(tip.v);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    tip.v[0] = node;
    sim_nodes_clear(&s->tip);
    s->tip = tip;
    op->done(op);
    return CUDA_SUCCESS;
}

CUresult sim_capture_wait(CUstream s, CUevent e)
{
    struct sim_capture *c = capture_of(e);
    CUresult rc = sim_capture_enqueue(s);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (c != NULL && c->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (s->capture != NULL && c != s->capture) {
        invalidate(s->capture);
        if (c == NULL)
            return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
        invalidate(c);
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (c == NULL) /* recorded in a capture that has ended */
        return CUDA_ERROR_CAPTURED_EVENT;
    if (s->kind == SIM_STREAM_LEGACY) {
        invalidate(c);
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    if (!sim_nodes_join(&s->tip, &e->after))
        return CUDA_ERROR_OUT_OF_MEMORY;
    s->capture = c;
    return CUDA_SUCCESS;
}
