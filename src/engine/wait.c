/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.c - how the engine waits: it spins shortly, drives MPI every few dozen
 * spins (design rule 6), and yields when nothing happens, so that more ranks
 * than cores work well. */
#include <sched.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/engine.h"

enum {
    POKE_EVERY = 32,  /* turns between two pokes of MPI */
    SPIN_TURNS = 200, /* idle turns before the first yield */
    SPIN_SHARED = 8,  /* the same where others wait for this core */
    CLOCK_EVERY = 256
};

/* A yield that comes back at once costs well under a microsecond; one that lets
 * somebody else run takes a time slice. Then spinning only keeps the rank that
 * is waited for from running. Follows the last yields, so it adapts both ways;
 * how long a rank spins is nobody else's business. */
#define SHARED_US 3.0

static _Thread_local double yield_us;

static void yield_cpu(void)
{
    double before = cx_now_us();

    sched_yield();
    yield_us += (cx_now_us() - before - yield_us) * 0.25;
}

void cx_backoff_init(struct cx_backoff *b)
{
    *b = (struct cx_backoff){.start_us = cx_now_us()};
}

void cx_backoff_turn(struct cx_backoff *b, int busy)
{
    unsigned limit = yield_us > SHARED_US ? SPIN_SHARED : SPIN_TURNS;

    b->turns++;
    b->idle = busy ? 0 : b->idle + 1;
    if (b->turns % POKE_EVERY == 0 || b->idle == limit) {
        cx_lock();
        cx_process.svc->poke();
        cx_unlock();
    }
    if (b->idle > limit)
        yield_cpu();
}

int cx_backoff_late(struct cx_backoff *b, double limit_s)
{
    if (b->reported || b->turns % CLOCK_EVERY != 0 ||
        cx_now_us() - b->start_us < limit_s * 1e6)
        return 0;
    b->reported = 1;
    return 1;
}

enum cx_status cx_mpi_wait(struct cx_team *team, struct cx_mpi_req *req,
                           const char *what)
{
    struct cx_backoff backoff;
    enum cx_status status;

    cx_backoff_init(&backoff);
    for (;;) {
        cx_lock();
        status = cx_process.svc->test(req);
        cx_unlock();
        if (status != CX_INPROGRESS)
            return status;
        cx_backoff_turn(&backoff, 0);
        if (cx_backoff_late(&backoff, team->timeout_s))
            cx_warn("%s on %d ranks has waited for %.0f s: some rank has not "
                    "joined it",
                    what, team->size, team->timeout_s);
    }
}

enum cx_status cx_team_allreduce(struct cx_team *team, int64_t *values, int n,
                                 enum cx_agree_op op, const char *what)
{
    struct cx_mpi_req req;
    enum cx_status status;

    cx_lock();
    status = cx_process.svc->iallreduce(team->comm, values, n, op, &req);
    cx_unlock();
    return status == CX_OK ? cx_mpi_wait(team, &req, what) : status;
}
