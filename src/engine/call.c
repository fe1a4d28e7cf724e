/* SPDX-License-Identifier: BSD-3-Clause */
/* call.c - the life of one collective: route, plan, run, wait. */
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/engine.h"

#define LISTEN_EVERY 64 /* turns of a wait */
#define LINGER_US 2e5

/* Bytes that the choice looks at: equal on all ranks. */
static size_t call_bytes(const struct cx_team *team, const struct cx_call *call)
{
    switch (call->func) {
    case CX_ALLREDUCE:
        return call->count * cx_dtype_size(call->dtype);
    case CX_ALLGATHER:
        return call->count * (size_t)team->size;
    default:
        return call->count;
    }
}

static int reduction(const struct cx_call *call)
{
    return call->func == CX_ALLREDUCE;
}

static void choose(const struct cx_team *team, const struct cx_call *call,
                   struct cx_choice *choice)
{
    struct cx_choice_facts facts = {
        .func = call->func,
        .nbytes = call_bytes(team, call),
        .nranks = team->size,
        .mpi_is_wrong =
            reduction(call) && team->mpi_wrong[call->op][call->dtype],
    };

    cx_choose(team->chooser, &facts, choice);
}

/* MPI may take other values than 0 and 1 for Fortran's false and true; then it
 * knows what the program's compiler means, and we do not. */
static int foreign_logical(const struct cx_team *team,
                           const struct cx_call *call)
{
    return call->dtype == CX_DT_LOGICAL &&
           team->mpi_wrong[call->op][CX_DT_LOGICAL];
}

enum cx_status cx_call_route(struct cx_team *team, const struct cx_call *call,
                             enum cx_path *path, const char **why)
{
    struct cx_choice choice;

    if (reduction(call) && !cx_redop_valid(call->op, call->dtype)) {
        *path = CX_PATH_MPI;
        *why = "type or op that the engine does not reduce";
        return CX_OK;
    }
    if (reduction(call) && foreign_logical(team, call)) {
        *path = CX_PATH_MPI;
        *why = "logical values that are not 0 and 1";
        return CX_OK;
    }
    choose(team, call, &choice);
    *path = choice.algorithm != NULL ? CX_PATH_ENGINE : CX_PATH_MPI;
    *why = choice.why;
    return CX_OK;
}

/* 14 bits of what all ranks must agree on; the type of a broadcast is not. */
static uint32_t signature(const struct cx_call *call)
{
    uint64_t h = call->count;

    h = h * 0x9e3779b97f4a7c15ull + (uint64_t)call->func;
    h = (h ^ (h >> 29)) * 0x9e3779b97f4a7c15ull + (uint64_t)call->dtype;
    h = (h ^ (h >> 29)) * 0x9e3779b97f4a7c15ull + (uint64_t)call->op;
    h = (h ^ (h >> 29)) * 0x9e3779b97f4a7c15ull + (uint64_t)call->root;
    h >>= 64 - CX_TAG_SIG_BITS;
    return h == CX_SIG_FAILED ? 0 : (uint32_t)h;
}

/* What a call is known by, also one that this rank cannot take part in. */
static void name_run(const struct cx_team *team, const struct cx_call *call,
                     const struct cx_choice *choice, struct cx_run *run)
{
    size_t elsize = cx_dtype_size(call->dtype);

    *run = (struct cx_run){
        .src = call->src,
        .dst = call->dst,
        .count = call->count,
        .elsize = elsize,
        .dtype = call->dtype,
        .op = call->op,
        .team = team->id,
        .call = (uint32_t)team->ncalls,
        .signature = signature(call),
        .src_mem = call->src_mem,
        .dst_mem = call->dst_mem,
    };
    run->tiling.tile_count =
        choice->tile_bytes > elsize ? choice->tile_bytes / elsize : 1;
    run->tiling.depth = choice->depth;
}

/* Before the buffers are touched. */
static enum cx_status settle(const struct cx_call *call)
{
    enum cx_status status = cx_memory_settle(&call->dst_mem);

    if (status == CX_OK && call->src != NULL)
        status = cx_memory_settle(&call->src_mem);
    return status;
}

static uint64_t device_bytes(const struct cx_team *team,
                             const struct cx_call *call,
                             const struct cx_run *run)
{
    uint64_t nbytes = call->count * run->elsize, total = 0;

    if (cx_mem_on_gpu(&run->dst_mem))
        total +=
            call->func == CX_ALLGATHER ? nbytes * (uint64_t)team->size : nbytes;
    if (call->src != NULL && cx_mem_on_gpu(&run->src_mem))
        total += nbytes;
    return total;
}

static enum cx_status quantum(struct cx_instance *instance, unsigned *busy)
{
    const struct cx_io *io = &cx_process.io;
    enum cx_status status;

    cx_lock();
    *busy = io->wire_ops->progress(io->wire);
    if (io->gpu != NULL)
        *busy += io->gpu_ops->progress(io->gpu);
    status = cx_instance_progress(instance);
    cx_unlock();
    return status;
}

/* The layers below say why they fail, and it is this file that knows what
 * failed by it: the causes of a call are collected here, for one line. */
struct cause {
    char text[512];
};

