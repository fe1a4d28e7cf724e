/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.c - see stream.h.
 *
 * A stream gets its thread with its first work that has to be asynchronous.
 * Work that the caller waits for anyway runs on the caller's thread if nothing
 * comes before it: many processes share few cores in a test, and two switches
 * of threads cost more than a small copy. */
#include "stream.h"

#include "capture.h"

#include <signal.h>
#include <stdlib.h>

/* Some operation has ended; all waiters look again. */
static pthread_cond_t progress = PTHREAD_COND_INITIALIZER;

void sim_stream_get(CUstream s)
{
    s->refs++;
}

void sim_stream_put(CUstream s)
{
    if (--s->refs == 0) {
        pthread_cond_destroy(&s->work);
        free(s);
    }
}

static void deps_free(struct sim_op *op)
{
    for (size_t i = 0; i < op->ndeps; i++)
        sim_stream_put(op->deps[i].stream);
    free(op->deps);
    op->deps = NULL;
    op->ndeps = 0;
}

static bool deps_add(struct sim_op *op, CUstream s, uint64_t seq)
{
    if (s->completed >= seq)
        return true;
    struct sim_dep *deps =
        realloc(op->deps, (op->ndeps + 1) * sizeof(op->deps[0]));
    if (deps == NULL)
        return false;
    sim_stream_get(s);
    deps[op->ndeps].stream = s;
    deps[op->ndeps].seq = seq;
    op->deps = deps;
    op->ndeps++;
    return true;
}

void sim_stream_wait(CUstream s, uint64_t seq)
{
    sim_stream_get(s);
    while (s->completed < seq)
        pthread_cond_wait(&progress, &sim_lock);
    sim_stream_put(s);
}

bool sim_stream_idle(CUstream s)
{
    return s->completed >= s->submitted;
}

static void unlink_stream(CUstream s)
{
    struct CUstream_st **at = &s->ctx->streams;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
}

/* Runs op, whose turn it is; releases the lock meanwhile. */
static void run_op(CUstream s, struct sim_op *op)
{
    bool dead = s->ctx->fault != CUDA_SUCCESS;
    pthread_mutex_unlock(&sim_lock);
    sim_delay_wait(s, op);
    if (!dead)
        op->run(op);
    pthread_mutex_lock(&sim_lock);
    sim_context_fault(s->ctx, op->fault);
    s->completed = op->seq;
    deps_free(op);
    op->done(op);
    pthread_cond_broadcast(&progress);
}

/* Takes the first operation of the queue once all it waits for is done; what
 * runs on a caller's thread is not in the queue, but numbered all the same. */
static struct sim_op *next_op(CUstream s)
{
    struct sim_op *op = s->head;
    while (s->completed + 1 < op->seq)
        pthread_cond_wait(&progress, &sim_lock);
    for (size_t i = 0; i < op->ndeps; i++)
        while (op->deps[i].stream->completed < op->deps[i].seq)
            pthread_cond_wait(&progress, &sim_lock);
    s->head = op->next;
    if (s->head == NULL)
        s->tail = &s->head;
    return op;
}

static void *stream_main(void *arg)
{
    CUstream s = arg;
    pthread_mutex_lock(&sim_lock);
    while (s->head != NULL || !s->destroyed) {
        if (s->head != NULL)
            run_op(s, next_op(s));
        else
            pthread_cond_wait(&s->work, &sim_lock);
    }
    unlink_stream(s);
    s->refs--; /* the list's; this thread's is the next */
    sim_stream_put(s);
    pthread_mutex_unlock(&sim_lock);
    return NULL;
}

