/* SPDX-License-Identifier: BSD-3-Clause */
/* planned.c - the plan cache of a team. A miss happens on all ranks at once
 * (its key is made of agreed facts), so it may be collective: the ranks that
 * the plan connects exchange their addresses along its edges, and all agree
 * that everybody could build it before anybody sends. */
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

/* This process's address as a blob of the team's length. */
static char *make_blob(const struct cx_team *team)
{
    const struct cx_io *io = &cx_process.io;
    char *blob = cx_alloc(team->blob_bytes, 1);
    size_t nbytes;
    const void *address = io->wire_ops->address(io->wire, &nbytes);
    uint32_t length = (uint32_t)nbytes;

    if (blob == NULL)
        return NULL;
    memcpy(blob, &length, sizeof(length));
    memcpy(blob + sizeof(length), address, nbytes);
    return blob;
}

static enum cx_status get_peers(struct cx_team *team,
                                struct cx_planned *planned, const char *blobs)
{
    const struct cx_io *io = &cx_process.io;
    enum cx_status status = CX_OK;
    uint32_t length;
    int i;

    cx_lock();
    for (i = 0; i < planned->npeers && status == CX_OK; i++) {
        const char *blob = blobs + (size_t)i * team->blob_bytes;

        memcpy(&length, blob, sizeof(length));
        if (length > team->blob_bytes - sizeof(length))
            status = CX_ERR_WIRE;
        else
            status = io->wire_ops->peer_get(io->wire, blob + sizeof(length),
                                            length, &planned->peers[i]);
    }
    cx_unlock();
    return status;
}

/* Even a rank that failed takes part: the others wait for its share. */
static enum cx_status exchange(struct cx_team *team, struct cx_planned *planned)
{
    struct cx_exchange ex = {.nbytes = team->blob_bytes};
    char *blobs, *mine = make_blob(team);
    struct cx_mpi_req req;
    enum cx_status status = CX_ERR_NOMEM;

    ex.to = cx_plan_recv_peers(planned->plan, &ex.nto);
    ex.from = cx_plan_send_peers(planned->plan, &ex.nfrom);
    blobs = cx_alloc((size_t)ex.nfrom, team->blob_bytes);
    ex.mine = mine;
    ex.theirs = blobs;
    if (mine != NULL && blobs != NULL) {
        cx_lock();
        status = cx_process.svc->iexchange(team->comm, &ex, &req);
        cx_unlock();
        if (status == CX_OK)
            status = cx_mpi_wait(team, &req, "exchanging addresses");
    }
    if (status == CX_OK)
        status = get_peers(team, planned, blobs);
    cx_free(mine);
    cx_free(blobs);
    return status;
}

/* All ranks go on, or none: CX_DECLINED on all when one has failed. */
static enum cx_status all_of_us(struct cx_team *team,
                                const struct cx_planned *planned,
                                enum cx_status local)
{
    int64_t failed = local == CX_OK ? INT64_MAX : team->rank;
    enum cx_status status =
        cx_team_allreduce(team, &failed, 1, CX_AGREE_MIN, "making a plan");

    if (status != CX_OK)
        return status;
    if (failed == team->rank)
        cx_warn("cannot build the %s plan here (%s): this call is left to MPI "
                "on all ranks",
                planned->algorithm->name, cx_status_str(local));
    return failed == INT64_MAX ? CX_OK : CX_DECLINED;
}

static enum cx_status build(struct cx_team *team, struct cx_planned *planned)
{
    struct cx_shape shape = {team->rank, team->size, planned->root};
    enum cx_status status;

    status = planned->algorithm->generate(&shape, &planned->plan);
    if (status == CX_OK) {
        cx_plan_send_peers(planned->plan, &planned->npeers);
        planned->peers = cx_alloc((size_t)planned->npeers, sizeof(void *));
        status = planned->peers != NULL ? CX_OK : CX_ERR_NOMEM;
        if (status != CX_OK)
            planned->npeers = 0;
    }
    status = all_of_us(team, planned, status);
    if (status != CX_OK)
        return status;
    status = team->size > 1 ? exchange(team, planned) : CX_OK;
    if (status == CX_OK)
        status = cx_instance_create(planned->plan, &cx_process.io,
                                    planned->peers, &planned->instance);
    return all_of_us(team, planned, status);
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
