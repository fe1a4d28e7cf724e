/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c - a team is a rank map and an id; endpoints and memory belong to the
 * process. Making one is a single small allreduce, whatever the size. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "engine/engine.h"
#include "ucx/ucx.h"

#define TEAM_IDS ((int64_t)1 << CX_TAG_TEAM_BITS)
#define NOBODY INT64_MAX

/* Reduced by MIN, then once more by MAX with FAILED_RANK meaning "id taken". */
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

/* What is one per process and made by the first team: the parsed COAX_ALGO,
 * the self-test, the wire. Two threads may make their first teams at once, so
 * under a lock of its own, held for local work only. A failure is kept: what
 * did not start once is not tried, and not reported, again. */
static struct {
    pthread_mutex_t lock;
    int done;
    enum cx_status chooser, wire;
    unsigned char wrong[CX_NREDOPS][CX_NDTYPES];
    char why[1024]; /* what was logged when the start failed */
} start = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void start_process(void)
{
    const struct cx_settings *s = &cx_process.settings;
    struct cx_io *io = &cx_process.io;
    char why[512];

    start.chooser = cx_chooser_create(s->algo, s->small, algorithm_name, why,
                                      sizeof(why), &cx_process.chooser);
    if (start.chooser != CX_OK) {
        snprintf(start.why, sizeof(start.why), "%s",
                 start.chooser == CX_ERR_CONFIG ? why
                                                : cx_status_str(start.chooser));
        return;
    }
    cx_selftest(start.wrong);
    cx_log_hold(start.why, sizeof(start.why));
    io->wire_ops = &cx_ucx_ops;
    start.wire = cx_ucx_create(s->net_devices, &io->wire);
    cx_log_hold(NULL, 0);
}

static void need_process(void)
{
    pthread_mutex_lock(&start.lock);
    if (!start.done)
        start_process();
    start.done = 1;
    pthread_mutex_unlock(&start.lock);
}

enum cx_status cx_settings_check(char *why, size_t n)
{
    struct cx_chooser *chooser = NULL;
    enum cx_status status = cx_chooser_create(cx_process.settings.algo, 0,
                                              algorithm_name, why, n, &chooser);

    cx_chooser_destroy(chooser);
    return status;
}

static size_t blob_bytes(void)
{
    const struct cx_io *io = &cx_process.io;
    size_t nbytes = 0;

    if (io->wire != NULL)
        io->wire_ops->address(io->wire, &nbytes);
    return nbytes + sizeof(uint32_t);
}

/* Ids count up, but two threads may make two teams of the same processes at
 * once, and ids wrap: so an id is taken tentatively, and kept only when it was
 * free on every rank. */
static int take_id(struct cx_team *team, int64_t id)
{
    struct cx_team *other;
    int taken = 0;

    cx_lock();
    team->id = (uint32_t)(id % TEAM_IDS);
    for (other = cx_process.teams; other != NULL; other = other->next)
        taken |= other->id == team->id;
    team->next = cx_process.teams;
    cx_process.teams = team;
    if (cx_process.next_team <= id)
        cx_process.next_team = id + 1;
    cx_unlock();
    return taken;
}

static void unlink_team(struct cx_team *team)
{
    struct cx_team **link = &cx_process.teams;

    cx_lock();
    while (*link != NULL && *link != team)
        link = &(*link)->next;
    if (*link == team)
        *link = team->next;
    cx_unlock();
}

static int64_t propose_id(void)
{
    int64_t id;

    cx_lock();
    id = cx_process.next_team++;
    cx_unlock();
    return id;
}

/* One int64 an operation: a bit for each type on which MPI is wrong. */
_Static_assert(CX_NDTYPES <= 63, "one bit a type");
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
 * on every rank with the same MPI, else all types of the operation count as
 * wrong. */
