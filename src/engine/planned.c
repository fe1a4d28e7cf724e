/* SPDX-License-Identifier: BSD-3-Clause */
/* planned.c - the plan cache of a team. A miss happens on all ranks at once
 * (its key is made of agreed facts), so it may be collective: the ranks that
 * the plan connects exchange their addresses along its edges, and all agree
 * that everybody could build it before anybody sends. */
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "engine/engine.h"

void cx_planned_release(struct cx_planned *planned)
{
    const struct cx_io *io = &cx_process.io;
    int i;

    if (planned->algorithm == NULL)
        return;
    if (planned->instance != NULL)
        cx_instance_destroy(planned->instance);
    for (i = 0; i < planned->npeers; i++) {
        if (planned->peers[i] != NULL)
            io->wire_ops->peer_put(io->wire, planned->peers[i]);
    }
    cx_free(planned->peers);
    if (planned->plan != NULL)
        cx_plan_destroy(planned->plan);
    memset(planned, 0, sizeof(*planned));
}

/* What the exchange of addresses needs, allocated before the ranks agree to
 * make it: one that failed within it would leave the others waiting. */
struct swap {
    char *mine, *theirs; /* blobs of the team's length; one a neighbour */
    int *counts;
};

static void swap_fini(struct swap *swap)
{
    cx_free(swap->mine);
    cx_free(swap->theirs);
    cx_free(swap->counts);
}

static enum cx_status swap_init(const struct cx_team *team, int n,
                                struct swap *swap)
{
    const struct cx_io *io = &cx_process.io;
    size_t nbytes;
    const void *address = io->wire_ops->address(io->wire, &nbytes);
    uint32_t length = (uint32_t)nbytes;

    swap->mine = cx_alloc(team->blob_bytes, 1);
    swap->theirs = cx_alloc((size_t)n, team->blob_bytes);
    swap->counts = cx_alloc(4 * (size_t)team->size, sizeof(int));
    if (swap->mine == NULL || swap->theirs == NULL || swap->counts == NULL)
        return CX_ERR_NOMEM;
    memcpy(swap->mine, &length, sizeof(length));
    memcpy(swap->mine + sizeof(length), address, nbytes);
    return CX_OK;
}

static enum cx_status get_peer(struct cx_planned *planned, int i,
                               const char *blob, size_t blob_bytes)
{
    const struct cx_io *io = &cx_process.io;
    enum cx_status status;
    uint32_t length;
    int nsend;

    cx_plan_send_peers(planned->plan, &nsend);
    memcpy(&length, blob, sizeof(length));
    if (length > blob_bytes - sizeof(length))
        return CX_ERR_WIRE;
    status = io->wire_ops->peer_get(io->wire, blob + sizeof(length), length,
                                    &planned->peers[i]);
    /* The ranks that this one only receives from are sent to when a call has
     * failed, so never by most programs. */
    if (status == CX_OK && i < nsend)
        status = io->wire_ops->connect(io->wire, planned->peers[i]);
    return status;
}

static enum cx_status get_peers(const struct cx_team *team,
                                struct cx_planned *planned, const char *blobs)
{
    enum cx_status status = CX_OK;
    int i;

    cx_lock();
    for (i = 0; i < planned->npeers && status == CX_OK; i++)
        status = get_peer(planned, i, blobs + (size_t)i * team->blob_bytes,
                          team->blob_bytes);
    cx_unlock();
    return status;
}

/* Along all edges of the plan, both ways: a rank that fails must be able to
 * tell also those that send to it. */
static enum cx_status exchange(struct cx_team *team, struct cx_planned *planned,
                               const struct swap *swap)
{
    struct cx_exchange ex = {.nbytes = team->blob_bytes,
                             .mine = swap->mine,
                             .theirs = swap->theirs,
                             .counts = swap->counts};
    struct cx_mpi_req req;
    enum cx_status status;

    ex.to = cx_plan_neighbours(planned->plan, &ex.nto);
    ex.from = ex.to;
    ex.nfrom = ex.nto;
    cx_lock();
    status = cx_process.svc->iexchange(team->comm, &ex, &req);
    cx_unlock();
    return status == CX_OK ? cx_mpi_wait(team, &req, "exchanging addresses")
                           : status;
}

