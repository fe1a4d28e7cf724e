/* SPDX-License-Identifier: BSD-3-Clause */
/* reference.c - inputs and expected results of the collectives, by the plainest
 * possible code: small whole numbers, whose results are exact in any order. */
#include "cluster.h"

#include <string.h>

static long value_at(const struct cluster *cluster, int rank, size_t i)
{
    return (long)(((size_t)rank * 7 + i * 3 + i / 256 + cluster->calls * 5) %
                  17) -
           8;
}

/* Writes whole number `v` as an element. */
static void put(enum cx_dtype dtype, char *at, long v)
{
    float f = (float)v;
    double d = (double)v;

    switch (dtype) {
    case CX_DT_F32:
        memcpy(at, &f, sizeof(f));
        break;
    case CX_DT_F64:
        memcpy(at, &d, sizeof(d));
        break;
    default: /* integers: little-endian two's complement */
        memcpy(at, &v, cx_dtype_size(dtype));
    }
}

static long fold(enum cx_redop op, long a, long b)
{
    switch (op) {
    case CX_SUM:
        return a + b;
    case CX_MIN:
        return a < b ? a : b;
    case CX_MAX:
        return a > b ? a : b;
    case CX_BXOR:
        return a ^ b;
    default:
        CHECK(0, "operation %d has no reference", op);
        return 0;
    }
}

/* Doubles of any sign with exponents far apart. */
static double wild(struct rng *rng)
{
    double x = 1.0 + (double)rng_below(rng, 1u << 30) / (1u << 30);
    int shift = (int)rng_below(rng, 40);

    for (int k = 0; k < shift; k++)
        x *= 4;
    return rng_below(rng, 2) ? x : -x;
}

void reference_fill(const struct cluster *cluster, const struct call_case *c,
                    int rank)
{
    char *input = cluster->members[rank].input;
    struct rng rng = {.state = c->net.seed * 1000 + (uint64_t)rank + 1};
    size_t nbytes = c->count * c->elsize;

    if (cluster->algorithm->func != CX_ALLREDUCE) {
        for (size_t i = 0; i < nbytes; i++)
            input[i] = (char)(value_at(cluster, rank, i) + 13 * rank);
        return;
    }
    for (size_t i = 0; i < c->count; i++) {
        double x;

        if (!c->wild) {
            put(c->dtype, input + i * c->elsize, value_at(cluster, rank, i));
            continue;
        }
        x = wild(&rng);
        memcpy(input + i * c->elsize, &x, sizeof(x));
    }
}

static void check_block(const struct cluster *cluster, int rank,
                        const char *expected, size_t offset, size_t nbytes)
{
    const char *got = cluster->members[rank].dst.bytes + offset;

    if (cluster->members[rank].failed || nbytes == 0 ||
        memcmp(got, expected, nbytes) == 0)
        return;
    for (size_t i = 0; i < nbytes; i++)
        CHECK(got[i] == expected[i],
              "%s %s, %d ranks, root %d: rank %d, byte %zu of %zu is %02x, "
              "not %02x",
              cx_func_str(cluster->algorithm->func), cluster->algorithm->name,
              cluster->nranks, cluster->root, rank, offset + i,
              cluster->members[rank].dst.nbytes, got[i] & 0xff,
              expected[i] & 0xff);
}

static void check_allreduce(const struct cluster *cluster,
                            const struct call_case *c)
{
    size_t nbytes = c->count * c->elsize;
    char *expected = must_alloc(nbytes);

    for (size_t i = 0; i < c->count && !c->wild; i++) {
        long v = value_at(cluster, 0, i);

        for (int r = 1; r < cluster->nranks; r++)
            v = fold(c->op, v, value_at(cluster, r, i));
        put(c->dtype, expected + i * c->elsize, v);
    }
    if (c->wild && nbytes)
        memcpy(expected, cluster->members[0].dst.bytes, nbytes);
    for (int r = 0; r < cluster->nranks; r++)
        check_block(cluster, r, expected, 0, nbytes);
    free(expected);
}

void reference_check(const struct cluster *cluster, const struct call_case *c)
{
    size_t nbytes = c->count * c->elsize;

    if (cluster->algorithm->func == CX_ALLREDUCE) {
        check_allreduce(cluster, c);
        return;
    }
    for (int r = 0; r < cluster->nranks; r++) {
        if (cluster->algorithm->func == CX_BCAST) {
            check_block(cluster, r, cluster->members[cluster->root].input, 0,
                        nbytes);
            continue;
        }
        for (int b = 0; b < cluster->nranks; b++)
            check_block(cluster, r, cluster->members[b].input,
                        (size_t)b * nbytes, nbytes);
    }
}
