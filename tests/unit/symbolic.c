/* SPDX-License-Identifier: BSD-3-Clause */
/* symbolic.c - runs the plans of all ranks on expressions; see symbolic.h. */
#include "symbolic.h"

#include <string.h>

#include "unit.h"

struct machine {
    const struct cx_plan *plan;
    int *cells;          /* expressions */
    int **sent;          /* by op: what a buffered SEND took with it */
    unsigned char *need; /* by op */
    uint32_t *posted;    /* by chain: ops posted */
    int *first_succ;     /* by op: list of successors, -1 ends */
    int *next_succ;      /* by op and predecessor */
    uint32_t left;       /* ops not complete */
    int alias;
};

/* Something that may happen next. */
struct action {
    int rank;
    uint32_t op; /* local op, or a RECV whose message is there */
};

struct world {
    struct proof *proof;
    struct machine *machines;
    struct action *actions;
    size_t nactions;
    int buffered;
    struct rng rng;
};

static int chain_to(const struct cx_plan *plan, int peer, int recv)
{
    int n = recv ? plan->nrecv : plan->nsend;
    const int *peers = recv ? plan->recv_peers : plan->send_peers;

    for (int i = 0; i < n; i++)
        if (peers[i] == peer)
            return recv ? plan->nsend + i : i;
    return -1;
}

static const struct cx_plan_op *chain_op(const struct cx_plan *plan, int chain,
                                         uint32_t pos)
{
    return &plan->ops[plan->chain_ops[plan->chains[chain].first + pos]];
}

static void act_later(struct world *world, int rank, uint32_t op)
{
    world->actions[world->nactions].rank = rank;
    world->actions[world->nactions++].op = op;
}

static void complete(struct world *world, int rank, uint32_t op);

/* The message at position `pos` of the chain from `from` to `to` is posted at
 * one end: if it is at the other too, it can be delivered. */
static void meet(struct world *world, int from, int to, uint32_t pos)
{
    struct machine *sender = &world->machines[from];
    struct machine *receiver = &world->machines[to];
    int out = chain_to(sender->plan, to, 0);
    int in = chain_to(receiver->plan, from, 1);

    if (out < 0 || in < 0 || sender->posted[out] <= pos ||
        receiver->posted[in] <= pos)
        return;
    act_later(
        world, to,
        (uint32_t)(chain_op(receiver->plan, in, pos) - receiver->plan->ops));
}

/* A copy of what an operand holds. */
static int *take(const struct machine *m, const struct cx_operand *x)
{
    int *values = must_alloc(x->n * sizeof(*values));

    for (uint32_t i = 0; i < x->n; i++)
        values[i] = m->cells[cell_of(m->plan, x, i, m->alias)];
    return values;
}

/* Posts what the chain of `op` can post. */
static void post_chain(struct world *world, int rank,
                       const struct cx_plan_op *op)
{
    struct machine *m = &world->machines[rank];
    const struct cx_chain *chain = &m->plan->chains[op->chain];

    while (m->posted[op->chain] < chain->n) {
        uint32_t pos = m->posted[op->chain];
        uint32_t id = m->plan->chain_ops[chain->first + pos];
        const struct cx_plan_op *next = &m->plan->ops[id];

        if (m->need[id])
            return;
        m->posted[op->chain]++;
        if (next->code == CX_OP_RECV) {
            meet(world, next->peer, rank, pos);
            continue;
        }
        if (world->buffered)
            m->sent[id] = take(m, cx_plan_in(m->plan, next, 0));
        meet(world, rank, next->peer, pos);
        if (world->buffered)
            complete(world, rank, id);
    }
}

static void make_ready(struct world *world, int rank, uint32_t id)
{
    const struct cx_plan_op *op = &world->machines[rank].plan->ops[id];

    if (op->code == CX_OP_SEND || op->code == CX_OP_RECV)
        post_chain(world, rank, op);
    else
        act_later(world, rank, id);
}

static void complete(struct world *world, int rank, uint32_t id)
{
    struct machine *m = &world->machines[rank];

    m->left--;
    for (int s = m->first_succ[id]; s >= 0; s = m->next_succ[s])
        if (--m->need[s / 2] == 0)
            make_ready(world, rank, (uint32_t)s / 2);
}

static int same_blocks(const struct cx_plan *plan, const struct cx_operand *x,
                       const struct cx_operand *y)
{
    return x->n == y->n &&
           (plan->layout == CX_LAYOUT_ARRAY || x->first == y->first);
}

