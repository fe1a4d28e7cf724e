/* SPDX-License-Identifier: BSD-3-Clause */
/* exec.c - the executor: the one loop that runs every plan.
 *
 * A state machine without recursion over tiles. Ops become ready by counting
 * down their predecessors; messages of one peer form a chain that is posted and
 * completed in order, so that a step with nothing to do looks at the head of
 * each chain in flight and at one stage a tile, never at all ops. In-order
 * completion costs nothing: a message can only be overtaken by one whose
 * receive the peer posted later. */
#include "coll/instance.h"

#include <string.h>

/* Bytes that one step copies or reduces before the wire gets its turn. */
#define LOCAL_BUDGET (256u << 10)

static uint64_t make_tag(const struct cx_instance *inst, int source,
                         size_t tile)
{
    return cx_run_tag(&inst->run, source, tile, cx_run_signature(&inst->run));
}

static struct cx_req *req_of(const struct cx_instance *inst,
                             const struct cx_tile *tile,
                             const struct cx_plan_op *op)
{
    return &tile->reqs[inst->plan->chains[op->chain].first + op->pos];
}

static const struct cx_plan_op *chain_op(const struct cx_instance *inst,
                                         uint32_t chain, uint32_t pos)
{
    const struct cx_plan *plan = inst->plan;

    return &plan->ops[plan->chain_ops[plan->chains[chain].first + pos]];
}

/* Is the next op of the chain one that waits for nothing but its turn? */
static int next_ready(const struct cx_instance *inst,
                      const struct cx_tile *tile, uint32_t chain)
{
    const struct cx_plan *plan = inst->plan;
    uint32_t pos = tile->chains[chain].posted;

    return pos < plan->chains[chain].n &&
           tile->need[plan->chain_ops[plan->chains[chain].first + pos]] == 0;
}

static void activate(struct cx_instance *inst, struct cx_tile *tile,
                     uint32_t chain)
{
    if (tile->chains[chain].active)
        return;
    tile->chains[chain].active = 1;
    inst->active[inst->nactive].tile = tile;
    inst->active[inst->nactive++].chain = chain;
}

/* Posts the receives of a chain as far as they are ready. Empty messages are
 * not sent: their size is the same at both ends. */
static void post_recvs(struct cx_instance *inst, struct cx_tile *tile,
                       uint32_t chain)
{
    while (next_ready(inst, tile, chain)) {
        const struct cx_plan_op *op =
            chain_op(inst, chain, tile->chains[chain].posted);
        struct cx_req *req = req_of(inst, tile, op);
        size_t nbytes;
        char *buf = cx_lower_operand(&inst->low, &tile->map,
                                     cx_plan_out(inst->plan, op), &nbytes);

        tile->chains[chain].posted++;
        activate(inst, tile, chain);
        req->nbytes = 0;
        req->tag = 0;
        req->status = CX_OK;
        if (nbytes)
            inst->io.wire_ops->recv(inst->io.wire,
                                    make_tag(inst, op->peer, tile->index),
                                    ~CX_SIG_MASK, buf, nbytes, req);
    }
}

static void post_send(struct cx_instance *inst, struct cx_tile *tile,
                      uint32_t chain)
{
    const struct cx_plan_op *op =
        chain_op(inst, chain, tile->chains[chain].posted);
    struct cx_req *req = req_of(inst, tile, op);
    size_t nbytes;
    const char *buf = cx_lower_operand(&inst->low, &tile->map,
                                       cx_plan_in(inst->plan, op, 0), &nbytes);

    tile->chains[chain].posted++;
    activate(inst, tile, chain);
    tile->sends++;
    inst->sends++;
    req->status = CX_OK;
    if (nbytes == 0)
        return;
    inst->sent[chain].dirty = 1;
    inst->io.wire_ops->send(inst->io.wire, inst->peers[chain],
                            make_tag(inst, inst->plan->shape.rank, tile->index),
                            buf, nbytes, req);
}

static void enqueue_send(struct cx_instance *inst, struct cx_tile *tile,
                         uint32_t chain)
{
    uint32_t nsend = (uint32_t)inst->plan->nsend;

    tile->chains[chain].waiting = 1;
    tile->queue[(tile->queue_head + tile->nqueue++) % nsend] = chain;
}

/* The window bounds sends over all tiles, but the oldest tile may always have
 * one: else younger tiles could hold the window while peers wait for it. */