/* The program's signals must not be handled on our threads. */
static bool start_thread(CUstream s)
{
    pthread_t thread;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int err = pthread_create(&thread, NULL, stream_main, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (err != 0)
        return false;
    pthread_detach(thread);
    sim_stream_get(s);
    s->started = true;
    return true;
}

CUresult sim_stream_create(CUcontext ctx, enum sim_stream_kind kind,
                           unsigned flags, int priority, CUstream *out)
{
    CUstream s = calloc(1, sizeof(*s));
    if (s == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_cond_init(&s->work, NULL);
    s->ctx = ctx;
    s->kind = kind;
    s->flags = flags;
    s->priority = priority;
    s->id = sim_next_id();
    s->owner = sim_thread()->id;
    s->tail = &s->head;
    s->refs = 1;
    s->next = ctx->streams;
    ctx->streams = s;
    if (kind == SIM_STREAM_USER)
        sim_count(&sim_counters->streams_live, 1);
    *out = s;
    return CUDA_SUCCESS;
}

void sim_stream_destroy(CUstream s)
{
    sim_capture_leave(s);
    s->destroyed = true;
    if (s->kind == SIM_STREAM_USER)
        sim_uncount(&sim_counters->streams_live, 1);
    if (s->started) {
        pthread_cond_signal(&s->work);
    } else {
        unlink_stream(s);
        sim_stream_put(s);
    }
}

/* Per-thread streams go with their thread. */
static void thread_gone(void *arg)
{
    unsigned long owner = (unsigned long)(uintptr_t)arg;
    if (sim.forked)
        return;
    pthread_mutex_lock(&sim_lock);
    for (CUcontext ctx = sim.contexts; ctx != NULL; ctx = ctx->next) {
        CUstream s = ctx->streams;
        while (s != NULL) {
            CUstream next = s->next;
            if (s->kind == SIM_STREAM_THREAD && s->owner == owner &&
                !s->destroyed)
                sim_stream_destroy(s);
            s = next;
        }
    }
    pthread_mutex_unlock(&sim_lock);
}

static pthread_key_t thread_key;
static pthread_once_t thread_key_once = PTHREAD_ONCE_INIT;

static void make_thread_key(void)
{
    pthread_key_create(&thread_key, thread_gone);
}

static CUresult thread_stream(CUcontext ctx, CUstream *out)
{
    unsigned long me = sim_thread()->id;
    for (CUstream s = ctx->streams; s != NULL; s = s->next) {
        if (s->kind == SIM_STREAM_THREAD && s->owner == me && !s->destroyed) {
            *out = s;
            return CUDA_SUCCESS;
        }
    }
    pthread_once(&thread_key_once, make_thread_key);
    pthread_setspecific(thread_key, (void *)(uintptr_t)me);
    return sim_stream_create(ctx, SIM_STREAM_THREAD, 0, 0, out);
}

CUresult sim_stream_find(CUcontext ctx, CUstream handle, CUstream *out)
{
    if (handle == NULL || handle == CU_STREAM_LEGACY) {
        *out = ctx->legacy;
        return CUDA_SUCCESS;
    }
    if (handle == CU_STREAM_PER_THREAD)
        return thread_stream(ctx, out);
    for (CUcontext c = sim.contexts; c != NULL; c = c->next) {
        for (CUstream s = c->streams; s != NULL; s = s->next) {
            if (s == handle && s->kind == SIM_STREAM_USER && !s->destroyed) {
                *out = s;
                return CUDA_SUCCESS;
            }
        }
    }
    return CUDA_ERROR_INVALID_HANDLE;
}

static bool order_with_legacy(CUstream s, struct sim_op *op)
{
    if ((s->flags & CU_STREAM_NON_BLOCKING) != 0)
        return true;
    CUstream legacy = s->ctx->legacy;
    if (s != legacy)
        return deps_add(op, legacy, legacy->submitted);
    for (CUstream o = s->ctx->streams; o != NULL; o = o->next)
        if (o != s && (o->flags & CU_STREAM_NON_BLOCKING) == 0 &&
            !deps_add(op, o, o->submitted))
            return false;
    return true;
}

CUresult sim_stream_submit(CUstream s, struct sim_op *op,
                           const struct sim_stamp *after, uint64_t *seq)
{
    op->next = NULL;
    op->deps = NULL;
    op->ndeps = 0;
    op->fault = CUDA_SUCCESS;
    CUresult rc = sim_capture_enqueue(s);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (s->capture != NULL) {
        *seq = s->completed;
        return sim_capture_add(s, op);
    }
    if (!order_with_legacy(s, op))
        goto err_deps;
    if (after != NULL && !deps_add(op, after->stream, after->seq))
        goto err_deps;
    bool here = op->prompt && op->ndeps == 0 && sim_stream_idle(s);
    if (!here && !s->started && !start_thread(s))
        goto err_deps;
    op->seq = ++s->submitted;
    *seq = op->seq;
    if (here) {
        sim_stream_get(s); /* it may be destroyed meanwhile */
        run_op(s, op);
        sim_stream_put(s);
        return CUDA_SUCCESS;
    }
    *s->tail = op;
    s->tail = &op->next;
    pthread_cond_signal(&s->work);
    return CUDA_SUCCESS;

err_deps:
    deps_free(op);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* Waits for the streams of a context, without those that have one of these
 * flags. Streams may vanish while we wait, so it lists them first. */
static void wait_for_streams(CUcontext ctx, unsigned without)
{
    struct sim_op all = {0};
    for (CUstream s = ctx->streams; s != NULL; s = s->next)
        if ((s->flags & without) == 0 && !deps_add(&all, s, s->submitted))
            break;
    for (size_t i = 0; i < all.ndeps; i++)
        sim_stream_wait(all.deps[i].stream, all.deps[i].seq);
    deps_free(&all);
}

void sim_stream_sync(CUstream s)
{
    if (s->kind == SIM_STREAM_LEGACY)
        wait_for_streams(s->ctx, CU_STREAM_NON_BLOCKING);
    else
        sim_stream_wait(s, s->submitted);
}

bool sim_stream_done(CUstream s)
{
    if (s->kind != SIM_STREAM_LEGACY)
        return sim_stream_idle(s);
    for (CUstream o = s->ctx->streams; o != NULL; o = o->next)
        if ((o->flags & CU_STREAM_NON_BLOCKING) == 0 && !sim_stream_idle(o))
            return false;
    return true;
}

void sim_stream_drain(CUcontext ctx)
{
    wait_for_streams(ctx, 0);
}

void sim_stream_drain_all(void)
{
    for (CUcontext ctx = sim.contexts; ctx != NULL; ctx = ctx->next)
        sim_stream_drain(ctx);
}
