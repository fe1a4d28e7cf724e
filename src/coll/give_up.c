/* SPDX-License-Identifier: BSD-3-Clause */
/* give_up.c - a rank that cannot go on tells all ranks that it exchanges
 * messages with.
 *
 * Messages of one source, lane and call arrive in the order sent, so to a rank
 * that receives from this one an empty message with a signature of its own
 * takes the place of whatever it expects next. In a call that was begun any
 * tile may be the one that the peer is at, hence one message a lane; in one
 * that was not, the first tile comes first. A rank that only sends to this one
 * has no receive for such a message: it looks among those that wait for a
 * receive, now and then while it waits itself, and before it sends much.
 *
 * Whoever hears of it gives up and tells its own neighbours. A rank in the call
 * waits for one that has failed, or for one that waits in turn, so all that
 * wait hear. Those that have left with their result hear in the next call.
 *
 * Messages that find no receive stay with the peer's wire. No later call of the
 * team mistakes them for its own: a rank that has failed gives up every later
 * call as well, and a team's number is not used again. */
#include <sched.h>

#include "base/clock.h"
#include "coll/instance.h"

#define NOTICE_LIMIT_US 1e6

/* Fields of the tag, above the signature. */
#define ANY_LANE                                                               \
    ((uint64_t)(CX_NLANES - 1) << (CX_TAG_CALL_BITS + CX_TAG_SIG_BITS))
#define ANY_CALL (((UINT64_C(1) << CX_TAG_CALL_BITS) - 1) << CX_TAG_SIG_BITS)
#define ANY_SOURCE                                                             \
    (((UINT64_C(1) << CX_TAG_RANK_BITS) - 1)                                   \
     << (CX_TAG_LANE_BITS + CX_TAG_CALL_BITS + CX_TAG_SIG_BITS))

static int source_of(uint64_t tag)
{
    return (int)((tag & ANY_SOURCE) >>
                 (CX_TAG_LANE_BITS + CX_TAG_CALL_BITS + CX_TAG_SIG_BITS));
}

int cx_run_given_up(const struct cx_instance *inst, const struct cx_run *run,
                    int *rank)
{
    uint64_t tag = cx_run_tag(run, 0, 0, CX_SIG_FAILED), found;

    /* Who has given up an earlier call gives up this one too. */
    if (!inst->io.wire_ops->probe(inst->io.wire, tag,
                                  ~(ANY_LANE | ANY_SOURCE | ANY_CALL), &found))
        return 0;
    *rank = source_of(found);
    return 1;
}

void cx_instance_listen(struct cx_instance *inst)
{
    int rank;

    if (inst->state == CX_INST_RUNNING &&
        cx_run_given_up(inst, &inst->run, &rank))
        cx_instance_fail(inst, CX_ERR_PEER, CX_GAVE_UP, rank);
}

static void tell(struct cx_instance *inst, const struct cx_run *run, int peer,
                 unsigned nlanes)
{
    const struct cx_wire_ops *ops = inst->io.wire_ops;
    struct cx_sent *sent = &inst->sent[peer];

    for (unsigned lane = 0; lane < CX_NLANES; lane++)
        sent->notices[lane].status = CX_OK;
    for (unsigned lane = 0; lane < nlanes; lane++)
        ops->send(inst->io.wire, inst->peers[peer],
                  cx_run_tag(run, inst->plan->shape.rank, lane, CX_SIG_FAILED),
                  "", 0, &sent->notices[lane]);
    sent->noticed = 0;
    sent->flush.status = CX_OK;
}

/* Has a notice to this peer not left? */
static int is_telling(struct cx_instance *inst, int peer)
{
    struct cx_sent *sent = &inst->sent[peer];

    for (unsigned lane = 0; lane < CX_NLANES; lane++)
        if (sent->notices[lane].status == CX_INPROGRESS)
            return 1;
    if (!sent->noticed)
        inst->io.wire_ops->flush(inst->io.wire, inst->peers[peer],
                                 &sent->flush);
    sent->noticed = 1;
    return sent->flush.status == CX_INPROGRESS;
}

