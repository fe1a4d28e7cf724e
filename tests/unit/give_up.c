/* SPDX-License-Identifier: BSD-3-Clause */
/* give_up.c - one rank fails, before its call starts or within it; as an engine
 * would, every rank that fails gives up. All others end too: with CX_ERR_PEER,
 * or with the right result where they need nothing from it. */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cluster.h"

/* Steps without any event, a rank, before the test calls it a hang. */
#define PATIENCE 1000

enum failure {
    NEVER_STARTS,
    NO_MEMORY, /* cannot start */
    COPY_FAILS,
    NFAILURES
};

struct story {
    struct cluster *cluster;
    struct call_case c;
    int victim, left;
    enum failure failure;
    int after;  /* steps of the victim before its copy fails */
    int strict; /* messages wait for their receiver, who may never come */
};

/* Every other call is large enough to ask first. */
static struct call_case plain(enum failure failure, uint64_t seed, int strict)
{
    size_t scale = seed % 2 ? 1 : 6;
    struct call_case c = {.count = 3000 * scale,
                          .dtype = CX_DT_I32,
                          .op = CX_SUM,
                          .elsize = 4,
                          .tiling = {.tile_count = 160 * scale, .depth = 3},
                          .net = {.seed = seed, .max_delay = 2},
                          .gpu_delay = 2};

    c.placement = failure == COPY_FAILS ? ON_GPU : ON_HOST;
    c.net.eager_limit = strict ? 0 : 1u << 20;
    return c;
}

/* No allocation can succeed: there is none. */
static void gives_up(struct story *story, int rank)
{
    struct member *member = &story->cluster->members[rank];
    struct cx_run run;

    cluster_make_run(story->cluster, &story->c, rank, &run);
    cx_alloc_fail_at(1);
    (void)cx_instance_give_up(member->inst, &run);
    cx_alloc_fail_at(0);
    member->ended = member->failed = 1;
    story->left--;
}

static void failed(struct story *story, int rank, enum cx_status status)
{
    struct member *member = &story->cluster->members[rank];
    char why[256];

    cx_instance_explain(member->inst, why, sizeof(why));
    if (rank == story->victim && status == CX_ERR_GPU)
        CHECK(strstr(why, "copy") != NULL, "it says: %s", why);
    else if (status == CX_ERR_PEER)
        CHECK(strstr(why, "gave up this call") != NULL, "it says: %s", why);
    else if (rank == story->victim && status == CX_ERR_NOMEM)
        CHECK(strstr(why, "cannot start") != NULL, "it says: %s", why);
    else
        CHECK(story->strict && status == CX_ERR_WIRE, "rank %d: %s: %s", rank,
              cx_status_str(status), why);
    gives_up(story, rank);
}

/* A rank's first turn; returns whether it has started. */
static int starts(struct story *story, int rank)
{
    struct member *member = &story->cluster->members[rank];
    int fails = rank == story->victim && story->failure == NO_MEMORY;
    enum cx_status status;

    if (rank == story->victim && story->failure == NEVER_STARTS) {
        gives_up(story, rank);
        return 0;
    }
    cx_alloc_fail_at(fails);
    status = cluster_begin(story->cluster, &story->c, rank);
    cx_alloc_fail_at(0);
    member->started = status == CX_OK;
    if (status == CX_OK)
        return 1;
    CHECK(status == (fails ? CX_ERR_NOMEM : CX_ERR_PEER), "rank %d: %s", rank,
          cx_status_str(status));
    failed(story, rank, status);
    return 0;
}

static void hangs(const struct story *story)
{
    char why[256] = "";

    for (int i = 0; i < story->cluster->nranks; i++)
        if (!story->cluster->members[i].ended)
            cx_instance_explain(story->cluster->members[i].inst, why,
                                sizeof(why));
    CHECK(0, "%s on %d ranks hangs after rank %d has failed: one %s",
          story->cluster->algorithm->name, story->cluster->nranks,
          story->victim, why);
}