/* All ranks go on, or none: CX_DECLINED on all when one has failed. `why` may
 * tell more than the status. */
static enum cx_status all_of_us(struct cx_team *team,
                                const struct cx_planned *planned,
                                enum cx_status local, const char *why)
{
    static atomic_int said; /* where it fails once it may fail at each call */
    int64_t failed = local == CX_OK ? INT64_MAX : team->rank;
    enum cx_status status =
        cx_team_allreduce(team, &failed, 1, CX_AGREE_MIN, "making a plan");

    if (status != CX_OK)
        return status;
    if (failed == team->rank)
        cx_log(atomic_exchange(&said, 1) ? CX_LOG_INFO : CX_LOG_WARN,
               "rank %d cannot build its %s plan (%s%s%s): calls like this one "
               "are left to MPI on all %d ranks",
               team->rank, planned->algorithm->name, cx_status_str(local),
               why[0] != '\0' ? ": " : "", why, team->size);
    return failed == INT64_MAX ? CX_OK : CX_DECLINED;
}

/* All that this rank needs before anything is sent. */
static enum cx_status prepare(const struct cx_team *team,
                              struct cx_planned *planned, struct swap *swap)
{
    struct cx_shape shape = {team->rank, team->size, planned->root};
    enum cx_status status =
        planned->algorithm->generate(&shape, &planned->plan);
    int n;

    if (status != CX_OK)
        return status;
    cx_plan_neighbours(planned->plan, &n);
    planned->peers = cx_alloc((size_t)n, sizeof(void *));
    if (planned->peers == NULL)
        return CX_ERR_NOMEM;
    planned->npeers = n;
    return swap_init(team, n, swap);
}

static enum cx_status connect(struct cx_team *team, struct cx_planned *planned,
                              const struct swap *swap, char *why, size_t n)
{
    enum cx_status status = CX_OK;

    if (team->size > 1) {
        status = exchange(team, planned, swap);
        if (status != CX_OK) /* MPI's own failure: no agreement is left */
            return status;
    }
    cx_log_hold(why, n);
    if (team->size > 1)
        status = get_peers(team, planned, swap->theirs);
    if (status == CX_OK)
        status = cx_instance_create(planned->plan, &cx_process.io,
                                    planned->peers, &planned->instance);
    cx_log_hold(NULL, 0);
    return all_of_us(team, planned, status, why);
}

static enum cx_status build(struct cx_team *team, struct cx_planned *planned)
{
    struct swap swap = {NULL, NULL, NULL};
    char why[512] = "";
    enum cx_status status;

    cx_log_hold(why, sizeof(why));
    status = prepare(team, planned, &swap);
    cx_log_hold(NULL, 0);
    status = all_of_us(team, planned, status, why);
    if (status == CX_OK)
        status = connect(team, planned, &swap, why, sizeof(why));
    swap_fini(&swap);
    return status;
}

static struct cx_planned *find(struct cx_team *team,
                               const struct cx_algorithm *algorithm, int root)
{
    int i;

    for (i = 0; i < CX_PLAN_SLOTS; i++) {
        if (team->plans[i].algorithm == algorithm &&
            team->plans[i].root == root)
            return &team->plans[i];
    }
    return NULL;
}

static struct cx_planned *oldest(struct cx_team *team)
{
    struct cx_planned *best = &team->plans[0];
    int i;

    for (i = 0; i < CX_PLAN_SLOTS; i++) {
        if (team->plans[i].algorithm == NULL)
            return &team->plans[i];
        if (team->plans[i].last_use < best->last_use)
            best = &team->plans[i];
    }
    return best;
}

enum cx_status cx_planned_get(struct cx_team *team,
                              const struct cx_algorithm *algorithm, int root,
                              struct cx_planned **out)
{
    struct cx_planned *planned = find(team, algorithm, root);
    enum cx_status status;

    if (planned == NULL) {
        planned = oldest(team);
        cx_lock();
        cx_planned_release(planned);
        cx_unlock();
        planned->algorithm = algorithm;
        planned->root = root;
        status = build(team, planned);
        if (status != CX_OK) {
            cx_lock();
            cx_planned_release(planned);
            cx_unlock();
            return status;
        }
    }
    planned->last_use = team->ncalls;
    *out = planned;
    return CX_OK;
}
