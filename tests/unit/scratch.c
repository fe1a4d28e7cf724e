/* SPDX-License-Identifier: BSD-3-Clause */
/* scratch.c - memory borrowed for the time of a call: the pool's bound and
 * order, and that neither many instances nor many calls make it grow. */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cluster.h"

#define MIB ((size_t)1 << 20)
#define NRANKS 4
#define ROOT 1
#define NINSTANCES 100

/* Ends the test when it allocates. */
static void *take_kept(struct cx_scratch *pool, size_t nbytes)
{
    void *mem;

    cx_alloc_fail_at(1);
    mem = cx_scratch_take(pool, nbytes);
    cx_alloc_fail_at(0);
    CHECK(mem != NULL, "%zu bytes are not in the pool", nbytes);
    return mem;
}

static void *take(struct cx_scratch *pool, size_t nbytes)
{
    void *mem = cx_scratch_take(pool, nbytes);

    CHECK(mem && (uintptr_t)mem % 64 == 0, "%zu bytes at %p", nbytes, mem);
    memset(mem, 0x5a, nbytes);
    return mem;
}

/* Three at once, in any order of asking, again and again, also for less. */
static void repeats(void)
{
    static const size_t sizes[3] = {100, 70000, 3 * MIB};
    struct cx_scratch pool = {0};
    void *mem[3];

    for (int i = 0; i < 3; i++)
        mem[i] = take(&pool, sizes[i]);
    CHECK(mem[0] != mem[1] && mem[1] != mem[2] && mem[2] != mem[0],
          "two users of %p, %p, %p", mem[0], mem[1], mem[2]);
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < 3; i++)
            cx_scratch_give(&pool, mem[(i + round) % 3]);
        CHECK(pool.lent == 0, "%zu bytes lent", pool.lent);
        for (int i = 0; i < 3; i++)
            mem[(i + round / 2) % 3] = take_kept(
                &pool, sizes[(i + round / 2) % 3] >> (round > 2 ? round : 0));
    }
    for (int i = 0; i < 3; i++)
        cx_scratch_give(&pool, mem[i]);
    cx_scratch_fini(&pool);
}

/* 20, 21 and 24 MiB do not all stay: the one longest idle goes. */
static void is_bounded(void)
{
    struct cx_scratch pool = {0};
    long live = cx_alloc_live();
    void *mem[3];

    for (size_t i = 0; i < 3; i++) {
        mem[i] = take(&pool, (20 + i * i) * MIB);
        cx_scratch_give(&pool, mem[i]);
    }
    CHECK(cx_alloc_live() == live + 2, "%ld blocks", cx_alloc_live() - live);
    CHECK(take_kept(&pool, 20 * MIB) == mem[1], "the wrong block was freed");
    cx_scratch_give(&pool, mem[1]);
    cx_scratch_fini(&pool);
}

/* Calls that need more than the bound at once find it again; other sizes then
 * take its place. */
static void follows_the_peak(void)
{
    struct cx_scratch pool = {0};
    long live = cx_alloc_live();
    void *mem[3];

    for (int i = 0; i < 3; i++)
        mem[i] = take(&pool, 30 * MIB);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++)
            cx_scratch_give(&pool, mem[i]);
        for (int i = 0; i < 3; i++)
            mem[i] = take_kept(&pool, 30 * MIB);
    }
    for (int i = 0; i < 3; i++)
        cx_scratch_give(&pool, mem[i]);
    mem[0] = take(&pool, 40 * MIB);
    CHECK(cx_alloc_live() == live + 2, "%ld blocks", cx_alloc_live() - live);
    cx_scratch_give(&pool, mem[0]);
    cx_scratch_fini(&pool);
}

static void survives_failures(void)
{
    struct cx_scratch pool = {0};
    void *mem;

    cx_alloc_fail_at(1);
    CHECK(!cx_scratch_take(&pool, 1000), "memory from nowhere");
    cx_alloc_fail_at(0);
    CHECK(!cx_scratch_take(&pool, SIZE_MAX - 70), "too much");
    CHECK(!cx_scratch_take(&pool, SIZE_MAX), "too much");
    CHECK(pool.lent == 0 && pool.most == 0, "%zu bytes lent", pool.lent);
    mem = take(&pool, 1000);
    cx_scratch_give(&pool, mem);
    CHECK(take_kept(&pool, 1000) == mem, "another block");
    cx_scratch_give(&pool, mem);
    cx_scratch_fini(&pool);
}