static void drive(struct story *story)
{
    struct cluster *cluster = story->cluster;
    uint32_t n = (uint32_t)cluster->nranks;
    long idle = 0;

    story->left = cluster->nranks;
    while (story->left > 0) {
        int rank = (int)rng_below(&cluster->rng, n);
        struct member *member = &cluster->members[rank];
        enum cx_status status;
        unsigned nevents;

        if (member->ended || (!member->started && !starts(story, rank)))
            continue;
        if (story->failure == COPY_FAILS && rank == story->victim &&
            story->after-- == 0)
            fakegpu_fail_next(member->gpu);
        status = member_step(member, &nevents);
        idle = nevents ? 0 : idle + 1;
        if (status == CX_INPROGRESS) {
            cx_instance_listen(member->inst);
            if (idle > PATIENCE * (long)n)
                hangs(story);
        } else if (status == CX_OK) {
            member->ended = 1;
            story->left--;
        } else if (status != CX_INPROGRESS) {
            failed(story, rank, status);
        }
    }
}

/* Who sends on what depends on the victim has failed as well. */
static void check_spread(const struct story *story, int rank)
{
    const struct member *member = &story->cluster->members[rank];
    int nto;
    const int *to = cx_plan_send_peers(member->plan, &nto);

    for (int i = 0; i < nto; i++)
        CHECK(story->cluster->members[to[i]].failed,
              "rank %d gave up and rank %d, which it sends to, ended well",
              rank, to[i]);
}

static void tell(const struct cx_algorithm *algorithm, int nranks, int victim,
                 enum failure failure, int strict, uint64_t seed)
{
    struct story story = {
        .victim = victim, .failure = failure, .strict = strict};

    story.cluster = cluster_create(algorithm, nranks, 1, seed);
    story.c = plain(failure, seed, strict);
    story.after = (int)rng_below(&story.cluster->rng, 100);
    cluster_fill(story.cluster, &story.c);
    drive(&story);
    reference_check(story.cluster, &story.c);
    for (int i = 0; i < nranks && failure != COPY_FAILS; i++)
        if (story.cluster->members[i].failed && !strict)
            check_spread(&story, i);
    CHECK(failure == COPY_FAILS || story.cluster->members[victim].failed,
          "rank %d", victim);
    cluster_drop(story.cluster);

    /* What was said of that call does not disturb another team. */
    if (!strict) {
        story.c.placement = ON_HOST;
        story.cluster->team++;
        cluster_fill(story.cluster, &story.c);
        fakegpu_ops.progress(story.cluster->members[victim].gpu);
        cluster_drive(story.cluster, &story.c);
        reference_check(story.cluster, &story.c);
        cluster_drop(story.cluster);
    }
    cluster_destroy(story.cluster);
    CHECK(cx_alloc_live() == 0, "%ld blocks leaked", cx_alloc_live());
}

static void all_stories(const struct cx_algorithm *algorithm, int nranks)
{
    for (int victim = 0; victim < nranks; victim++)
        for (int k = 0; k < 2 * NFAILURES; k++)
            for (uint64_t seed = 1; seed <= 3; seed++)
                tell(algorithm, nranks, victim, (enum failure)(k / 2), k % 2,
                     seed * 100 + (uint64_t)victim);
}

/* A peer that takes nothing does not hold up who gives up for long. */
static void network_stands_still(void)
{
    struct story story = {.failure = NEVER_STARTS};

    story.cluster = cluster_create(cx_algorithms[0], 2, 0, 1);
    story.c = plain(NEVER_STARTS, 1, 0);
    story.c.net.max_delay = 1 << 30;
    cluster_fill(story.cluster, &story.c);
    gives_up(&story, 0);
    cluster_drop(story.cluster);
    cluster_destroy(story.cluster);
}

/* A call whose signature is the one reserved. */
static void unlucky_signature(const struct cx_algorithm *algorithm)
{
    struct cluster *cluster = cluster_create(algorithm, 4, 0, 1);
    struct call_case c = plain(NEVER_STARTS, 1, 0);

    c.signature = 0xabcd0000 | CX_SIG_FAILED;
    cluster_run(cluster, &c);
    cluster_destroy(cluster);
}

int main(void)
{
    static const int nranks[] = {2, 3, 5, 8};

    cx_log_init(CX_LOG_ERROR, "/dev/null", 0); /* errors are meant here */
    for (int i = 0; cx_algorithms[i]; i++) {
        unlucky_signature(cx_algorithms[i]);
        for (int k = 0; k < 4; k++)
            all_stories(cx_algorithms[i], nranks[k]);
    }
    network_stands_still();
    cx_log_fini();
    return 0;
}
