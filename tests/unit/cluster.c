/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster.c - ranks in one process; see cluster.h. */
#include "cluster.h"

#include <string.h>

#define GUARD 64
#define GUARD_BYTE 0xa5
#define GPU_BYTES ((size_t)64 << 20)
/* Steps a rank without any event before the test calls it a hang. */
#define PATIENCE 1000

struct cluster *cluster_create(const struct cx_algorithm *algorithm, int nranks,
                               int root, uint64_t seed)
{
    struct cluster *cluster = must_alloc(sizeof(*cluster));
    struct cx_peer **peers =
        must_alloc((size_t)nranks * sizeof(struct cx_peer *));

    cluster->algorithm = algorithm;
    cluster->nranks = nranks;
    cluster->root = root;
    cluster->team = 0xabcde;
    cluster->net = memnet_create(nranks);
    cluster->rng.state = seed + 1;
    cluster->members = must_alloc((size_t)nranks * sizeof(struct member));
    for (int i = 0; i < nranks; i++) {
        struct member *member = &cluster->members[i];
        struct cx_shape shape = {.rank = i, .nranks = nranks, .root = root};
        struct cx_io io = {.wire_ops = &memwire_ops, .gpu_ops = &fakegpu_ops};
        const int *near;
        int n;

        CHECK(algorithm->generate(&shape, &member->plan) == CX_OK, "rank %d",
              i);
        near = cx_plan_neighbours(member->plan, &n);
        for (int k = 0; k < n; k++)
            peers[k] = memnet_peer(cluster->net, i, near[k]);
        member->wire = memnet_wire(cluster->net, i);
        member->gpu = fakegpu_create(GPU_BYTES);
        io.wire = member->wire;
        io.gpu = member->gpu;
        io.scratch = &member->scratch;
        CHECK(cx_instance_create(member->plan, &io, peers, &member->inst) ==
                  CX_OK,
              "rank %d", i);
    }
    free(peers);
    return cluster;
}

void cluster_destroy(struct cluster *cluster)
{
    for (int i = 0; i < cluster->nranks; i++) {
        cx_instance_destroy(cluster->members[i].inst);
        cx_plan_destroy(cluster->members[i].plan);
        cx_scratch_fini(&cluster->members[i].scratch);
        fakegpu_destroy(cluster->members[i].gpu);
    }
    memnet_destroy(cluster->net);
    free(cluster->members);
    free(cluster);
}

static enum cx_mem_kind pick_kind(struct cluster *cluster,
                                  enum placement placement)
{
    if (placement == ON_HOST)
        return CX_MEM_HOST;
    if (placement == ON_GPU)
        return CX_MEM_DEVICE;
    return (enum cx_mem_kind)rng_below(&cluster->rng, CX_MEM_MIXED);
}

/* A guarded buffer, at any alignment on the host. */
static void buffer_init(struct cluster *cluster, struct buffer *buf,
                        struct cx_gpu *gpu, const struct call_case *c,
                        size_t nbytes)
{
    enum cx_mem_kind kind = pick_kind(cluster, c->placement);
    int device = (int)rng_below(&cluster->rng, c->one_device ? 1 : 2);
    size_t all = nbytes + 2 * GUARD + 16;
    size_t off = GUARD + rng_below(&cluster->rng, 16);
    char *base;

    memset(buf, 0, sizeof(*buf));
    buf->nbytes = nbytes;
    if (kind == CX_MEM_DEVICE || kind == CX_MEM_MANAGED) {
        base = fakegpu_alloc(gpu, all, kind, device, &buf->mem);
        buf->bytes = fakegpu_peek(gpu, base) + off;
    } else {
        base = buf->owned = must_alloc(all);
        buf->mem.kind = kind;
        buf->mem.device = -1;
        buf->bytes = base + off;
    }
    buf->user = base + off;
    memset(buf->bytes - GUARD, GUARD_BYTE, nbytes + 2 * GUARD);
}

