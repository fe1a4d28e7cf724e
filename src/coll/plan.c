/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.c - turns a builder's ops into an immutable plan.
 *
 * Checks what one rank can check alone (bounds, order of predecessors), then
 * derives all that the executor wants to look up: successors, chains of one
 * peer, peers, and the runs of user blocks read and written. Linear in the ops;
 * once per plan. */
#include "coll/plan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "coll/arena.h"

/* Work space of one finish; the arrays are one owned block. */
struct work {
    int *send_index, *recv_index;     /* by rank: chain index or -1 */
    unsigned char *marks;             /* by block */
    struct cx_run_of_blocks *runs[4]; /* load[0], load[1], store[0], store[1] */
    uint32_t nruns[4];
    uint32_t nsuccs;
    void *block;
};

int cx_plan_is_identity(const struct cx_plan *plan, const struct cx_plan_op *op)
{
    const struct cx_operand *y = cx_plan_out(plan, op);
    const struct cx_operand *x = cx_plan_in(plan, op, 0);
    uint32_t at;

    if (op->code != CX_OP_COPY || y->space != CX_DST || x->space != CX_SRC)
        return 0;
    at = plan->layout == CX_LAYOUT_ARRAY ? (uint32_t)plan->shape.rank : 0;
    return y->n == x->n && y->first == x->first + at;
}

static uint32_t space_blocks(const struct cx_builder *b, enum cx_space space)
{
    if (space == CX_SRC && b->layout == CX_LAYOUT_ARRAY)
        return 1;
    return b->nblocks;
}

static int operand_ok(const struct cx_builder *b, const struct cx_operand *x,
                      enum cx_opcode code)
{
    int wire = code == CX_OP_SEND || code == CX_OP_RECV;

    if (x->space == CX_SCRATCH && b->layout == CX_LAYOUT_ARRAY)
        return 1; /* scratch is as large as its highest block */
    if (wire && b->layout == CX_LAYOUT_ARRAY && x->n > 1)
        return 0; /* not contiguous in user memory */
    return x->first + x->n <= space_blocks(b, x->space);
}

static int op_ok(const struct cx_builder *b, uint32_t i)
{
    const struct cx_plan_op *op = &b->ops[i];
    uint32_t end = i + 1 < b->nops ? op[1].args : b->noperands;
    int wire = op->code == CX_OP_SEND || op->code == CX_OP_RECV;
    const struct cx_operand *y = &b->operands[op->args];
    uint32_t n;

    if (op->pred[0] >= (int)i || op->pred[1] >= (int)i)
        return 0;
    if (wire && (op->peer < 0 || op->peer >= b->shape.nranks ||
                 op->peer == b->shape.rank))
        return 0;
    n = op->code == CX_OP_SEND ? y[1].n : y->n;
    for (uint32_t a = op->args; a < end; a++) {
        const struct cx_operand *x = &b->operands[a];

        if (op->code == CX_OP_SEND && a == op->args)
            continue;
        if (x->n != n || !operand_ok(b, x, op->code))
            return 0;
    }
    return y->space != CX_SRC;
}

static enum cx_status check(const struct cx_builder *b)
{
    if (b->status != CX_OK)
        return b->status;
    for (uint32_t i = 0; i < b->nops; i++) {
        if (!op_ok(b, i)) {
            cx_error("plan of rank %d of %d: op %u is malformed; this is a "
                     "fault of the generator",
                     b->shape.rank, b->shape.nranks, i);
            return CX_ERR_INTERNAL;
        }
    }
    return CX_OK;
}

static enum cx_status work_init(struct work *w, const struct cx_builder *b)
{
    size_t p = (size_t)b->shape.nranks, nb = b->nblocks;
    size_t at;

    memset(w, 0, sizeof(*w));
    for (int pass = 0; pass < 2; pass++) {
        at = 0;
        w->send_index = cx_arena_take(w->block, &at, p, sizeof(int));
        w->recv_index = cx_arena_take(w->block, &at, p, sizeof(int));
        w->marks = cx_arena_take(w->block, &at, nb, 1);
        for (int k = 0; k < 4; k++)
            w->runs[k] = cx_arena_take(w->block, &at, nb, sizeof(*w->runs[k]));
        if (pass == 0) {
            w->block = cx_alloc(at, 1);
            if (!w->block)
                return CX_ERR_NOMEM;
        }
    }
    memset(w->send_index, -1, p * sizeof(int));
    memset(w->recv_index, -1, p * sizeof(int));
    return CX_OK;
}

static void mark(struct work *w, const struct cx_operand *x,
                 enum cx_space space)
{
    if (x->space == space && x->n)
        memset(w->marks + x->first, 1, x->n);
}

