/* SPDX-License-Identifier: BSD-3-Clause */
/* life.c - instances beyond the good case: memory that runs out, calls that
 * allocate nothing, ranks that call different things, failing transfers, ranks
 * that never come. */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cluster.h"

#define NRANKS 5
#define ROOT 1

/* After one call, no call of the same size or less allocates. */
static void allocates_once(const struct cx_algorithm *algorithm,
                           enum placement placement)
{
    struct cluster *cluster = cluster_create(algorithm, NRANKS, ROOT, 3);
    struct call_case c = cluster_case(placement);

    cluster_run(cluster, &c);
    for (size_t count = c.count; count > 0; count = count * 4 / 5) {
        c.count = count;
        c.aliasing = count % 2 ? IN_PLACE : OUT_OF_PLACE;
        cluster_fill(cluster, &c);
        cx_alloc_fail_at(1);
        cluster_drive(cluster, &c);
        cx_alloc_fail_at(0);
        cluster_check(cluster, &c);
        cluster_drop(cluster);
    }
    cluster_destroy(cluster);
}

/* The program resets the device between calls, one larger, one smaller. */
static void device_resets(const struct cx_algorithm *algorithm)
{
    struct cluster *cluster = cluster_create(algorithm, NRANKS, ROOT, 3);
    struct call_case c = cluster_case(ON_GPU);

    for (int call = 0; call < 4; call++) {
        c.count = call % 2 ? 2000 : 3000;
        cluster_run(cluster, &c);
        for (int i = 0; i < NRANKS; i++)
            fakegpu_reset_device(cluster->members[i].gpu, 0);
    }
    cluster_destroy(cluster);
}

/* Plan, instance and start with the `nth` allocation failing; returns whether
 * none of them needed it. */
static int survives(const struct cx_algorithm *algorithm,
                    struct cluster *cluster, const struct call_case *c,
                    unsigned long nth)
{
    struct cx_shape shape = {.rank = ROOT + 1, .nranks = NRANKS, .root = ROOT};
    struct member *member = &cluster->members[shape.rank];
    struct cx_scratch scratch = {0};
    struct cx_io io = {.wire_ops = &memwire_ops,
                       .wire = member->wire,
                       .gpu_ops = &fakegpu_ops,
                       .gpu = member->gpu,
                       .scratch = &scratch};
    struct cx_peer *peers[NRANKS] = {NULL};
    struct cx_instance *inst = NULL;
    struct cx_plan *plan = NULL;
    long live = cx_alloc_live();
    enum cx_status status;
    struct cx_run run;

    cluster_make_run(cluster, c, shape.rank, &run);
    for (int i = 0; i < NRANKS; i++)
        peers[i] = memnet_peer(cluster->net, shape.rank, i);
    cx_alloc_fail_at(nth);
    status = algorithm->generate(&shape, &plan);
    if (status == CX_OK)
        status = cx_instance_create(plan, &io, peers, &inst);
    if (status == CX_OK)
        status = cx_instance_start(inst, &run);
    cx_alloc_fail_at(0);
    CHECK(status == CX_OK || status == CX_ERR_NOMEM, "%s",
          cx_status_str(status));
    cx_instance_destroy(inst);
    cx_plan_destroy(plan);
    CHECK(scratch.lent == 0 && fakegpu_lent(member->gpu) == 0,
          "memory stays lent at allocation %lu", nth);
    cx_scratch_fini(&scratch);
    fakegpu_drop_idle(member->gpu);
    CHECK(cx_alloc_live() == live, "%ld blocks leaked at allocation %lu",
          cx_alloc_live() - live, nth);
    return status == CX_OK;
}

static void runs_out_of_memory(const struct cx_algorithm *algorithm,
                               enum placement placement)
{
    struct call_case c = cluster_case(placement);
    unsigned long nth = 1;

    for (;; nth++) {
        struct cluster *cluster = cluster_create(algorithm, NRANKS, ROOT, 3);
        int done;

        cluster_fill(cluster, &c);
        done = survives(algorithm, cluster, &c, nth);
        cluster_drop(cluster);
        cluster_destroy(cluster);
        if (done)
            break;
    }
    CHECK(nth > 4, "only %lu allocations", nth);
}

/* Drives all started ranks until one fails; returns its rank. */
static int drive_to_failure(struct cluster *cluster, enum cx_status want)
{
    for (long step = 0; step < 100000; step++) {
        struct member *member;
        int rank = (int)rng_below(&cluster->rng, NRANKS);
        enum cx_status status;
        unsigned nevents;

        member = &cluster->members[rank];
        if (!member->started || member->ended)
            continue;
        status = member_step(member, &nevents);
        if (status == CX_INPROGRESS)
            continue;
        member->ended = 1;
        if (status == CX_OK)
            continue;
        CHECK(status == want, "rank %d: %s, not %s", rank,
              cx_status_str(status), cx_status_str(want));
        return rank;
    }
    CHECK(0, "%s: nobody noticed", cx_status_str(want));
    return -1;
}

static void abort_all(struct cluster *cluster)
{
    for (int i = 0; i < NRANKS; i++) {
        cx_instance_abort(cluster->members[i].inst);
        memwire_ops.progress(cluster->members[i].wire);
    }
    cluster_drop(cluster);
    cluster_destroy(cluster);
}