static int may_send(const struct cx_instance *inst, const struct cx_tile *tile)
{
    return inst->sends < inst->window ||
           (tile->index == inst->oldest && tile->sends == 0);
}

static void post_sends(struct cx_instance *inst)
{
    uint32_t nsend = (uint32_t)inst->plan->nsend;

    for (size_t t = inst->oldest; t < inst->next_tile; t++) {
        struct cx_tile *tile = &inst->tiles[t % (size_t)inst->low.depth];

        while (tile->nqueue && may_send(inst, tile)) {
            uint32_t chain = tile->queue[tile->queue_head];

            tile->queue_head = (tile->queue_head + 1) % nsend;
            tile->nqueue--;
            tile->chains[chain].waiting = 0;
            post_send(inst, tile, chain);
            if (next_ready(inst, tile, chain))
                enqueue_send(inst, tile, chain);
        }
    }
}

/* All predecessors of the op are complete. */
static void make_ready(struct cx_instance *inst, struct cx_tile *tile,
                       uint32_t id)
{
    const struct cx_plan_op *op = &inst->plan->ops[id];
    struct cx_todo *todo;

    if (op->code == CX_OP_RECV) {
        post_recvs(inst, tile, op->chain);
    } else if (op->code == CX_OP_SEND) {
        if (tile->chains[op->chain].posted == op->pos &&
            !tile->chains[op->chain].waiting)
            enqueue_send(inst, tile, op->chain);
    } else {
        todo = &inst->todo[(inst->todo_head + inst->ntodo++) % inst->todo_cap];
        todo->tile = tile;
        todo->op = id;
    }
}

static void complete(struct cx_instance *inst, struct cx_tile *tile,
                     const struct cx_plan_op *op)
{
    const uint32_t *succ = &inst->plan->succs[op->succ];

    tile->left--;
    for (uint32_t i = 0; i < op->nsucc; i++)
        if (--tile->need[succ[i]] == 0)
            make_ready(inst, tile, succ[i]);
}

/* When the last message to a peer of the whole call has left, its flush can
 * run beside what is still to be received. */
static void sent_one(struct cx_instance *inst, struct cx_tile *tile,
                     uint32_t chain)
{
    struct cx_sent *sent = &inst->sent[chain];

    tile->sends--;
    inst->sends--;
    if (--sent->left > 0 || !sent->dirty)
        return;
    inst->flushes[inst->nflushes++] = chain;
    sent->flush.status = CX_INPROGRESS;
    inst->io.wire_ops->flush(inst->io.wire, inst->peers[chain], &sent->flush);
}

static int received_right(struct cx_instance *inst, const struct cx_tile *tile,
                          const struct cx_plan_op *op, const struct cx_req *req)
{
    uint32_t sig = cx_run_signature(&inst->run);
    uint32_t theirs = (uint32_t)(req->tag & CX_SIG_MASK);
    size_t nbytes;

    (void)cx_lower_operand(&inst->low, &tile->map, cx_plan_out(inst->plan, op),
                           &nbytes);
    if (nbytes == 0 || (req->nbytes == nbytes && theirs == sig))
        return 1;
    if (theirs == CX_SIG_FAILED) {
        cx_instance_fail(inst, CX_ERR_PEER, CX_GAVE_UP, op->peer);
        return 0;
    }
    cx_instance_fail(inst, CX_ERR_MISMATCH,
                     "ranks %d and %d called different things: a message of "
                     "%zu bytes with signature %04x came, %zu bytes with %04x "
                     "expected; compare function, count, type, operation and "
                     "root on the two",
                     op->peer, inst->plan->shape.rank, req->nbytes, theirs,
                     nbytes, sig);
    return 0;
}

/* One message has left CX_INPROGRESS. */
static int finish_message(struct cx_instance *inst, struct cx_tile *tile,
                          const struct cx_plan_op *op, const struct cx_req *req)
{
    if (req->status == CX_ERR_MISMATCH) {
        cx_instance_fail(inst, req->status,
                         "ranks %d and %d called different things: the message "
                         "that came is longer than expected; compare function, "
                         "count, type, operation and root on the two",
                         op->peer, inst->plan->shape.rank);
        return 0;
    }
    if (req->status != CX_OK) {
        cx_instance_fail(inst, req->status, "%s rank %d failed: %s",
                         op->code == CX_OP_SEND ? "sending to"
                                                : "receiving from",
                         op->peer, cx_status_str(req->status));
        return 0;
    }
    if (op->code == CX_OP_RECV)
        return received_right(inst, tile, op, req);
    sent_one(inst, tile, op->chain);
    return 1;
}