static void buffer_check_guards(const struct buffer *buf, int rank)
{
    for (size_t i = 0; i < GUARD; i++) {
        CHECK((unsigned char)buf->bytes[-1 - (long)i] == GUARD_BYTE,
              "rank %d, %zu bytes before the buffer", rank, i + 1);
        CHECK((unsigned char)buf->bytes[buf->nbytes + i] == GUARD_BYTE,
              "rank %d, %zu bytes after the buffer", rank, i);
    }
}

static int in_place(struct cluster *cluster, const struct call_case *c)
{
    if (cluster->algorithm->func == CX_BCAST || c->aliasing == IN_PLACE)
        return 1;
    return c->aliasing == SOME_IN_PLACE && rng_below(&cluster->rng, 2);
}

void cluster_fill(struct cluster *cluster, const struct call_case *c)
{
    int gather = cluster->algorithm->func == CX_ALLGATHER;
    size_t own = c->count * c->elsize;
    size_t all = own * (gather ? (size_t)cluster->nranks : 1);

    cluster->calls++;
    memnet_configure(cluster->net, &c->net);
    for (int i = 0; i < cluster->nranks; i++) {
        struct member *member = &cluster->members[i];

        member->started = member->ended = member->failed = 0;
        member->inplace = in_place(cluster, c);
        fakegpu_reset(member->gpu);
        fakegpu_configure(member->gpu, c->net.seed + (uint64_t)i, c->gpu_delay);
        buffer_init(cluster, &member->dst, member->gpu, c, all);
        buffer_init(cluster, &member->src, member->gpu, c, own);
        member->input = must_alloc(own);
        reference_fill(cluster, c, i);
        if (own == 0)
            continue;
        memcpy(member->src.bytes, member->input, own);
        if (!member->inplace)
            continue;
        if (cluster->algorithm->func != CX_BCAST || i == cluster->root)
            memcpy(member->dst.bytes + (gather ? (size_t)i * own : 0),
                   member->input, own);
    }
}

void cluster_make_run(const struct cluster *cluster, const struct call_case *c,
                      int rank, struct cx_run *run)
{
    const struct member *member = &cluster->members[rank];

    memset(run, 0, sizeof(*run));
    run->src = member->inplace ? NULL : member->src.user;
    run->src_mem = member->src.mem;
    run->dst = member->dst.user;
    run->dst_mem = member->dst.mem;
    run->count = c->count;
    run->elsize = c->elsize;
    run->dtype = c->dtype;
    run->op = c->op;
    run->tiling = c->tiling;
    run->team = cluster->team;
    run->call = cluster->calls;
    run->signature =
        c->signature ? c->signature : (uint32_t)(c->count * 31 + c->elsize);
}

enum cx_status cluster_begin(struct cluster *cluster, const struct call_case *c,
                             int rank)
{
    struct cx_run run;

    cluster_make_run(cluster, c, rank, &run);
    cluster->members[rank].started = 1;
    return cx_instance_start(cluster->members[rank].inst, &run);
}

enum cx_status member_step(struct member *member, unsigned *nevents)
{
    *nevents = memwire_ops.progress(member->wire);
    *nevents += fakegpu_ops.progress(member->gpu);
    return cx_instance_progress(member->inst);
}

static void give_up(const struct cluster *cluster)
{
    char why[200];

    for (int i = 0; i < cluster->nranks; i++) {
        const struct member *member = &cluster->members[i];

        cx_instance_explain(member->inst, why, sizeof(why));
        fprintf(stderr, "rank %d: %s\n", i, member->ended ? "returned" : why);
    }
    CHECK(0, "%s %s on %d ranks hangs", cx_func_str(cluster->algorithm->func),
          cluster->algorithm->name, cluster->nranks);
}

static void end_rank(struct cluster *cluster, int rank)
{
    struct member *member = &cluster->members[rank];

    member->ended = 1;
    CHECK(memwire_unflushed(member->wire) == 0,
          "rank %d returned with %ld messages not flushed", rank,
          memwire_unflushed(member->wire));
    CHECK(fakegpu_pending(member->gpu) == 0,
          "rank %d returned with %d copies running", rank,
          fakegpu_pending(member->gpu));
}

