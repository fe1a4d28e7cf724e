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
    PROBLEM_RANK,   /* bad COAX_* variables; by rank in the world */
    WORLD_MIN,      /* lowest rank in the world of all members */
    FORCED_ANY,     /* -1: some rank has COAX_ALGO */
    INFO_UNSAID,    /* 1: no member has seen the info line */
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

static int info_said; /* agreed before it is looked at */

static void fill_word(const struct cx_comm *c, int64_t *word)
{
    const struct cx_settings *s = &cx_front.settings;
    int64_t build = hash_text(COAX_BUILD_ID);
    int64_t settings = (int64_t)(s->hash >> 1);

    word[OFF_RANK] = s->enabled ? NOBODY : c->rank;
    word[ON_ANY] = -s->enabled;
    word[NO_ENGINE_RANK] = cx_engine_present() ? NOBODY : c->rank;
    word[PROBLEM_RANK] = s->nproblems > 0 ? cx_front.world_rank : NOBODY;
    word[WORLD_MIN] = cx_front.world_rank;
    word[FORCED_ANY] = -(s->algo != NULL && s->algo[0] != '\0');
    word[INFO_UNSAID] = !info_said;
    word[BUILD_MIN] = build;
    word[BUILD_MAX] = -build;
    word[SETTINGS_MIN] = settings;
    word[SETTINGS_MAX] = -settings;
    word[GPU_ANY] = -cx_front.node_has_gpu;
    word[CUDA_ANY] = -cx_front_libcuda();
    word[DEBUG_MAX] = -s->debug;
}

/* Rank 0 of the job has reported its own settings when MPI came up. What only
 * others have is said by the lowest of them, at the first agreement of all. */