/* Completes messages at the head of one chain; returns how many. */
static unsigned poll_chain(struct cx_instance *inst, struct cx_tile *tile,
                           uint32_t chain)
{
    struct cx_chain_state *state = &tile->chains[chain];
    unsigned n = 0;

    while (state->done < state->posted) {
        const struct cx_plan_op *op = chain_op(inst, chain, state->done);
        const struct cx_req *req = req_of(inst, tile, op);

        if (req->status == CX_INPROGRESS)
            break;
        if (!finish_message(inst, tile, op, req))
            return n;
        state->done++;
        complete(inst, tile, op);
        n++;
    }
    return n;
}

static unsigned poll_wire(struct cx_instance *inst)
{
    unsigned n = 0;
    uint32_t i = 0;

    while (i < inst->nactive && inst->state == CX_INST_RUNNING) {
        struct cx_tile *tile = inst->active[i].tile;
        uint32_t chain = inst->active[i].chain;
        struct cx_chain_state *state = &tile->chains[chain];

        n += poll_chain(inst, tile, chain);
        if (state->done < state->posted) {
            i++;
            continue;
        }
        state->active = 0;
        inst->active[i] = inst->active[--inst->nactive];
    }
    return n;
}

static void copy_blocks(struct cx_instance *inst, struct cx_tile *tile,
                        const struct cx_operand *y, const struct cx_operand *x,
                        size_t *nbytes)
{
    size_t step = tile->map.count * inst->low.elsize;
    char *to = cx_lower_operand(&inst->low, &tile->map, y, nbytes);
    const char *from = cx_lower_operand(&inst->low, &tile->map, x, nbytes);

    if (*nbytes == 0 || to == from)
        return;
    if (inst->plan->layout == CX_LAYOUT_PARTITION) {
        memcpy(to, from, *nbytes);
        return;
    }
    for (uint32_t i = 0; i < y->n; i++)
        memcpy(to + i * tile->map.pitch[y->space],
               from + i * tile->map.pitch[x->space], step);
}

/* Runs a COPY or REDUCE; returns its bytes. */
static size_t run_op(struct cx_instance *inst, struct cx_tile *tile,
                     const struct cx_plan_op *op)
{
    const struct cx_operand *out = cx_plan_out(inst->plan, op);
    const void *srcs[CX_MAX_REDUCE];
    size_t nbytes;
    char *dst;

    if (op->code == CX_OP_COPY) {
        copy_blocks(inst, tile, out, cx_plan_in(inst->plan, op, 0), &nbytes);
        return nbytes;
    }
    for (uint32_t i = 0; i < op->nin; i++)
        srcs[i] = cx_lower_operand(&inst->low, &tile->map,
                                   cx_plan_in(inst->plan, op, i), &nbytes);
    dst = cx_lower_operand(&inst->low, &tile->map, out, &nbytes);
    if (nbytes)
        cx_reduce(inst->run.dtype, inst->run.op, dst, srcs, (int)op->nin,
                  nbytes / inst->low.elsize);
    return nbytes * op->nin;
}

static unsigned run_local(struct cx_instance *inst, size_t *budget)
{
    const struct cx_plan_op *op;
    struct cx_todo todo;
    size_t cost;

    if (inst->ntodo == 0 || *budget == 0)
        return 0;
    todo = inst->todo[inst->todo_head];
    inst->todo_head = (inst->todo_head + 1) % inst->todo_cap;
    inst->ntodo--;
    op = &inst->plan->ops[todo.op];
    cost = run_op(inst, todo.tile, op);
    *budget -= cost < *budget ? cost : *budget;
    complete(inst, todo.tile, op);
    return 1;
}

/* The tile's ops may begin: all that waits for nothing. */
static void run_tile(struct cx_instance *inst, struct cx_tile *tile)
{
    const struct cx_plan *plan = inst->plan;

    tile->stage = CX_TILE_RUN;
    for (int c = 0; c < plan->nrecv; c++)
        post_recvs(inst, tile, (uint32_t)(plan->nsend + c));
    for (int c = 0; c < plan->nsend; c++)
        if (next_ready(inst, tile, (uint32_t)c))
            enqueue_send(inst, tile, (uint32_t)c);
    for (uint32_t i = 0; i < plan->nroots; i++)
        make_ready(inst, tile, plan->roots[i]);
}

