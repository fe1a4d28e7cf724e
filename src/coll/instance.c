/* SPDX-License-Identifier: BSD-3-Clause */
/* instance.c - the life of an instance: memory, start, abort, explanation.
 *
 * What describes the tiles grows with the largest call and is kept; their slots
 * are borrowed for the time of a call, so that memory follows the calls that
 * run and not the communicators and plans that are alive. A call that needs no
 * more than an earlier one allocates nothing. Failures while running are told
 * by cx_instance_explain and logged by the caller, who knows the collective. */
#include "coll/instance.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "coll/arena.h"

/* From here on a call asks first whether another rank has given it up. */
#define LARGE_NBYTES ((size_t)64 << 10)

/* Points the per-peer arrays into `base`; returns the bytes of all. */
static size_t lay_out_peers(struct cx_instance *inst,
                            const struct cx_plan *plan, char *base)
{
    size_t n = (size_t)plan->nneighbours, nsend = (size_t)plan->nsend;
    size_t at = cx_arena_round(sizeof(*inst));

    inst->peers = cx_arena_take(base, &at, n, sizeof(*inst->peers));
    inst->sent = cx_arena_take(base, &at, n, sizeof(*inst->sent));
    inst->flushes = cx_arena_take(base, &at, nsend, sizeof(*inst->flushes));
    return at;
}

enum cx_status cx_instance_create(const struct cx_plan *plan,
                                  const struct cx_io *io,
                                  struct cx_peer *const *peers,
                                  struct cx_instance **out)
{
    struct cx_instance head, *inst;

    if (plan->shape.nranks > 1 << CX_TAG_RANK_BITS) {
        cx_error("%d ranks: a communicator may have at most %d",
                 plan->shape.nranks, 1 << CX_TAG_RANK_BITS);
        return CX_ERR_ARG;
    }
    inst = cx_alloc(1, lay_out_peers(&head, plan, NULL));
    if (!inst)
        return CX_ERR_NOMEM;
    lay_out_peers(inst, plan, (char *)inst);
    inst->plan = plan;
    inst->io = *io;
    for (int i = 0; i < plan->nneighbours; i++)
        inst->peers[i] = peers[i];
    *out = inst;
    return CX_OK;
}

/* Gives the slots back when a call has ended. Those that the wire may still use
 * are nobody's from here on: another call's bytes would be lost in them. */
void cx_instance_return_slots(struct cx_instance *inst, int in_use)
{
    for (int space = 0; space < CX_NSPACES; space++) {
        void *mem = inst->slots[space];

        inst->slots[space] = NULL;
        if (!mem)
            continue;
        if (space == CX_SCRATCH && in_use)
            cx_scratch_lose(inst->io.scratch, mem);
        else if (space == CX_SCRATCH)
            cx_scratch_give(inst->io.scratch, mem);
        else if (!in_use)
            inst->io.gpu_ops->pinned_free(inst->io.gpu, mem);
    }
}

/* Slots of one space for this call. */
static enum cx_status borrow(struct cx_instance *inst, enum cx_space space)
{
    struct cx_place *place = &inst->low.place[space];
    size_t nbytes = place->slot_size * (size_t)inst->low.depth;
    enum cx_status status = CX_OK;
    void *mem = NULL;

    if (nbytes == 0)
        return CX_OK;
    if (space != CX_SCRATCH)
        status = inst->io.gpu_ops->pinned_alloc(
            inst->io.gpu, &inst->low.mem[space], nbytes, &mem);
    else if (!(mem = cx_scratch_take(inst->io.scratch, nbytes)))
        status = CX_ERR_NOMEM;
    if (status == CX_OK)
        inst->slots[space] = place->slots = mem;
    return status;
}

/* Points the arrays for `depth` tiles into `base`; returns the bytes. With a
 * NULL base only counts. */