static struct cx_instance *make_instance(struct cluster *cluster, int rank)
{
    struct member *member = &cluster->members[rank];
    struct cx_io io = {&memwire_ops, member->wire, &fakegpu_ops, member->gpu,
                       &member->scratch};
    struct cx_peer *peers[NRANKS];
    struct cx_instance *inst;
    const int *near;
    int n;

    near = cx_plan_neighbours(member->plan, &n);
    for (int k = 0; k < n; k++)
        peers[k] = memnet_peer(cluster->net, rank, near[k]);
    CHECK(cx_instance_create(member->plan, &io, peers, &inst) == CX_OK,
          "rank %d", rank);
    return inst;
}

/* Every instance makes the same call; all of them stay alive. What one of them
 * has of its own are two blocks: itself and its tiles. */
static void many_instances(const struct cx_algorithm *algorithm,
                           enum placement placement)
{
    struct cluster *cluster = cluster_create(algorithm, NRANKS, ROOT, 3);
    struct call_case c = cluster_case(placement);
    struct cx_instance *(*inst)[NRANKS] =
        must_alloc(NINSTANCES * sizeof(*inst));
    long live;

    cluster_run(cluster, &c);
    live = cx_alloc_live();
    for (int i = 0; i < NINSTANCES; i++) {
        for (int k = 0; k < NRANKS; k++) {
            inst[i][k] = cluster->members[k].inst;
            cluster->members[k].inst = make_instance(cluster, k);
        }
        cluster_run(cluster, &c);
        for (int k = 0; k < NRANKS; k++)
            CHECK(cluster->members[k].scratch.lent == 0 &&
                      fakegpu_lent(cluster->members[k].gpu) == 0,
                  "rank %d keeps memory after its call", k);
    }
    CHECK(cx_alloc_live() == live + 2 * NINSTANCES * NRANKS,
          "%ld blocks for %d instances", cx_alloc_live() - live,
          NINSTANCES * NRANKS);
    for (int i = 0; i < NINSTANCES; i++)
        for (int k = 0; k < NRANKS; k++)
            cx_instance_destroy(inst[i][k]);
    free(inst);
    cluster_destroy(cluster);
}

/* A call given up gives its memory back, but not to others where the wire may
 * still write to it. */
static void is_aborted(const struct cx_algorithm *algorithm, int in_use)
{
    struct cluster *cluster = cluster_create(algorithm, NRANKS, ROOT, 3);
    struct member *member = &cluster->members[0];
    struct call_case c = cluster_case(ON_HOST);
    size_t lent;

    cluster_fill(cluster, &c);
    memwire_keep_buffers(member->wire, in_use);
    CHECK(cluster_begin(cluster, &c, 0) == CX_OK, "%d", in_use);
    lent = member->scratch.lent;
    CHECK(lent > 0, "%s needs no scratch", algorithm->name);
    cx_instance_abort(member->inst);
    CHECK(member->scratch.lent == 0, "%zu bytes", member->scratch.lent);
    CHECK(member->scratch.idle_nbytes == (in_use ? 0 : lent),
          "%zu of %zu bytes may be lent again", member->scratch.idle_nbytes,
          lent);
    cluster_drop(cluster);
    cluster_destroy(cluster);
}

int main(void)
{
    cx_log_init(CX_LOG_ERROR, "/dev/null", 0);
    repeats();
    is_bounded();
    follows_the_peak();
    survives_failures();
    for (int i = 0; cx_algorithms[i]; i++)
        for (int placement = ON_HOST; placement <= ON_GPU; placement++)
            many_instances(cx_algorithms[i], (enum placement)placement);
    for (int in_use = 0; in_use < 2; in_use++)
        is_aborted(cx_algorithm_find(CX_ALLREDUCE, "ring"), in_use);
    CHECK(cx_alloc_live() == 0, "%ld blocks leaked", cx_alloc_live());
    cx_log_fini();
    return 0;
}