static int deliver(struct world *world, int rank, uint32_t id)
{
    struct machine *m = &world->machines[rank];
    const struct cx_plan_op *recv = &m->plan->ops[id];
    struct machine *from = &world->machines[recv->peer];
    int chain = chain_to(from->plan, rank, 0);
    const struct cx_plan_op *send = chain_op(from->plan, chain, recv->pos);
    const struct cx_operand *x = cx_plan_in(from->plan, send, 0);
    const struct cx_operand *y = cx_plan_out(m->plan, recv);

    uint32_t sender_op = (uint32_t)(send - from->plan->ops);
    int *values;

    if (!same_blocks(m->plan, x, y))
        return proof_fail(world->proof,
                          "rank %d sends other blocks than rank %d receives",
                          recv->peer, rank);
    if (!world->buffered)
        from->sent[sender_op] = take(from, x);
    values = from->sent[sender_op];
    for (uint32_t i = 0; i < x->n; i++) {
        if (values[i] == EXPR_UNDEFINED)
            return proof_fail(world->proof, "rank %d sends rubbish",
                              recv->peer);
        m->cells[cell_of(m->plan, y, i, m->alias)] = values[i];
    }
    if (!world->buffered)
        complete(world, recv->peer, sender_op);
    complete(world, rank, id);
    return 1;
}

static int compute(struct world *world, int rank, uint32_t id)
{
    struct machine *m = &world->machines[rank];
    const struct cx_plan_op *op = &m->plan->ops[id];
    const struct cx_operand *y = cx_plan_out(m->plan, op);

    for (uint32_t i = 0; i < y->n; i++) {
        int value = EXPR_UNDEFINED;

        for (uint32_t k = 0; k < op->nin; k++) {
            const struct cx_operand *x = cx_plan_in(m->plan, op, k);
            int term = m->cells[cell_of(m->plan, x, i, m->alias)];

            if (term == EXPR_UNDEFINED)
                return proof_fail(world->proof, "rank %d, op %u reads rubbish",
                                  rank, id);
            value = k ? expr_reduce(world->proof->exprs, value, term) : term;
        }
        m->cells[cell_of(m->plan, y, i, m->alias)] = value;
    }
    complete(world, rank, id);
    return 1;
}

/* By the predecessors as stated, not by the executor's tables. */
static void machine_order(struct machine *m)
{
    uint32_t nops = m->plan->nops;

    m->need = must_alloc(nops);
    m->first_succ = must_alloc(nops * sizeof(int));
    m->next_succ = must_alloc(2 * nops * sizeof(int));
    memset(m->first_succ, -1, nops * sizeof(int));
    for (uint32_t s = 0; s < 2 * nops; s++) {
        int pred = m->plan->ops[s / 2].pred[s % 2];

        if (pred == CX_NO_OP)
            continue;
        m->need[s / 2]++;
        m->next_succ[s] = m->first_succ[pred];
        m->first_succ[pred] = (int)s;
    }
}

static void machine_init(struct world *world, int rank, int alias)
{
    const struct proof *proof = world->proof;
    struct machine *m = &world->machines[rank];
    const struct cx_plan *plan = proof->plans[rank];
    int holds = proof->algorithm->func != CX_BCAST || rank == proof->root;
    uint32_t nsrc = plan->layout == CX_LAYOUT_ARRAY ? 1 : plan->nblocks;

    m->plan = plan;
    m->alias = alias;
    m->left = plan->nops;
    m->cells = must_alloc(cell_count(plan) * sizeof(*m->cells));
    m->sent = must_alloc(plan->nops * sizeof(*m->sent));
    machine_order(m);
    m->posted =
        must_alloc((size_t)(plan->nsend + plan->nrecv) * sizeof(*m->posted));
    for (uint32_t b = 0; b < nsrc && holds; b++) {
        struct cx_operand x = {.space = CX_SRC, .first = b, .n = 1};

        m->cells[cell_of(plan, &x, 0, alias)] =
            expr_leaf(proof->exprs, rank, (int)b);
    }
}

static void machine_fini(struct machine *m)
{
    for (uint32_t i = 0; i < m->plan->nops; i++)
        free(m->sent[i]);
    free(m->sent);
    free(m->cells);
    free(m->need);
    free(m->first_succ);
    free(m->next_succ);
    free(m->posted);
}

static void start_rank(struct world *world, int rank)
{
    const struct cx_plan *plan = world->machines[rank].plan;

    for (int c = 0; c < plan->nsend + plan->nrecv; c++)
        post_chain(world, rank, chain_op(plan, c, 0));
    for (uint32_t i = 0; i < plan->nroots; i++)
        act_later(world, rank, plan->roots[i]);
}

