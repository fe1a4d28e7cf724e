/* SPDX-License-Identifier: BSD-3-Clause */
/* agree.c - all ranks of a communicator decide together what Coax does on it.
 *
 * One small allreduce of minima at the communicator's first collective. What
 * one rank decides alone must never pick the wire protocol (design rule 3), so
 * every branch below depends on agreed values only, but for what is printed. */
#include "pmpi/front.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"

/* The word, reduced by MIN. A rank number stands for "the lowest rank that has
 * this trouble", NOBODY for none; x and -x together give minimum and maximum;
 * -flag gives "any". */
enum word {
    OFF_RANK,       /* COAX=off */
    ON_ANY,         /* -1: some rank is on */
    NO_ENGINE_RANK, /* no engine library beside libcoax.so */
    PROBLEM_RANK,   /* bad COAX_* variables, not yet reported */
    BUILD_MIN,
    BUILD_MAX,
    SETTINGS_MIN,
    SETTINGS_MAX,
    GPU_ANY,
    CUDA_ANY,
    DEBUG_MAX,
    NWORDS
};

#define NOBODY INT64_MAX

static int64_t hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325ull;

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
    return (int64_t)(hash >> 1); /* positive, so that its negative exists */
}

static void fill_word(const struct cx_comm *c, int64_t *word)
{
    const struct cx_settings *s = &cx_front.settings;
    int64_t build = hash_text(COAX_BUILD_ID);
    int64_t settings = (int64_t)(s->hash >> 1);
    int problem = s->nproblems > 0 && !cx_front.problems_reported;

    word[OFF_RANK] = s->enabled ? NOBODY : c->rank;
    word[ON_ANY] = -s->enabled;
    word[NO_ENGINE_RANK] = cx_engine_present() ? NOBODY : c->rank;
    word[PROBLEM_RANK] = problem ? c->rank : NOBODY;
    word[BUILD_MIN] = build;
    word[BUILD_MAX] = -build;
    word[SETTINGS_MIN] = settings;
    word[SETTINGS_MAX] = -settings;
    word[GPU_ANY] = -cx_front.node_has_gpu;
    word[CUDA_ANY] = -cx_front_libcuda();
    word[DEBUG_MAX] = -s->debug;
}

/* The lowest rank whose `mine` differs from rank 0's; collective. */
static int differing_rank(struct cx_comm *c, int64_t mine)
{
    int64_t first = c->rank == 0 ? mine : INT64_MAX;
    int64_t who;

    if (cx_allreduce_wait(c, &first, 1, CX_AGREE_MIN) != CX_OK)
        return -1;
    who = mine == first ? NOBODY : c->rank;
    if (cx_allreduce_wait(c, &who, 1, CX_AGREE_MIN) != CX_OK)
        return -1;
    return who == NOBODY ? -1 : (int)who;
}

/* Said once a process, by the communicator's first rank. */
static void say_off(const struct cx_comm *c, const char *what, int rank)
{
    static int said;

    if (c->rank == 0 && !said)
        cx_warn("%s on rank %d: Coax leaves collectives to MPI on all ranks",
                what, rank);
    said = 1;
}

/* Without the engine, but with GPUs: device buffers must still be staged. */
static void stay_out(struct cx_comm *c, const int64_t *word, const char *reason)
{
    c->state = word[GPU_ANY] != 0 ? CX_COMM_STAGE : CX_COMM_OFF;
    c->reason = reason;
}

