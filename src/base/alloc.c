/* SPDX-License-Identifier: BSD-3-Clause */
/* alloc.c - zeroed, counted allocation with fault injection for tests. */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static atomic_long live;
static atomic_ulong fail_countdown;

static int must_fail(void)
{
    unsigned long left = atomic_load(&fail_countdown);

    while (left > 0) {
        if (atomic_compare_exchange_weak(&fail_countdown, &left, left - 1))
            return left == 1;
    }
    return 0;
}

void *cx_alloc(size_t n, size_t size)
{
    size_t nbytes;
    void *ptr;

    if (cx_mul(n, size, &nbytes) != CX_OK || nbytes > SIZE_MAX - 64 ||
        must_fail())
        return NULL;
    nbytes = (nbytes + 63) & ~(size_t)63;
    if (nbytes == 0)
        nbytes = 64;
    ptr = aligned_alloc(64, nbytes);
    if (ptr == NULL)
        return NULL;
    memset(ptr, 0, nbytes);
    atomic_fetch_add(&live, 1);
    return ptr;
}

void cx_free(void *ptr)
{
    if (ptr == NULL)
        return;
    atomic_fetch_sub(&live, 1);
    free(ptr);
}

void cx_alloc_fail_at(unsigned long nth)
{
    atomic_store(&fail_countdown, nth);
}

long cx_alloc_live(void)
{
    return atomic_load(&live);
}

enum cx_status cx_mul(size_t a, size_t b, size_t *out)
{
    size_t product;

    if (__builtin_mul_overflow(a, b, &product))
        return CX_ERR_ARG;
    *out = product;
    return CX_OK;
}