static int run(struct world *world)
{
    for (int r = 0; r < world->proof->nranks; r++)
        start_rank(world, r);
    while (world->nactions) {
        size_t k = rng_below(&world->rng, (uint32_t)world->nactions);
        struct action a = world->actions[k];
        const struct cx_plan *plan = world->machines[a.rank].plan;
        int ok;

        world->actions[k] = world->actions[--world->nactions];
        if (plan->ops[a.op].code == CX_OP_RECV)
            ok = deliver(world, a.rank, a.op);
        else
            ok = compute(world, a.rank, a.op);
        if (!ok)
            return 0;
    }
    for (int r = 0; r < world->proof->nranks; r++)
        if (world->machines[r].left)
            return proof_fail(world->proof, "rank %d never ends: %u ops left",
                              r, world->machines[r].left);
    return 1;
}

static int check_reduced(struct world *world, int rank, uint32_t block,
                         int value)
{
    struct proof *proof = world->proof;
    const struct expr *e = expr_get(proof->exprs, value);
    struct cx_operand x = {.space = CX_DST, .first = block, .n = 1};
    const struct machine *first = &world->machines[0];

    if (value == EXPR_UNDEFINED || !e->once || e->nleaves != proof->nranks ||
        e->block != (int)block)
        return proof_fail(proof, "rank %d, block %u: not each term once", rank,
                          block);
    if (proof->algorithm->ordered && !e->ordered)
        return proof_fail(proof, "rank %d, block %u: not in rank order", rank,
                          block);
    if (value != first->cells[cell_of(first->plan, &x, 0, first->alias)])
        return proof_fail(proof, "rank %d, block %u: other bits than rank 0",
                          rank, block);
    return 1;
}

static int check_result(struct world *world, int rank)
{
    struct proof *proof = world->proof;
    const struct machine *m = &world->machines[rank];

    for (uint32_t b = 0; b < m->plan->nblocks; b++) {
        struct cx_operand x = {.space = CX_DST, .first = b, .n = 1};
        int value = m->cells[cell_of(m->plan, &x, 0, m->alias)];
        int from = proof->algorithm->func == CX_BCAST ? proof->root : (int)b;

        if (proof->algorithm->func == CX_ALLREDUCE) {
            if (!check_reduced(world, rank, b, value))
                return 0;
        } else if (value != expr_leaf(proof->exprs, from, 0)) {
            return proof_fail(proof, "rank %d, block %u: not that of rank %d",
                              rank, b, from);
        }
    }
    return 1;
}

/* 0: out of place, 1: in place, 2: some ranks are. */
static int run_world(struct proof *proof, int buffered, int aliasing)
{
    size_t n = (size_t)proof->nranks, nops = 0;
    struct world world = {.proof = proof, .buffered = buffered};
    int ok;

    world.rng.state = proof->seed * 7 + (uint64_t)(buffered * 3 + aliasing + 1);
    world.machines = must_alloc(n * sizeof(*world.machines));
    for (size_t r = 0; r < n; r++) {
        int alias = aliasing == 2 ? (int)rng_below(&world.rng, 2) : aliasing;

        if (proof->algorithm->func == CX_BCAST)
            alias = 1;
        machine_init(&world, (int)r, alias);
        nops += proof->plans[r]->nops;
    }
    world.actions = must_alloc(nops * sizeof(*world.actions));
    ok = run(&world);
    for (size_t r = 0; r < n; r++)
        ok = ok && check_result(&world, (int)r);
    for (size_t r = 0; r < n; r++)
        machine_fini(&world.machines[r]);
    free(world.actions);
    free(world.machines);
    return ok;
}

/* As many SENDs as RECVs between each two ranks. */
static int check_matching(struct proof *proof)
{
    for (int r = 0; r < proof->nranks; r++) {
        const struct cx_plan *plan = proof->plans[r];

        for (int c = 0; c < plan->nsend + plan->nrecv; c++) {
            int recv = c >= plan->nsend;
            int peer =
                recv ? plan->recv_peers[c - plan->nsend] : plan->send_peers[c];
            const struct cx_plan *other = proof->plans[peer];
            int k = chain_to(other, r, !recv);

            if (k < 0 || other->chains[k].n != plan->chains[c].n)
                return proof_fail(proof,
                                  "ranks %d and %d disagree on the number of "
                                  "messages",
                                  r, peer);
        }
    }
    return 1;
}

int proof_run(struct proof *proof)
{
    exprs_clear(proof->exprs);
    if (!check_matching(proof))
        return 0;
    for (int r = 0; r < proof->nranks; r++)
        if (!proof_no_race(proof, r, 0) || !proof_no_race(proof, r, 1))
            return 0;
    /* The races above hold for any aliasing; values need fewer runs. */
    for (int aliasing = proof->nranks > 40 ? 2 : 0; aliasing < 3; aliasing++)
        for (int buffered = 0; buffered < 2; buffered++)
            if (!run_world(proof, buffered, aliasing))
                return 0;
    return 1;
}