static void begin_tile(struct cx_instance *inst)
{
    const struct cx_plan *plan = inst->plan;
    size_t index = inst->next_tile++;
    struct cx_tile *tile = &inst->tiles[index % (size_t)inst->low.depth];
    size_t nchains = (size_t)plan->nsend + (size_t)plan->nrecv;

    tile->index = index;
    tile->left = plan->nops;
    tile->sends = tile->queue_head = tile->nqueue = 0;
    memset(tile->chains, 0, nchains * sizeof(*tile->chains));
    for (uint32_t i = 0; i < plan->nops; i++)
        tile->need[i] = (unsigned char)((plan->ops[i].pred[0] != CX_NO_OP) +
                                        (plan->ops[i].pred[1] != CX_NO_OP));
    cx_lower_tile(&inst->low, index, &tile->map);
    tile->stage = CX_TILE_LOAD;
    cx_stage_load(inst, tile);
}

/* Moves one tile on when its stage is over; returns whether it moved. */
static unsigned step_tile(struct cx_instance *inst, struct cx_tile *tile)
{
    if (tile->stage == CX_TILE_LOAD && cx_stage_poll(inst, tile)) {
        run_tile(inst, tile);
        return 1;
    }
    if (tile->stage == CX_TILE_RUN && tile->left == 0) {
        tile->stage = CX_TILE_STORE;
        cx_stage_store(inst, tile);
    }
    if (tile->stage == CX_TILE_STORE && cx_stage_poll(inst, tile)) {
        tile->stage = CX_TILE_FREE;
        return 1;
    }
    return 0;
}

static unsigned step_tiles(struct cx_instance *inst)
{
    size_t depth = (size_t)inst->low.depth;
    unsigned n = 0;

    for (size_t t = inst->oldest; t < inst->next_tile; t++)
        n += step_tile(inst, &inst->tiles[t % depth]);
    while (inst->oldest < inst->next_tile &&
           inst->tiles[inst->oldest % depth].stage == CX_TILE_FREE)
        inst->oldest++;
    while (inst->next_tile < inst->low.ntiles &&
           inst->next_tile < inst->oldest + depth) {
        begin_tile(inst);
        n++;
    }
    return n;
}

static void poll_flushes(struct cx_instance *inst)
{
    while (inst->flushes_done < inst->nflushes) {
        uint32_t chain = inst->flushes[inst->flushes_done];
        enum cx_status status = inst->sent[chain].flush.status;

        if (status == CX_INPROGRESS)
            return;
        if (status != CX_OK) {
            cx_instance_fail(inst, status, "sending to rank %d failed: %s",
                             inst->plan->send_peers[chain],
                             cx_status_str(status));
            return;
        }
        inst->flushes_done++;
    }
}

void cx_exec_begin(struct cx_instance *inst)
{
    const struct cx_plan *plan = inst->plan;

    inst->nactive = inst->todo_head = inst->ntodo = 0;
    inst->nflushes = inst->flushes_done = 0;
    inst->oldest = inst->next_tile = 0;
    inst->sends = 0;
    for (int c = 0; c < plan->nsend; c++) {
        inst->sent[c].left = plan->chains[c].n * inst->low.ntiles;
        inst->sent[c].dirty = 0;
    }
    inst->state = CX_INST_RUNNING;
    inst->status = CX_OK;
}

enum cx_status cx_exec_step(struct cx_instance *inst)
{
    size_t budget = LOCAL_BUDGET;
    unsigned n;

    do {
        n = step_tiles(inst);
        post_sends(inst);
        n += poll_wire(inst);
        post_sends(inst);
        if (inst->state == CX_INST_RUNNING)
            n += run_local(inst, &budget);
    } while (n && inst->state == CX_INST_RUNNING);
    poll_flushes(inst);
    if (inst->state == CX_INST_FAILED)
        return inst->status;
    if (inst->oldest < inst->low.ntiles || inst->flushes_done < inst->nflushes)
        return CX_INPROGRESS;
    cx_instance_return_slots(inst, 0);
    inst->state = CX_INST_IDLE;
    return CX_OK;
}