/* The runs of marked blocks; clears the marks. */
static void collect(struct work *w, uint32_t nblocks, int k)
{
    for (uint32_t i = 0; i < nblocks; i++) {
        if (!w->marks[i])
            continue;
        if (i == 0 || !w->marks[i - 1])
            w->runs[k][w->nruns[k]++].first = i;
        w->runs[k][w->nruns[k] - 1].n++;
    }
    memset(w->marks, 0, nblocks);
}

static void find_runs(struct work *w, const struct cx_plan *plan)
{
    for (int inplace = 0; inplace < 2; inplace++) {
        for (uint32_t i = 0; i < plan->nops; i++) {
            const struct cx_plan_op *op = &plan->ops[i];

            if (inplace && cx_plan_is_identity(plan, op))
                continue;
            for (uint32_t a = 0; a < op->nin; a++)
                mark(w, cx_plan_in(plan, op, a), CX_SRC);
        }
        collect(w, plan->nblocks, inplace);
        for (uint32_t i = 0; i < plan->nops; i++) {
            const struct cx_plan_op *op = &plan->ops[i];

            if (!(inplace && cx_plan_is_identity(plan, op)))
                mark(w, cx_plan_out(plan, op), CX_DST);
        }
        collect(w, plan->nblocks, 2 + inplace);
    }
}

/* Numbers of peers, chains and successors, before the arena exists. */
static void count(struct work *w, struct cx_plan *plan)
{
    for (uint32_t i = 0; i < plan->nops; i++) {
        const struct cx_plan_op *op = &plan->ops[i];

        w->nsuccs += op->pred[0] != CX_NO_OP;
        w->nsuccs += op->pred[1] != CX_NO_OP;
        plan->nroots += op->code != CX_OP_SEND && op->code != CX_OP_RECV &&
                        op->pred[0] == CX_NO_OP;
        plan->reduces |= op->code == CX_OP_REDUCE;
        if (op->code == CX_OP_SEND && w->send_index[op->peer] < 0)
            w->send_index[op->peer] = plan->nsend++;
        if (op->code == CX_OP_RECV && w->recv_index[op->peer] < 0)
            w->recv_index[op->peer] = plan->nrecv++;
        plan->nwire += op->code == CX_OP_SEND || op->code == CX_OP_RECV;
    }
    plan->nlocal = plan->nops - plan->nwire;
}

/* Points the arrays of `*plan` into `base`; returns the bytes needed. */
static size_t lay_out(struct cx_plan *plan, const struct work *w,
                      uint32_t noperands, char *base)
{
    size_t nchains = (size_t)plan->nsend + (size_t)plan->nrecv;
    size_t at = cx_arena_round(sizeof(*plan));

    plan->ops = cx_arena_take(base, &at, plan->nops, sizeof(*plan->ops));
    plan->operands =
        cx_arena_take(base, &at, noperands, sizeof(*plan->operands));
    plan->succs = cx_arena_take(base, &at, w->nsuccs, sizeof(*plan->succs));
    plan->chains = cx_arena_take(base, &at, nchains, sizeof(*plan->chains));
    plan->chain_ops =
        cx_arena_take(base, &at, plan->nwire, sizeof(*plan->chain_ops));
    plan->roots = cx_arena_take(base, &at, plan->nroots, sizeof(*plan->roots));
    plan->send_peers =
        cx_arena_take(base, &at, (size_t)plan->nsend, sizeof(int));
    plan->recv_peers =
        cx_arena_take(base, &at, (size_t)plan->nrecv, sizeof(int));
    plan->neighbours = cx_arena_take(base, &at, nchains, sizeof(int));
    plan->recv_at =
        cx_arena_take(base, &at, (size_t)plan->nrecv, sizeof(uint32_t));
    for (int k = 0; k < 2; k++) {
        plan->nload[k] = w->nruns[k];
        plan->load[k] =
            cx_arena_take(base, &at, w->nruns[k], sizeof(**plan->load));
        plan->nstore[k] = w->nruns[2 + k];
        plan->store[k] =
            cx_arena_take(base, &at, w->nruns[2 + k], sizeof(**plan->store));
    }
    return at;
}

static void fill_chains(struct cx_plan *plan, const struct work *w)
{
    uint32_t nchains = (uint32_t)(plan->nsend + plan->nrecv), at = 0;

    for (uint32_t i = 0; i < plan->nops; i++) {
        struct cx_plan_op *op = &plan->ops[i];

        if (op->code == CX_OP_SEND) {
            op->chain = (uint32_t)w->send_index[op->peer];
            plan->send_peers[op->chain] = op->peer;
        } else if (op->code == CX_OP_RECV) {
            uint32_t index = (uint32_t)w->recv_index[op->peer];

            op->chain = (uint32_t)plan->nsend + index;
            plan->recv_peers[index] = op->peer;
        } else {
            continue;
        }
        op->pos = plan->chains[op->chain].n++;
    }
    for (uint32_t c = 0; c < nchains; c++) {
        plan->chains[c].first = at;
        at += plan->chains[c].n;
    }
    for (uint32_t i = 0; i < plan->nops; i++) {
        struct cx_plan_op *op = &plan->ops[i];

        if (op->code == CX_OP_SEND || op->code == CX_OP_RECV)
            plan->chain_ops[plan->chains[op->chain].first + op->pos] = i;
    }
}

