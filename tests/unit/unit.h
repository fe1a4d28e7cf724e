/* SPDX-License-Identifier: BSD-3-Clause */
/* unit.h - checks and random numbers of the unit tests. */
#ifndef CX_UNIT_H
#define CX_UNIT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Says what was expected and where, then ends the test. */
#define CHECK(cond, ...)                                                       \
    check_that(cond, #cond, __FILE__, __LINE__, __VA_ARGS__)

void check_that(int ok, const char *cond, const char *file, int line,
                const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* A small seeded generator; the same numbers on every machine. */
struct rng {
    uint64_t state;
};

uint64_t rng_next(struct rng *rng);

/* Uniform in [0, n); n >= 1. */
static inline uint32_t rng_below(struct rng *rng, uint32_t n)
{
    return (uint32_t)(((rng_next(rng) >> 32) * n) >> 32);
}

/* malloc that ends the test when memory is short; `n` may be 0. */
void *must_alloc(size_t n);

#endif