void cluster_drive(struct cluster *cluster, const struct call_case *c)
{
    uint32_t n = (uint32_t)cluster->nranks;
    int left = cluster->nranks;
    long idle = 0;

    while (left > 0) {
        int rank = (int)rng_below(&cluster->rng, n);
        struct member *member = &cluster->members[rank];
        enum cx_status status;
        unsigned nevents;

        if (member->ended)
            continue;
        if (!member->started)
            CHECK(cluster_begin(cluster, c, rank) == CX_OK, "rank %d", rank);
        status = member_step(member, &nevents);
        idle = nevents ? 0 : idle + 1;
        if (status == CX_INPROGRESS) {
            if (idle > PATIENCE * (long)n)
                give_up(cluster);
            continue;
        }
        CHECK(status == CX_OK, "rank %d: %s", rank, cx_status_str(status));
        end_rank(cluster, rank);
        left--;
    }
}

/* Bytes that must cross between the rank's GPU buffers and the host. */
static void check_copies(const struct cluster *cluster,
                         const struct call_case *c, int rank)
{
    const struct member *member = &cluster->members[rank];
    enum cx_func func = cluster->algorithm->func;
    size_t own = c->count * c->elsize, in = own, out = own;
    struct cx_gpu_counters seen;

    if (func == CX_ALLGATHER)
        out = own * (size_t)(cluster->nranks - member->inplace);
    if (func == CX_BCAST && rank == cluster->root)
        out = 0;
    if (func == CX_BCAST && rank != cluster->root)
        in = 0;
    if (cluster->nranks == 1 && member->inplace)
        in = out = 0;
    if (!cx_mem_on_gpu(member->inplace ? &member->dst.mem : &member->src.mem))
        in = 0;
    if (!cx_mem_on_gpu(&member->dst.mem))
        out = 0;
    fakegpu_ops.counters(member->gpu, &seen);
    CHECK(seen.d2h_bytes == in, "rank %d read %zu bytes of the GPU, not %zu",
          rank, (size_t)seen.d2h_bytes, in);
    CHECK(seen.h2d_bytes == out, "rank %d wrote %zu bytes of the GPU, not %zu",
          rank, (size_t)seen.h2d_bytes, out);
}

void cluster_check(struct cluster *cluster, const struct call_case *c)
{
    size_t own = c->count * c->elsize;

    for (int i = 0; i < cluster->nranks; i++) {
        const struct member *member = &cluster->members[i];

        buffer_check_guards(&member->src, i);
        buffer_check_guards(&member->dst, i);
        CHECK(own == 0 || memcmp(member->src.bytes, member->input, own) == 0,
              "rank %d: the source has changed", i);
        CHECK(memwire_leftover(member->wire) == 0, "rank %d has %ld left", i,
              memwire_leftover(member->wire));
        check_copies(cluster, c, i);
    }
    reference_check(cluster, c);
}

void cluster_drop(struct cluster *cluster)
{
    for (int i = 0; i < cluster->nranks; i++) {
        struct member *member = &cluster->members[i];

        free(member->src.owned);
        free(member->dst.owned);
        free(member->input);
        member->input = member->src.owned = member->dst.owned = NULL;
    }
}

void cluster_run(struct cluster *cluster, const struct call_case *c)
{
    cluster_fill(cluster, c);
    cluster_drive(cluster, c);
    cluster_check(cluster, c);
    cluster_drop(cluster);
}

struct call_case cluster_case(enum placement placement)
{
    struct call_case c = {.count = 3000,
                          .dtype = CX_DT_I32,
                          .op = CX_SUM,
                          .elsize = 4,
                          .tiling = {.tile_count = 400, .depth = 3},
                          .placement = placement,
                          .one_device = 1,
                          .net = {.seed = 5, .max_delay = 2},
                          .gpu_delay = 2};

    return c;
}