static size_t lay_out_tiles(struct cx_instance *inst, int depth, char *base)
{
    const struct cx_plan *plan = inst->plan;
    size_t nchains = (size_t)plan->nsend + (size_t)plan->nrecv;
    size_t n = (size_t)depth, ncopies = cx_stage_max_copies(plan), at = 0;
    struct cx_tile *tiles, unused;

    tiles = cx_arena_take(base, &at, n, sizeof(*tiles));
    for (size_t i = 0; i < n; i++) {
        struct cx_tile *tile = tiles ? &tiles[i] : &unused;
        size_t nsend = (size_t)plan->nsend;

        tile->need = cx_arena_take(base, &at, plan->nops, 1);
        tile->reqs = cx_arena_take(base, &at, plan->nwire, sizeof(*tile->reqs));
        tile->chains = cx_arena_take(base, &at, nchains, sizeof(*tile->chains));
        tile->queue = cx_arena_take(base, &at, nsend, sizeof(*tile->queue));
        tile->copies = cx_arena_take(base, &at, ncopies, sizeof(*tile->copies));
    }
    inst->tiles = tiles;
    inst->active = cx_arena_take(base, &at, n * nchains, sizeof(*inst->active));
    inst->todo =
        cx_arena_take(base, &at, n * plan->nlocal, sizeof(*inst->todo));
    inst->todo_cap = (uint32_t)(n * plan->nlocal);
    return at;
}

static enum cx_status tiles_reserve(struct cx_instance *inst)
{
    int depth = inst->low.depth;
    size_t nbytes;

    if (depth <= inst->depth)
        return CX_OK;
    cx_free(inst->block);
    inst->depth = 0;
    nbytes = lay_out_tiles(inst, depth, NULL);
    inst->block = cx_alloc(1, nbytes);
    if (!inst->block)
        return CX_ERR_NOMEM;
    lay_out_tiles(inst, depth, inst->block);
    inst->depth = depth;
    return CX_OK;
}

/* All that can fail before anything is posted. */
static enum cx_status prepare(struct cx_instance *inst,
                              const struct cx_run *run)
{
    enum cx_status status;

    status = cx_lower_init(&inst->low, inst->plan, run);
    if (status != CX_OK)
        return status;
    if ((inst->low.staged[CX_SRC] || inst->low.staged[CX_DST]) &&
        !inst->io.gpu_ops) {
        cx_error("a GPU buffer came to an engine without GPU support");
        return CX_ERR_ARG;
    }
    for (int space = 0; space < CX_NSPACES; space++) {
        status = borrow(inst, (enum cx_space)space);
        if (status != CX_OK)
            return status;
    }
    status = tiles_reserve(inst);
    if (status == CX_OK)
        status = cx_stage_fence(inst);
    return status;
}

/* A rank that left before this one came no longer takes what it is sent: a
 * large message would fill the network's queues and stay there, with its
 * buffer. Small ones always fit, and most of the time counts for them. */
static int is_too_late(struct cx_instance *inst, const struct cx_run *run)
{
    int rank;

    if (inst->plan->nsend == 0 || run->count < LARGE_NBYTES / run->elsize)
        return 0;
    inst->io.wire_ops->progress(inst->io.wire);
    if (!cx_run_given_up(inst, run, &rank))
        return 0;
    inst->status = CX_ERR_PEER;
    snprintf(inst->why, sizeof(inst->why), CX_GAVE_UP, rank);
    return 1;
}

enum cx_status cx_instance_start(struct cx_instance *inst,
                                 const struct cx_run *run)
{
    enum cx_status status;

    if (inst->state != CX_INST_IDLE) {
        cx_error("a collective was started while another ran on its instance; "
                 "this is a fault of the engine");
        return CX_ERR_INTERNAL;
    }
    status = prepare(inst, run);
    if (status != CX_OK) {
        cx_instance_return_slots(inst, 0);
        inst->status = status;
        snprintf(inst->why, sizeof(inst->why), "it cannot start: %s",
                 cx_status_str(status));
        return status;
    }
    if (is_too_late(inst, run)) {
        cx_instance_return_slots(inst, 0);
        return CX_ERR_PEER;
    }
    inst->run = *run;
    inst->window =
        run->tiling.window > 0 ? (uint32_t)run->tiling.window : CX_SEND_WINDOW;
    cx_exec_begin(inst);
    (void)cx_exec_step(inst); /* progress will tell */
    return CX_OK;
}

enum cx_status cx_instance_progress(struct cx_instance *inst)
{
    if (inst->state != CX_INST_RUNNING)
        return inst->status;
    return cx_exec_step(inst);
}

void cx_instance_fail(struct cx_instance *inst, enum cx_status status,
                      const char *fmt, ...)
{
    va_list args;

    if (inst->state == CX_INST_FAILED)
        return;
    inst->state = CX_INST_FAILED;
    inst->status = status;
    va_start(args, fmt);
    vsnprintf(inst->why, sizeof(inst->why), fmt, args);
    va_end(args);
}