static void fill_neighbours(struct cx_plan *plan, const struct work *w)
{
    plan->nneighbours = plan->nsend;
    for (int i = 0; i < plan->nsend; i++)
        plan->neighbours[i] = plan->send_peers[i];
    for (int i = 0; i < plan->nrecv; i++) {
        int peer = plan->recv_peers[i];

        if (w->send_index[peer] >= 0) {
            plan->recv_at[i] = (uint32_t)w->send_index[peer];
            continue;
        }
        plan->recv_at[i] = (uint32_t)plan->nneighbours;
        plan->neighbours[plan->nneighbours++] = peer;
    }
}

static void fill_succs(struct cx_plan *plan)
{
    uint32_t at = 0, nroots = 0;

    for (uint32_t i = 0; i < plan->nops; i++) {
        struct cx_plan_op *op = &plan->ops[i];

        for (int k = 0; k < 2; k++)
            if (op->pred[k] != CX_NO_OP)
                plan->ops[op->pred[k]].nsucc++;
        if (op->pred[0] == CX_NO_OP && op->code != CX_OP_SEND &&
            op->code != CX_OP_RECV)
            plan->roots[nroots++] = i;
    }
    for (uint32_t i = 0; i < plan->nops; i++) {
        plan->ops[i].succ = at;
        at += plan->ops[i].nsucc;
        plan->ops[i].nsucc = 0;
    }
    for (uint32_t i = 0; i < plan->nops; i++) {
        for (int k = 0; k < 2; k++) {
            int pred = plan->ops[i].pred[k];
            struct cx_plan_op *op;

            if (pred == CX_NO_OP)
                continue;
            op = &plan->ops[pred];
            plan->succs[op->succ + op->nsucc++] = i;
        }
    }
}

static struct cx_plan *make(const struct cx_builder *b, struct work *w)
{
    struct cx_plan head, *plan;
    size_t nbytes;

    memset(&head, 0, sizeof(head));
    head.shape = b->shape;
    head.layout = b->layout;
    head.nblocks = b->nblocks;
    head.nscratch = b->nscratch;
    head.nops = b->nops;
    head.ops = b->ops;
    head.operands = b->operands;
    for (uint32_t i = 0; i < b->nops; i++) {
        uint32_t end = i + 1 < b->nops ? b->ops[i + 1].args : b->noperands;

        b->ops[i].nin = end - b->ops[i].args - 1;
    }
    count(w, &head);
    find_runs(w, &head);
    nbytes = lay_out(&head, w, b->noperands, NULL);
    plan = cx_alloc(1, nbytes);
    if (!plan)
        return NULL;
    *plan = head;
    lay_out(plan, w, b->noperands, (char *)plan);
    if (b->nops) {
        memcpy(plan->ops, b->ops, b->nops * sizeof(*b->ops));
        memcpy(plan->operands, b->operands,
               b->noperands * sizeof(*b->operands));
    }
    for (int k = 0; k < 2; k++) {
        memcpy(plan->load[k], w->runs[k], w->nruns[k] * sizeof(**plan->load));
        memcpy(plan->store[k], w->runs[2 + k],
               w->nruns[2 + k] * sizeof(**plan->store));
    }
    fill_chains(plan, w);
    fill_neighbours(plan, w);
    fill_succs(plan);
    return plan;
}

enum cx_status cx_build_finish(struct cx_builder *b, struct cx_plan **plan)
{
    enum cx_status status = check(b);
    struct cx_plan *made;
    struct work w;

    if (status != CX_OK)
        goto out;
    status = work_init(&w, b);
    if (status != CX_OK)
        goto out;
    made = make(b, &w);
    cx_free(w.block);
    if (made)
        *plan = made;
    else
        status = CX_ERR_NOMEM;
out:
    cx_free(b->ops);
    cx_free(b->operands);
    memset(b, 0, sizeof(*b));
    return status;
}

void cx_plan_destroy(struct cx_plan *plan)
{
    cx_free(plan);
}

const int *cx_plan_send_peers(const struct cx_plan *plan, int *nsend)
{
    *nsend = plan->nsend;
    return plan->send_peers;
}

const int *cx_plan_neighbours(const struct cx_plan *plan, int *n)
{
    *n = plan->nneighbours;
    return plan->neighbours;
}