static void say_problems(const struct cx_comm *c, const int64_t *word)
{
    static int said;

    if (said || c->size != cx_front.world_size)
        return;
    said = 1;
    if (word[PROBLEM_RANK] > 0 && word[PROBLEM_RANK] == cx_front.world_rank)
        cx_warn("%s", cx_front.settings.problem);
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

/* One line a job: rank 0 of the world speaks where it is a member; else the
 * rank that has the trouble. */
static void say_off(const struct cx_comm *c, const int64_t *word,
                    const char *what, int rank)
{
    static int said;
    int speaks =
        word[WORLD_MIN] == 0 ? cx_front.world_rank == 0 : c->rank == rank;

    if (speaks && !said && c->state == CX_COMM_BROKEN)
        cx_error("%s on rank %d: COAX_ALGO cannot be obeyed, so collectives "
                 "are errors; mend it or unset COAX_ALGO",
                 what, rank);
    else if (speaks && !said)
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

/* The engine cannot be had, though nobody switched it off: an error where the
 * user has forced an algorithm, never a silent fallback. */
static void go_without(struct cx_comm *c, const int64_t *word,
                       const char *reason)
{
    stay_out(c, word, reason);
    if (word[FORCED_ANY] != 0)
        c->state = CX_COMM_BROKEN;
}

/* 1 when some rank's situation keeps the engine out for good. */
static int refused(struct cx_comm *c, const int64_t *word)
{
    const char *what = NULL;
    int rank = -1;

    if (word[OFF_RANK] != NOBODY) {
        what = "COAX=off";
        rank = (int)word[OFF_RANK];
        stay_out(c, word, what);
    } else if (word[NO_ENGINE_RANK] != NOBODY) {
        what = CX_ENGINE_LIBRARY " is missing beside libcoax.so";
        rank = (int)word[NO_ENGINE_RANK];
        go_without(c, word, what);
    } else if (word[BUILD_MIN] != -word[BUILD_MAX]) {
        what = "another build of Coax";
        rank = differing_rank(c, hash_text(COAX_BUILD_ID));
        go_without(c, word, what);
    } else if (word[SETTINGS_MIN] != -word[SETTINGS_MAX]) {
        what = "other COAX_* settings than rank 0";
        rank = differing_rank(c, (int64_t)(cx_front.settings.hash >> 1));
        stay_out(c, word, what);
    } else {
        return 0;
    }
    /* COAX=off everywhere is what the user wants: nothing to say. */
    if (word[OFF_RANK] == NOBODY || word[ON_ANY] != 0)
        say_off(c, word, what, rank);
    return 1;
}

/* COAX_ALGO names what does not exist; known to all members. */
static void say_config(const struct cx_comm *c, const int64_t *word,
                       const char *why)
{
    static int said;
    int speaks = word[WORLD_MIN] == 0 ? cx_front.world_rank == 0 : c->rank == 0;

    if (speaks && !said)
        cx_error("%s", why);
    said = 1;
}

/* Only the rank itself knows the cause. */
static void say_unloadable(const struct cx_comm *c, int rank)
{
    static int said;

    if (c->rank == rank && !said)
        cx_log(c->state == CX_COMM_BROKEN ? CX_LOG_ERROR : CX_LOG_WARN,
               "the engine cannot be loaded on rank %d (%s): %s", rank,
               cx_engine_error(),
               c->state == CX_COMM_BROKEN
                   ? "COAX_ALGO cannot be obeyed, so collectives are errors"
                   : "Coax leaves collectives to MPI on all ranks");
    said = 1;
}

static const char *scope_name(void)
{
    static const char *const names[] = {"auto", "device", "all"};

    return names[cx_front.settings.scope];
}

/* The one line at COAX_DEBUG=info; collective, when any rank asked for it. */
static void say_info(struct cx_comm *c)
{
    MPI_Comm node = MPI_COMM_NULL;
    int64_t nodes = 0;
    int node_rank = 0;
    char text[512];

    info_said = 1;
    if (cx_mpi.Comm_split_type(c->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                               &node) == MPI_SUCCESS) {
        cx_mpi.Comm_rank(node, &node_rank);
        cx_mpi.Comm_free(&node);
        nodes = node_rank == 0;
    }
    if (cx_allreduce_wait(c, &nodes, 1, CX_AGREE_SUM) != CX_OK)
        return;
    cx_engine()->describe(text, sizeof(text));
    if (cx_front.world_rank == 0)
        cx_info("coax %s: %d ranks on %d node%s, %s, scope %s", COAX_BUILD_ID,
                c->size, (int)nodes, nodes == 1 ? "" : "s", text, scope_name());
}

/* The others may have agreed on something that this rank does not know. */
static void lose(struct cx_comm *c)
{
    c->state = CX_COMM_LOST;
    cx_error("MPI fails where %d ranks agree on what to do: this rank cannot "
             "take part in their collectives",
             c->size);
}

/* Is COAX_ALGO valid? Asked where no engine would be started, so that a typing
 * error does not go unnoticed; equal on all ranks, but for one that cannot load
 * the engine. Collective. */
static void check_forced(struct cx_comm *c, const int64_t *word)
{
    const struct cx_engine_api *engine = cx_engine();
    char why[512] = "";
    int64_t bad = engine != NULL &&
                  engine->settings_check(why, sizeof(why)) == CX_ERR_CONFIG;

    if (cx_allreduce_wait(c, &bad, 1, CX_AGREE_MIN) != CX_OK) {
        lose(c);
        return;
    }
    if (!bad)
        return;
    c->state = CX_COMM_BROKEN;
    say_config(c, word, why);
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
    char why[512] = "";

    if (status != CX_OK) {
        lose(c);
        return;
    }
    if (failed != NOBODY) {
        go_without(c, word, "engine cannot be loaded");
        say_unloadable(c, (int)failed);
        return;
    }
    status = engine->team_create(&params, &c->team, why, sizeof(why));
    if (status == CX_OK) {
        c->state = CX_COMM_ENGAGED;
        /* One line a job: where its rank 0 is a member. */
        if (-word[DEBUG_MAX] >= CX_LOG_INFO && word[INFO_UNSAID] &&
            word[WORLD_MIN] == 0)
            say_info(c);
    } else if (status == CX_ERR_CONFIG) {
        c->state = CX_COMM_BROKEN;
        say_config(c, word, why);
    } else if (status == CX_DECLINED) {
        go_without(c, word, "engine could not start");
    } else {
        lose(c);
    }
}

/* At COAX_DEBUG=info a job also hears why Coax is not at work. */
static void say_inactive(const struct cx_comm *c, const int64_t *word)
{
    static int said;

    if (c->state == CX_COMM_ENGAGED || c->state == CX_COMM_BROKEN || said ||
        -word[DEBUG_MAX] < CX_LOG_INFO)
        return;
    said = 1;
    if (cx_front.world_rank == 0)
        cx_info("coax %s: %s on %d ranks: %s, scope %s", COAX_BUILD_ID,
                c->state == CX_COMM_ASLEEP ? "waiting" : "not at work", c->size,
                c->reason, scope_name());
}

static void decide(struct cx_comm *c, const int64_t *word)
{
    int all = cx_front.settings.scope == CX_SCOPE_ALL;

    if (!all && word[GPU_ANY] == 0) {
        c->state = CX_COMM_OFF;
        c->reason = "no GPU in the job";
    } else if (!all && word[CUDA_ANY] == 0) {
        c->state = CX_COMM_ASLEEP;
        c->reason = "no rank uses a GPU yet";
    } else {
        engage(c, word);
        return;
    }
    if (word[FORCED_ANY] != 0)
        check_forced(c, word);
}

void cx_agree(struct cx_comm *c)
{
    int64_t word[NWORDS];

    fill_word(c, word);
    if (cx_allreduce_wait(c, word, NWORDS, CX_AGREE_MIN) != CX_OK) {
        lose(c);
        return;
    }
    say_problems(c, word);
    if (!refused(c, word))
        decide(c, word);
    say_inactive(c, word);
    /* The next thing is an error that may end the job: not before the rank that
     * speaks has spoken. */
    if (c->state == CX_COMM_BROKEN &&
        cx_allreduce_wait(c, word, 1, CX_AGREE_MIN) != CX_OK)
        c->reason = "agreement failed";
}
