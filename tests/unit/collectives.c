/* SPDX-License-Identifier: BSD-3-Clause */
/* collectives.c - every algorithm over numbers of ranks, roots, counts, memory
 * kinds, in place or not, and tilings, against the reference.
 *
 * Usage: unit-collectives FUNCTION|bits [SEED]
 * bits: sums that depend on their order, which must be equal on all ranks. */
#include <string.h>

#include "base/alloc.h"
#include "cluster.h"

static const struct {
    enum cx_dtype dtype;
    enum cx_redop op;
} reductions[] = {
    {CX_DT_I32, CX_SUM},  {CX_DT_F64, CX_SUM}, {CX_DT_F32, CX_SUM},
    {CX_DT_U8, CX_SUM},   {CX_DT_I64, CX_MAX}, {CX_DT_F64, CX_MIN},
    {CX_DT_I16, CX_BXOR},
};

static uint64_t seed = 1;

static void pick_tiling(struct rng *rng, struct call_case *c, uint32_t most)
{
    size_t count = c->count ? c->count : 1;
    uint32_t ntiles = 1 + rng_below(rng, most);

    c->tiling.tile_count = (count + ntiles - 1) / ntiles;
    c->tiling.depth = 1 + (int)rng_below(rng, CX_MAX_DEPTH);
    c->tiling.window = (int)rng_below(rng, 4);
}

/* What the case does not fix is random. */
static void one_call(struct cluster *cluster, struct rng *rng, size_t count,
                     enum placement placement, enum aliasing aliasing)
{
    struct call_case c = {.count = count,
                          .dtype = CX_DT_BYTE,
                          .placement = placement,
                          .aliasing = aliasing};

    c.elsize = 1 + rng_below(rng, 8);
    if (cluster->algorithm->func == CX_ALLREDUCE) {
        uint32_t n = sizeof(reductions) / sizeof(reductions[0]);
        uint32_t k = rng_below(rng, n);

        c.dtype = reductions[k].dtype;
        c.op = reductions[k].op;
        c.elsize = cx_dtype_size(c.dtype);
    }
    if (count * (size_t)cluster->nranks > 500000)
        c.elsize = c.dtype == CX_DT_BYTE ? 1 : c.elsize;
    /* Many ranks have messages enough without many tiles. */
    pick_tiling(rng, &c, cluster->nranks > 17 ? 4 : 20);
    c.net.seed = rng_next(rng) | 1;
    c.net.eager_limit = rng_below(rng, 2) ? 0 : 1u << rng_below(rng, 20);
    c.net.max_delay = (int)rng_below(rng, 2) * (int)rng_below(rng, 6);
    c.gpu_delay = (int)rng_below(rng, 5);
    cluster_run(cluster, &c);
}

static void all_calls(struct cluster *cluster, struct rng *rng)
{
    size_t p = (size_t)cluster->nranks;
    size_t counts[] = {0, 1, p - 1, p, p + 1, 1000};
    int n = (int)(sizeof(counts) / sizeof(counts[0]));
    int bcast = cluster->algorithm->func == CX_BCAST;

    for (int i = 0; i < n; i++)
        for (int k = 0; k < NPLACEMENTS * NALIASINGS; k++) {
            enum placement placement = (enum placement)(k % NPLACEMENTS);
            enum aliasing aliasing = (enum aliasing)(k / NPLACEMENTS);

            if ((bcast && aliasing != IN_PLACE) || (p > 17 && (i + k) % 4))
                continue;
            one_call(cluster, rng, counts[i], placement, aliasing);
        }
    if (p > 33)
        return;
    one_call(cluster, rng, 65537, (enum placement)rng_below(rng, NPLACEMENTS),
             (enum aliasing)rng_below(rng, NALIASINGS));
}

static void one_team(const struct cx_algorithm *algorithm, int nranks, int root)
{
    struct rng rng = {.state =
                          seed * 1000003 + (uint64_t)(nranks * 100 + root)};
    struct cluster *cluster =
        cluster_create(algorithm, nranks, root, rng_next(&rng));

    all_calls(cluster, &rng);
    cluster_destroy(cluster);
    CHECK(cx_alloc_live() == 0, "%ld blocks leaked", cx_alloc_live());
}

static void one_algorithm(const struct cx_algorithm *algorithm)
{
    static const int larger[] = {32, 33, 64};

    for (int p = 1; p <= 17; p++) {
        int nroots = algorithm->func != CX_BCAST ? 1 : p <= 9 ? p : 2;

        for (int root = 0; root < nroots; root++)
            one_team(algorithm, p, p <= 9 ? root : root * (p - 1));
    }
    for (int k = 0; k < 3; k++)
        one_team(algorithm, larger[k],
                 algorithm->func == CX_BCAST ? larger[k] / 3 : 0);
}

static void same_bits(const struct cx_algorithm *algorithm, int nranks)
{
    struct cluster *cluster = cluster_create(algorithm, nranks, 0, seed);
    struct rng rng = {.state = seed + (uint64_t)nranks};

    for (int k = 0; k < 6; k++) {
        struct call_case c = {.count = 1 + rng_below(&rng, 3000),
                              .dtype = CX_DT_F64,
                              .op = CX_SUM,
                              .elsize = 8,
                              .placement = (enum placement)(k % NPLACEMENTS),
                              .aliasing = (enum aliasing)(k % NALIASINGS),
                              .wild = 1};

        pick_tiling(&rng, &c, 20);
        c.net.seed = rng_next(&rng) | 1;
        cluster_run(cluster, &c);
    }
    cluster_destroy(cluster);
}

static int all_bits(void)
{
    int n = 0;

    for (int i = 0; cx_algorithms[i]; i++) {
        if (cx_algorithms[i]->func != CX_ALLREDUCE)
            continue;
        for (int p = 2; p <= 17; p++)
            same_bits(cx_algorithms[i], p);
        n++;
    }
    return n;
}

int main(int argc, char **argv)
{
    int n = 0;

    CHECK(argc > 1, "usage: %s FUNCTION [SEED]", argv[0]);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    if (strcmp(argv[1], "bits") == 0)
        n = all_bits();
    for (int i = 0; cx_algorithms[i]; i++) {
        if (strcmp(cx_func_str(cx_algorithms[i]->func), argv[1]) != 0)
            continue;
        one_algorithm(cx_algorithms[i]);
        n++;
    }
    CHECK(n > 0, "no algorithm for %s", argv[1]);
    printf("%d algorithms\n", n);
    return 0;
}