static void merge_wrong(struct cx_team *team, const int64_t *min,
                        const int64_t *max)
{
    int op, dtype;

    for (op = 0; op < CX_NREDOPS; op++) {
        int64_t bits = max[op] | (max[op] != min[op] ? ~(int64_t)0 : 0);

        for (dtype = 0; dtype < CX_NDTYPES; dtype++)
            team->mpi_wrong[op][dtype] = (bits >> dtype) & 1;
    }
}

/* The lowest rank that failed says it, with its cause, once. */
static void say_declined(const struct cx_team *team, enum cx_status local)
{
    static atomic_int said;

    if (!atomic_exchange(&said, 1))
        cx_warn("%s: the engine cannot start on rank %d, Coax leaves "
                "collectives to MPI on all %d ranks",
                start.why[0] != '\0' ? start.why : cx_status_str(local),
                team->rank, team->size);
}

/* One try: CX_OK, CX_INPROGRESS when the id was taken somewhere (the team is
 * not linked then), CX_DECLINED when some rank cannot start. */
static enum cx_status agree(struct cx_team *team, enum cx_status local)
{
    int64_t min[NWORDS], max[NWORDS];
    enum cx_status status;
    int op;

    memset(min, 0, sizeof(min));
    min[FAILED_RANK] = local == CX_OK ? NOBODY : team->rank;
    min[NEXT_TEAM] = -propose_id();
    min[BLOB_BYTES] = -(int64_t)blob_bytes();
    for (op = 0; op < CX_NREDOPS; op++)
        pack_wrong(team, min + WRONG, op);
    memcpy(max, min, sizeof(max));
    status =
        cx_team_allreduce(team, min, NWORDS, CX_AGREE_MIN, "making a team");
    if (status != CX_OK)
        return status;
    if (min[FAILED_RANK] != NOBODY) {
        if (team->rank == min[FAILED_RANK])
            say_declined(team, local);
        return CX_DECLINED;
    }
    team->blob_bytes = (size_t)-min[BLOB_BYTES];
    max[FAILED_RANK] = take_id(team, -min[NEXT_TEAM]);
    status =
        cx_team_allreduce(team, max, NWORDS, CX_AGREE_MAX, "making a team");
    if (status == CX_OK && max[FAILED_RANK] == 0) {
        merge_wrong(team, min + WRONG, max + WRONG);
        return CX_OK;
    }
    unlink_team(team);
    return status == CX_OK ? CX_INPROGRESS : status;
}

enum cx_status cx_team_create(const struct cx_team_params *params,
                              struct cx_team **out, char *why, size_t n)
{
    struct cx_team *team, stand_in;
    enum cx_status status, local = CX_OK;

    need_process();
    if (start.chooser == CX_ERR_CONFIG) {
        snprintf(why, n, "%s", start.why);
        return start.chooser; /* on all ranks: COAX_ALGO is equal */
    }
    team = cx_alloc(1, sizeof(*team));
    if (team == NULL) { /* the others are about to agree: tell them there */
        memset(&stand_in, 0, sizeof(stand_in));
        team = &stand_in;
        local = CX_ERR_NOMEM;
    }
    if (start.chooser != CX_OK)
        local = start.chooser;
    else if (start.wire != CX_OK)
        local = start.wire;
    team->comm = params->comm;
    team->rank = params->rank;
    team->size = params->size;
    team->timeout_s = params->timeout_s;
    memcpy(team->mpi_wrong, start.wrong, sizeof(start.wrong));
    do {
        status = agree(team, local);
    } while (status == CX_INPROGRESS);
    if (status != CX_OK) {
        if (team != &stand_in)
            cx_free(team);
        return status;
    }
    team->chooser = cx_process.chooser;
    cx_debug("team %u: rank %d of %d", team->id, team->rank, team->size);
    *out = team;
    return CX_OK;
}

void cx_team_destroy(struct cx_team *team)
{
    int i;

    unlink_team(team);
    cx_lock();
    for (i = 0; i < CX_PLAN_SLOTS; i++)
        cx_planned_release(&team->plans[i]);
    cx_unlock();
    cx_free(team);
}