/* One rank calls with another count or signature. */
static void mismatch(const struct cx_algorithm *algorithm, int longer, int odd)
{
    struct cluster *cluster = cluster_create(algorithm, NRANKS, ROOT, 3);
    struct call_case c = cluster_case(ON_HOST);
    char why[256], name[32];
    struct cx_run run;
    int rank;

    c.tiling.tile_count = 3000;
    cluster_fill(cluster, &c);
    for (int i = 0; i < NRANKS; i++) {
        cluster_make_run(cluster, &c, i, &run);
        if (i == odd && longer)
            run.count -= 500;
        else if (i == odd)
            run.signature++;
        cluster->members[i].started = 1;
        CHECK(cx_instance_start(cluster->members[i].inst, &run) == CX_OK,
              "rank %d", i);
    }
    rank = drive_to_failure(cluster, CX_ERR_MISMATCH);
    cx_instance_explain(cluster->members[rank].inst, why, sizeof(why));
    snprintf(name, sizeof(name), "%d", odd);
    CHECK(strstr(why, "different things") && strstr(why, name), "it says: %s",
          why);
    abort_all(cluster);
}

static void wire_fails(const struct cx_algorithm *algorithm)
{
    struct cluster *cluster = cluster_create(algorithm, NRANKS, ROOT, 3);
    struct call_case c = cluster_case(ON_GPU);
    char why[256];
    int rank;

    cluster_fill(cluster, &c);
    memwire_fail_next(cluster->members[ROOT].wire, CX_ERR_WIRE);
    for (int i = 0; i < NRANKS; i++)
        CHECK(cluster_begin(cluster, &c, i) == CX_OK, "rank %d", i);
    rank = drive_to_failure(cluster, CX_ERR_WIRE);
    CHECK(rank == ROOT, "rank %d", rank);
    cx_instance_abort(cluster->members[rank].inst);
    cx_instance_explain(cluster->members[rank].inst, why, sizeof(why));
    CHECK(strstr(why, "failed") != NULL, "it says: %s", why);
    abort_all(cluster);
}

static void gpu_fails(const struct cx_algorithm *algorithm)
{
    struct cluster *cluster = cluster_create(algorithm, NRANKS, ROOT, 3);
    struct call_case c = cluster_case(ON_GPU);
    char why[256];
    int rank;

    cluster_fill(cluster, &c);
    fakegpu_fail_next(cluster->members[ROOT].gpu);
    for (int i = 0; i < NRANKS; i++)
        CHECK(cluster_begin(cluster, &c, i) == CX_OK, "rank %d", i);
    rank = drive_to_failure(cluster, CX_ERR_GPU);
    CHECK(rank == ROOT, "rank %d", rank);
    cx_instance_explain(cluster->members[rank].inst, why, sizeof(why));
    CHECK(strstr(why, "copy") != NULL, "it says: %s", why);
    abort_all(cluster);
}

/* All but the root come; the others say whom they wait for. */
static void one_is_missing(const struct cx_algorithm *algorithm)
{
    struct cluster *cluster = cluster_create(algorithm, NRANKS, ROOT, 3);
    struct call_case c = cluster_case(ON_HOST);
    int blamed = 0;

    cluster_fill(cluster, &c);
    for (int i = 0; i < NRANKS; i++)
        if (i != ROOT)
            CHECK(cluster_begin(cluster, &c, i) == CX_OK, "rank %d", i);
    for (int step = 0; step < 1000 * NRANKS; step++) {
        struct member *member = &cluster->members[step % NRANKS];
        unsigned nevents;

        if (member->started)
            CHECK(member_step(member, &nevents) == CX_INPROGRESS, "rank %d",
                  step % NRANKS);
    }
    for (int i = 0; i < NRANKS; i++) {
        char why[256];

        cx_instance_explain(cluster->members[i].inst, why, sizeof(why));
        blamed += strstr(why, "waits for rank 1 to send") != NULL;
    }
    CHECK(blamed > 0, "nobody waits for rank %d", ROOT);
    abort_all(cluster);
}

/* What a caller must not ask for is refused before anything is posted. */
static void refuses(const struct cx_algorithm *algorithm)
{
    struct cluster *cluster = cluster_create(algorithm, NRANKS, ROOT, 3);
    struct call_case c = cluster_case(ON_HOST);
    struct cx_instance *inst = cluster->members[0].inst;
    struct cx_run run;
    char why[256];

    cluster_fill(cluster, &c);
    for (int k = 0; k < 5; k++) {
        cluster_make_run(cluster, &c, 0, &run);
        if (k == 0)
            run.tiling.depth = CX_MAX_DEPTH + 1;
        else if (k == 1)
            run.tiling.tile_count = 0;
        else if (k == 2)
            run.count = SIZE_MAX / 2;
        else if (k == 3)
            run.elsize = 0;
        else
            run.team = 1u << CX_TAG_TEAM_BITS;
        CHECK(cx_instance_start(inst, &run) == CX_ERR_ARG, "case %d", k);
        cx_instance_explain(inst, why, sizeof(why));
        CHECK(strstr(why, "cannot start") != NULL, "it says: %s", why);
    }
    cluster_drive(cluster, &c);
    cluster_check(cluster, &c);
    cluster_drop(cluster);
    cluster_destroy(cluster);
}

int main(void)
{
    cx_log_init(CX_LOG_ERROR, "/dev/null", 0); /* errors are meant here */
    for (int i = 0; cx_algorithms[i]; i++) {
        const struct cx_algorithm *algorithm = cx_algorithms[i];

        for (int placement = ON_HOST; placement <= ON_GPU; placement++) {
            allocates_once(algorithm, (enum placement)placement);
            runs_out_of_memory(algorithm, (enum placement)placement);
        }
        device_resets(algorithm);
        for (int longer = 0; longer < 2; longer++)
            mismatch(algorithm, longer, ROOT);
        wire_fails(algorithm);
        gpu_fails(algorithm);
        one_is_missing(algorithm);
        refuses(algorithm);
        CHECK(cx_alloc_live() == 0, "%ld blocks leaked", cx_alloc_live());
    }
    cx_log_fini();
    return 0;
}