static void late(const struct cx_team *team, const struct cx_call *call,
                 struct cx_instance *instance, struct cause *cause)
{
    char text[256];

    cx_lock();
    cx_instance_explain(instance, text, sizeof(text));
    cx_unlock();
    cx_log_hold(NULL, 0);
    cx_warn("%s has waited for %.0f s: %s", cx_func_str(call->func),
            team->timeout_s, text);
    cx_log_hold(cause->text, sizeof(cause->text));
}

static enum cx_status drive(struct cx_team *team, const struct cx_call *call,
                            struct cx_instance *instance, struct cause *cause)
{
    struct cx_backoff backoff;
    enum cx_status status;
    unsigned busy = 0;

    cx_backoff_init(&backoff);
    while ((status = quantum(instance, &busy)) == CX_INPROGRESS) {
        cx_backoff_turn(&backoff, busy > 0);
        if (backoff.turns % LISTEN_EVERY == 0) {
            cx_lock();
            cx_instance_listen(instance);
            cx_unlock();
        }
        if (cx_backoff_late(&backoff, team->timeout_s))
            late(team, call, instance, cause);
    }
    return status;
}

/* The first rank to fail speaks; those that only heard of it keep still. */
static void report(const struct cx_team *team, const struct cx_call *call,
                   const struct cx_planned *planned, enum cx_status status,
                   const char *what, const struct cause *cause)
{
    const char *text = cause->text;

    cx_log(status == CX_ERR_PEER ? CX_LOG_INFO : CX_LOG_ERROR,
           "%s of %zu bytes by %s failed (%s)%s%s%s%s", cx_func_str(call->func),
           call_bytes(team, call), planned->algorithm->name,
           cx_status_str(status), what[0] != '\0' ? ": " : "", what,
           text[0] != '\0' ? ": " : "", text);
}

/* Ends the call here, and tells the ranks that exchange messages with this one.
 * Those that send to it may be stuck half way, so it drives the wire for them
 * until they have heard; a rank that has left with its result never answers.
 * Returns whether the wire took the news. */
static int give_up(struct cx_planned *planned, const struct cx_run *run)
{
    const struct cx_io *io = &cx_process.io;
    double until = cx_now_us() + LINGER_US;
    struct cx_backoff backoff;
    struct cause unsaid = {""};
    int awaited, told;

    cx_log_hold(unsaid.text, sizeof(unsaid.text)); /* one line has been said */
    cx_lock();
    told = cx_instance_give_up(planned->instance, run);
    cx_unlock();
    cx_backoff_init(&backoff);
    do {
        unsigned busy;

        cx_lock();
        busy = io->wire_ops->progress(io->wire);
        cx_instance_discard(planned->instance, run);
        awaited = cx_instance_is_awaited(planned->instance, run);
        cx_unlock();
        if (awaited)
            cx_backoff_turn(&backoff, busy > 0);
    } while (awaited && cx_now_us() < until);
    cx_log_hold(NULL, 0);
    return told;
}

static enum cx_status run_planned(struct cx_team *team,
                                  const struct cx_call *call,
                                  struct cx_planned *planned,
                                  const struct cx_run *run, struct cause *cause)
{
    enum cx_status status;

    cx_lock();
    status = cx_instance_start(planned->instance, run);
    cx_unlock();
    if (status == CX_OK || status == CX_INPROGRESS)
        status = drive(team, call, planned->instance, cause);
    return status;
}

static enum cx_status take_part(struct cx_team *team,
                                const struct cx_call *call,
                                struct cx_planned *planned, struct cx_run *run,
                                struct cx_result *result)
{
    struct cause cause = {""};
    enum cx_status status;
    char what[256] = "";

    cx_log_hold(cause.text, sizeof(cause.text));
    status = settle(call);
    if (status == CX_OK) {
        result->device_bytes = device_bytes(team, call, run);
        status = run_planned(team, call, planned, run, &cause);
        cx_lock();
        if (status != CX_OK)
            cx_instance_explain(planned->instance, what, sizeof(what));
        cx_unlock();
    }
    cx_log_hold(NULL, 0);
    if (status != CX_OK)
        report(team, call, planned, status, what, &cause);
    else if (cause.text[0] != '\0')
        cx_warn("%s", cause.text);
    return status;
}

enum cx_status cx_call_run(struct cx_team *team, const struct cx_call *call,
                           struct cx_result *result)
{
    struct cx_planned *planned;
    struct cx_choice choice;
    struct cx_run run;
    enum cx_status status;

    choose(team, call, &choice);
    result->algorithm = choice.algorithm;
    status =
        cx_planned_get(team, cx_algorithm_find(call->func, choice.algorithm),
                       call->root, &planned);
    if (status == CX_OK) {
        name_run(team, call, &choice, &run);
        status = call->failed;
        if (team->poison != CX_OK) /* the others must hear of it at each call */
            status = team->poison;
        if (status == CX_OK)
            status = take_part(team, call, planned, &run, result);
        if (status != CX_OK)
            result->untold = !give_up(planned, &run);
    }
    team->ncalls++;
    if (status < 0)
        team->poison = status;
    return status;
}
