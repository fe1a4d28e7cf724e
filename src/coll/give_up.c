/* SPDX-License-Identifier: BSD-3-Clause */
/* give_up.c - a rank that cannot go on tells the ranks that it sends to.
 *
 * Messages of one source, lane and call arrive in the order sent, so an empty
 * one with a signature of its own takes the place of whatever the peer expects
 * next. In a call that was begun any tile may be the one that the peer is at,
 * hence one message a lane; in one that was not, the first tile comes first.
 * Those that find no receive stay with the peer's wire. No later call of the
 * team mistakes them for its own: a rank that has failed gives up every later
 * call as well, and a team's number is not used again. */
#include <sched.h>

#include "base/clock.h"
#include "coll/instance.h"

#define NOTICE_LIMIT_US 1e6

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
    ops->flush(inst->io.wire, inst->peers[peer], &sent->flush);
}

/* Has a notice to this peer not left? */
static int is_telling(const struct cx_sent *sent)
{
    for (unsigned lane = 0; lane < CX_NLANES; lane++)
        if (sent->notices[lane].status == CX_INPROGRESS)
            return 1;
    return sent->flush.status == CX_INPROGRESS;
}

static void cancel(struct cx_instance *inst, struct cx_sent *sent)
{
    const struct cx_wire_ops *ops = inst->io.wire_ops;

    if (sent->flush.status == CX_INPROGRESS)
        ops->cancel(inst->io.wire, &sent->flush);
    for (unsigned lane = 0; lane < CX_NLANES; lane++)
        if (sent->notices[lane].status == CX_INPROGRESS)
            ops->cancel(inst->io.wire, &sent->notices[lane]);
}

void cx_instance_give_up(struct cx_instance *inst, const struct cx_run *run)
{
    unsigned nlanes = inst->state == CX_INST_IDLE ? 1 : CX_NLANES;
    int nsend = inst->plan->nsend, told = 0;
    double until = cx_now_us() + NOTICE_LIMIT_US;

    cx_instance_abort(inst);
    for (int i = 0; i < nsend; i++)
        tell(inst, run, i, nlanes);
    while (told < nsend && cx_now_us() < until) {
        if (!is_telling(&inst->sent[told]))
            told++;
        else if (inst->io.wire_ops->progress(inst->io.wire) == 0)
            sched_yield();
    }
    for (; told < nsend; told++)
        cancel(inst, &inst->sent[told]);
}