static void cancel(struct cx_instance *inst, struct cx_sent *sent)
{
    const struct cx_wire_ops *ops = inst->io.wire_ops;

    if (sent->flush.status == CX_INPROGRESS)
        (void)ops->cancel(inst->io.wire, &sent->flush);
    for (unsigned lane = 0; lane < CX_NLANES; lane++)
        if (sent->notices[lane].status == CX_INPROGRESS)
            (void)ops->cancel(inst->io.wire, &sent->notices[lane]);
}

/* Did a message of this chain that has come say that its sender gave up? */
static int has_told(const struct cx_instance *inst, const struct cx_tile *tile,
                    uint32_t chain)
{
    const struct cx_req *reqs = &tile->reqs[inst->plan->chains[chain].first];
    const struct cx_chain_state *state = &tile->chains[chain];

    for (uint32_t i = state->done; i < state->posted; i++)
        if (reqs[i].status == CX_OK && reqs[i].nbytes == 0 &&
            (reqs[i].tag & CX_SIG_MASK) == CX_SIG_FAILED)
            return 1;
    return 0;
}

/* Has everything come from this receive peer, or its word that it gave up? */
static int is_even(const struct cx_instance *inst, uint32_t chain)
{
    int all = inst->next_tile == inst->low.ntiles;

    for (size_t t = inst->oldest; t < inst->next_tile; t++) {
        struct cx_tile *tile = &inst->tiles[t % (size_t)inst->low.depth];

        if (tile->stage == CX_TILE_LOAD)
            all = 0;
        if (tile->stage != CX_TILE_RUN)
            continue;
        if (has_told(inst, tile, chain))
            return 1;
        if (tile->chains[chain].done < inst->plan->chains[chain].n)
            all = 0;
    }
    return all;
}

/* Before the call is aborted: who has still to send? */
static void note_debts(struct cx_instance *inst)
{
    const struct cx_plan *plan = inst->plan;
    int begun = inst->state != CX_INST_IDLE;

    for (int i = 0; i < plan->nneighbours; i++)
        inst->sent[i].owes = 0;
    for (int i = 0; i < plan->nrecv; i++)
        inst->sent[plan->recv_at[i]].owes =
            !begun || !is_even(inst, (uint32_t)(plan->nsend + i));
}

/* Did the wire refuse a message to this neighbour? */
static int is_mute(const struct cx_sent *sent)
{
    for (unsigned lane = 0; lane < CX_NLANES; lane++)
        if (sent->notices[lane].status < 0)
            return 1;
    return 0;
}

int cx_instance_give_up(struct cx_instance *inst, const struct cx_run *run)
{
    unsigned nlanes = inst->state == CX_INST_IDLE ? 1 : CX_NLANES;
    int n = inst->plan->nneighbours, nsend = inst->plan->nsend, told = 0;
    double until = cx_now_us() + NOTICE_LIMIT_US;
    int mute = 0;

    note_debts(inst);
    cx_instance_abort(inst);
    for (int i = 0; i < n; i++)
        tell(inst, run, i, i < nsend ? nlanes : 1);
    while (told < n && cx_now_us() < until) {
        if (!is_telling(inst, told))
            told++;
        else if (inst->io.wire_ops->progress(inst->io.wire) == 0)
            sched_yield();
    }
    for (int i = 0; i < n; i++)
        mute |= is_mute(&inst->sent[i]);
    for (; told < n; told++)
        cancel(inst, &inst->sent[told]);
    return !mute;
}

void cx_instance_discard(struct cx_instance *inst, const struct cx_run *run)
{
    (void)inst->io.wire_ops->discard(
        inst->io.wire, cx_run_tag(run, 0, 0, cx_run_signature(run)),
        ~(ANY_LANE | ANY_SOURCE));
}

int cx_instance_is_awaited(struct cx_instance *inst, const struct cx_run *run)
{
    int n = inst->plan->nneighbours;
    uint64_t found;

    for (int i = 0; i < n; i++) {
        struct cx_sent *sent = &inst->sent[i];
        int rank = inst->plan->neighbours[i];

        if (sent->owes &&
            !inst->io.wire_ops->probe(inst->io.wire,
                                      cx_run_tag(run, rank, 0, CX_SIG_FAILED),
                                      ~ANY_LANE, &found))
            return 1;
        sent->owes = 0;
    }
    return 0;
}