/* Returns whether the wire may still use the tile's memory. */
static int cancel_tile(struct cx_instance *inst, struct cx_tile *tile)
{
    const struct cx_plan *plan = inst->plan;
    uint32_t nchains = (uint32_t)(plan->nsend + plan->nrecv);
    int in_use = 0;

    for (uint32_t i = tile->copies_done; i < tile->ncopies; i++)
        if (tile->copies[i].status == CX_INPROGRESS)
            inst->io.gpu_ops->cancel(inst->io.gpu, &tile->copies[i]);
    for (uint32_t c = 0; c < nchains; c++) {
        const struct cx_chain_state *chain = &tile->chains[c];

        for (uint32_t i = chain->done; i < chain->posted; i++) {
            struct cx_req *req = &tile->reqs[plan->chains[c].first + i];

            if (req->status == CX_INPROGRESS)
                in_use |= !inst->io.wire_ops->cancel(inst->io.wire, req);
        }
    }
    return in_use;
}

void cx_instance_abort(struct cx_instance *inst)
{
    int in_use = 0;

    if (inst->state == CX_INST_IDLE)
        return;
    for (size_t t = inst->oldest; t < inst->next_tile; t++) {
        struct cx_tile *tile = &inst->tiles[t % (size_t)inst->low.depth];

        if (tile->stage != CX_TILE_FREE)
            in_use |= cancel_tile(inst, tile);
        tile->stage = CX_TILE_FREE;
    }
    for (uint32_t i = inst->flushes_done; i < inst->nflushes; i++) {
        struct cx_req *req = &inst->sent[inst->flushes[i]].flush;

        if (req->status == CX_INPROGRESS)
            (void)inst->io.wire_ops->cancel(inst->io.wire, req);
    }
    cx_instance_return_slots(inst, in_use);
    inst->state = CX_INST_IDLE;
}

/* The op at the head of a chain in flight, receives before sends; NULL when
 * the tile waits for no message. */
static const struct cx_plan_op *waits_for(const struct cx_instance *inst,
                                          const struct cx_tile *tile)
{
    const struct cx_plan *plan = inst->plan;

    for (int c = plan->nsend + plan->nrecv - 1; c >= 0; c--) {
        const struct cx_chain_state *chain = &tile->chains[c];

        if (chain->done < chain->posted)
            return &plan->ops[plan->chain_ops[plan->chains[c].first +
                                              chain->done]];
    }
    return NULL;
}

static void explain_tile(const struct cx_instance *inst,
                         const struct cx_tile *tile, char *out, size_t n)
{
    const struct cx_plan_op *op = waits_for(inst, tile);

    if (tile->stage != CX_TILE_RUN)
        snprintf(out, n, "waits for a copy %s GPU memory, tile %zu of %zu",
                 tile->stage == CX_TILE_LOAD ? "from" : "to", tile->index + 1,
                 inst->low.ntiles);
    else if (!op)
        snprintf(out, n, "computes, tile %zu of %zu", tile->index + 1,
                 inst->low.ntiles);
    else
        snprintf(out, n, "waits for rank %d to %s, tile %zu of %zu", op->peer,
                 op->code == CX_OP_RECV ? "send" : "receive", tile->index + 1,
                 inst->low.ntiles);
}

void cx_instance_explain(const struct cx_instance *inst, char *out, size_t n)
{
    if (inst->state == CX_INST_FAILED)
        snprintf(out, n, "%s", inst->why);
    else if (inst->state == CX_INST_IDLE)
        snprintf(out, n, "%s", inst->status == CX_OK ? "idle" : inst->why);
    else if (inst->oldest < inst->next_tile)
        explain_tile(inst, &inst->tiles[inst->oldest % (size_t)inst->low.depth],
                     out, n);
    else if (inst->flushes_done < inst->nflushes)
        snprintf(out, n, "waits for rank %d to confirm what it was sent",
                 inst->plan->send_peers[inst->flushes[inst->flushes_done]]);
    else
        snprintf(out, n, "is about to end");
}

void cx_instance_destroy(struct cx_instance *inst)
{
    if (!inst)
        return;
    cx_instance_abort(inst);
    cx_free(inst->block);
    cx_free(inst);
}
