/* SPDX-License-Identifier: BSD-3-Clause */
/* unit.c - checks and random numbers of the unit tests. */
#include "unit.h"

#include <stdarg.h>

void check_that(int ok, const char *cond, const char *file, int line,
                const char *fmt, ...)
{
    va_list args;

    if (ok)
        return;
    fprintf(stderr, "%s:%d: expected %s: ", file, line, cond);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

/* xorshift64*; the state is never 0. */
uint64_t rng_next(struct rng *rng)
{
    uint64_t x = rng->state ? rng->state : UINT64_C(0x9e3779b97f4a7c15);

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    rng->state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

void *must_alloc(size_t n)
{
    void *out = calloc(n + 1, 1);

    CHECK(out != NULL, "%zu bytes", n);
    return out;
}