/* 1 when some rank's situation keeps the engine out for good. */
static int refused(struct cx_comm *c, const int64_t *word)
{
    const char *what = NULL, *reason = NULL;
    int rank = -1;

    if (word[OFF_RANK] != NOBODY) {
        reason = "COAX=off";
        rank = (int)word[OFF_RANK];
        if (word[ON_ANY] != 0) /* all off: that is what the user wants */
            what = "COAX=off";
    } else if (word[NO_ENGINE_RANK] != NOBODY) {
        what = reason = CX_ENGINE_LIBRARY " is missing beside libcoax.so";
        rank = (int)word[NO_ENGINE_RANK];
    } else if (word[BUILD_MIN] != -word[BUILD_MAX]) {
        what = reason = "another build of Coax";
        rank = differing_rank(c, hash_text(COAX_BUILD_ID));
    } else if (word[SETTINGS_MIN] != -word[SETTINGS_MAX]) {
        what = reason = "other COAX_* settings than rank 0";
        rank = differing_rank(c, (int64_t)(cx_front.settings.hash >> 1));
    } else {
        return 0;
    }
    if (what != NULL)
        say_off(c, what, rank);
    stay_out(c, word, reason);
    return 1;
}

static const char *scope_name(void)
{
    static const char *const names[] = {"auto", "device", "all"};

    return names[cx_front.settings.scope];
}

/* The one line at COAX_DEBUG=info; collective, when any rank asked for it. */
static void say_info(struct cx_comm *c)
{
    static int said;
    MPI_Comm node = MPI_COMM_NULL;
    int64_t nodes = 0;
    int node_rank = 0;
    char text[512];

    if (said)
        return;
    said = 1;
    if (cx_mpi.Comm_split_type(c->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                               &node) == MPI_SUCCESS) {
        cx_mpi.Comm_rank(node, &node_rank);
        cx_mpi.Comm_free(&node);
        nodes = node_rank == 0;
    }
    if (cx_allreduce_wait(c, &nodes, 1, CX_AGREE_SUM) != CX_OK)
        return;
    cx_engine()->describe(text, sizeof(text));
    if (c->rank == 0)
        cx_info("coax %s: %d ranks on %d node%s, %s, scope %s", COAX_BUILD_ID,
                c->size, (int)nodes, nodes == 1 ? "" : "s", text, scope_name());
}

/* Engine loaded on all ranks and a team made on all, or on none. */
static void engage(struct cx_comm *c, const int64_t *word)
{
    struct cx_team_params params = {
        .comm = c,
        .rank = c->rank,
        .size = c->size,
        .timeout_s = (double)cx_front.settings.timeout_s,
    };
    const struct cx_engine_api *engine = cx_engine();
    int64_t failed = engine != NULL ? NOBODY : c->rank;
    enum cx_status status = cx_allreduce_wait(c, &failed, 1, CX_AGREE_MIN);

    if (status != CX_OK || failed != NOBODY) {
        say_off(c, "the engine cannot be loaded", (int)failed);
        stay_out(c, word, "engine cannot be loaded");
        return;
    }
    status = engine->team_create(&params, &c->team);
    if (status == CX_OK) {
        c->state = CX_COMM_ENGAGED;
        if (-word[DEBUG_MAX] >= CX_LOG_INFO)
            say_info(c);
    } else if (status == CX_ERR_CONFIG) {
        c->state = CX_COMM_BROKEN;
    } else {
        stay_out(c, word, "engine could not start");
    }
}

void cx_agree(struct cx_comm *c)
{
    int64_t word[NWORDS];

    fill_word(c, word);
    if (cx_allreduce_wait(c, word, NWORDS, CX_AGREE_MIN) != CX_OK) {
        c->state = CX_COMM_STAGE;
        c->reason = "agreement failed";
        return;
    }
    if (word[PROBLEM_RANK] != NOBODY) {
        if (word[PROBLEM_RANK] == c->rank)
            cx_warn("%s", cx_front.settings.problem);
        cx_front.problems_reported = 1;
    }
    if (refused(c, word))
        return;
    if (cx_front.settings.scope != CX_SCOPE_ALL && word[GPU_ANY] == 0) {
        c->state = CX_COMM_OFF;
        c->reason = "no GPU in the job";
    } else if (cx_front.settings.scope != CX_SCOPE_ALL && word[CUDA_ANY] == 0) {
        c->state = CX_COMM_ASLEEP;
        c->reason = "no rank uses a GPU yet";
    } else {
        engage(c, word);
    }
}
