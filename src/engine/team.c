/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c - a team is a rank map and an id; endpoints and memory belong to the
 * process. Making one is a single small allreduce, whatever the size. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "engine/engine.h"
#include "ucx/ucx.h"

#define TEAM_IDS ((int64_t)1 << CX_TAG_TEAM_BITS)
#define NOBODY INT64_MAX

/* Reduced by MIN. */
enum { FAILED_RANK, NEXT_TEAM, BLOB_BYTES, WRONG, NWORDS = WRONG + CX_NREDOPS };

static const char *algorithm_name(enum cx_func func, int i)
{
    int k;

    for (k = 0; cx_algorithms[k] != NULL; k++) {
        if (cx_algorithms[k]->func == func && i-- == 0)
            return cx_algorithms[k]->name;
    }
    return NULL;
}

/* COAX_ALGO is equal on all ranks: all of them refuse it, one of them says. */
static enum cx_status need_chooser(int rank)
{
    const struct cx_settings *s = &cx_process.settings;
    char why[512];
    enum cx_status status;

    if (cx_process.chooser != NULL)
        return CX_OK;
    status = cx_chooser_create(s->algo, s->small, algorithm_name, why,
                               sizeof(why), &cx_process.chooser);
    if (status == CX_ERR_CONFIG && rank == 0)
        cx_error("%s", why);
    return status;
}

static enum cx_status need_wire(void)
{
    struct cx_io *io = &cx_process.io;

    if (io->wire != NULL)
        return CX_OK;
    io->wire_ops = &cx_ucx_ops;
    return cx_ucx_create(cx_process.settings.net_devices, &io->wire);
}

static size_t blob_bytes(void)
{
    const struct cx_io *io = &cx_process.io;
    size_t nbytes = 0;

    if (io->wire != NULL)
        io->wire_ops->address(io->wire, &nbytes);
    return nbytes + sizeof(uint32_t);
}

static int id_in_use(uint32_t id)
{
    const struct cx_team *team;

    for (team = cx_process.teams; team != NULL; team = team->next) {
        if (team->id == id)
            return 1;
    }
    return 0;
}

/* Ids count up, so two teams that share a process never share an id. Once they
 * wrap, the ranks check together that nobody still uses the next one. */
static enum cx_status agree_id(struct cx_team *team, int64_t next)
{
    enum cx_status status = CX_OK;
    int64_t taken = next >= TEAM_IDS;

    while (status == CX_OK && taken) {
        taken = id_in_use((uint32_t)(next % TEAM_IDS));
        status = cx_team_allreduce(team, &taken, 1, CX_AGREE_MAX,
                                   "agreeing on a team id");
        next += taken;
    }
    team->id = (uint32_t)(next % TEAM_IDS);
    cx_process.next_team = next + 1;
    return status;
}

/* One int64 an operation: a bit for each type on which MPI is right. */
static void pack_wrong(const struct cx_team *team, int64_t *words, int op)
{
    int dtype;

    words[op] = 0;
    for (dtype = 0; dtype < CX_NDTYPES; dtype++) {
        if (team->mpi_wrong[op][dtype])
            words[op] |= (int64_t)1 << dtype;
    }
}

/* `team->mpi_wrong` becomes "wrong on some rank": the self-test gives the same
 * on every rank with the same MPI, else the differing bits are all set. */
static enum cx_status agree_wrong(struct cx_team *team, const int64_t *min)
{
    int64_t mine[CX_NREDOPS], max[CX_NREDOPS];
    enum cx_status status;
    int op, dtype;

    for (op = 0; op < CX_NREDOPS; op++)
        pack_wrong(team, mine, op);
    memcpy(max, mine, sizeof(max));
    status = cx_team_allreduce(team, max, CX_NREDOPS, CX_AGREE_MAX,
                               "agreeing on the self-test");
    for (op = 0; op < CX_NREDOPS && status == CX_OK; op++) {
        for (dtype = 0; dtype < CX_NDTYPES; dtype++) {
            int64_t bits = max[op] | (max[op] != min[op] ? ~(int64_t)0 : 0);

            team->mpi_wrong[op][dtype] = (bits >> dtype) & 1;
        }
    }
    return status;
}

static enum cx_status agree(struct cx_team *team, enum cx_status local)
{
    int64_t word[NWORDS];
    enum cx_status status;
    int op;

    word[FAILED_RANK] = local == CX_OK ? NOBODY : team->rank;
    word[NEXT_TEAM] = -cx_process.next_team;
    word[BLOB_BYTES] = -(int64_t)blob_bytes();
    for (op = 0; op < CX_NREDOPS; op++)
        pack_wrong(team, word + WRONG, op);
    status =
        cx_team_allreduce(team, word, NWORDS, CX_AGREE_MIN, "making a team");
    if (status != CX_OK)
        return status;
    if (word[FAILED_RANK] != NOBODY) {
        if (team->rank == 0)
            cx_warn("the engine cannot start on rank %lld: Coax leaves "
                    "collectives to MPI on all %d ranks",
                    (long long)word[FAILED_RANK], team->size);
        return CX_DECLINED;
    }
    team->blob_bytes = (size_t)-word[BLOB_BYTES];
    status = agree_wrong(team, word + WRONG);
    return status == CX_OK ? agree_id(team, -word[NEXT_TEAM]) : status;
}

enum cx_status cx_team_create(const struct cx_team_params *params,
                              struct cx_team **out)
{
    struct cx_team *team;
    enum cx_status status = need_chooser(params->rank);

    if (status == CX_ERR_CONFIG)
        return status;
    team = cx_alloc(1, sizeof(*team));
    if (team == NULL)
        return CX_ERR_NOMEM;
    team->comm = params->comm;
    team->rank = params->rank;
    team->size = params->size;
    team->timeout_s = params->timeout_s;
    if (status == CX_OK)
        status = need_wire();
    cx_selftest(team->mpi_wrong);
    status = agree(team, status);
    if (status != CX_OK) {
        cx_free(team);
        return status;
    }
    team->chooser = cx_process.chooser;
    cx_lock();
    team->next = cx_process.teams;
    cx_process.teams = team;
    cx_unlock();
    cx_debug("team %u: rank %d of %d", team->id, team->rank, team->size);
    *out = team;
    return CX_OK;
}

void cx_team_destroy(struct cx_team *team)
{
    struct cx_team **link = &cx_process.teams;
    int i;

    cx_lock();
    while (*link != NULL && *link != team)
        link = &(*link)->next;
    if (*link == team)
        *link = team->next;
    for (i = 0; i < CX_PLAN_SLOTS; i++)
        cx_planned_release(&team->plans[i]);
    cx_unlock();
    cx_free(team);
}
