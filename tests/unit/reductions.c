/* SPDX-License-Identifier: BSD-3-Clause */
/* reductions.c - cx_reduce against a plain scalar oracle, bit for bit: all
 * types and operations, lengths 0 to 67 and some long ones, 1 to 4 operands,
 * any alignment, the result in any of the operands, NaN and signed zero. */
#include <math.h>
#include <string.h>

#include "base/types.h"
#include "coll/coll.h"
#include "unit.h"

#define MAX_ELEMENTS 5000
#define MAX_BYTES (MAX_ELEMENTS * 16 + 64)
#define MAX_K 4

static unsigned char *inputs[MAX_K], *given[MAX_K], *expected, *output;

static uint64_t oracle_int(enum cx_redop op, uint64_t a, uint64_t b, int less)
{
    switch (op) {
    case CX_SUM:
        return a + b;
    case CX_PROD:
        return a * b;
    case CX_MIN:
        return less ? a : b;
    case CX_MAX:
        return less ? b : a;
    case CX_LAND:
        return a && b;
    case CX_LOR:
        return a || b;
    case CX_LXOR:
        return !a != !b;
    case CX_BAND:
        return a & b;
    case CX_BOR:
        return a | b;
    default:
        return a ^ b;
    }
}

static double oracle_f64(enum cx_redop op, double a, double b)
{
    double r;

    switch (op) {
    case CX_SUM:
        r = a + b;
        break;
    case CX_PROD:
        r = a * b;
        break;
    case CX_MIN:
        r = a < b || (a == b && signbit(a)) ? a : b;
        break;
    default:
        r = a > b || (a == b && !signbit(a)) ? a : b;
    }
    return isnan(r) || ((op == CX_MIN || op == CX_MAX) && isnan(a)) ? NAN : r;
}

static float oracle_f32(enum cx_redop op, float a, float b)
{
    float r;

    switch (op) {
    case CX_SUM:
        r = a + b;
        break;
    case CX_PROD:
        r = a * b;
        break;
    case CX_MIN:
        r = a < b || (a == b && signbit(a)) ? a : b;
        break;
    default:
        r = a > b || (a == b && !signbit(a)) ? a : b;
    }
    return isnan(r) || ((op == CX_MIN || op == CX_MAX) && isnan(a)) ? NAN : r;
}

/* acc = acc op x on integers of `size` bytes; `sign`: as signed ones. */
static void fold_int(enum cx_redop op, unsigned char *acc,
                     const unsigned char *x, size_t size, int sign)
{
    unsigned shift = (unsigned)(64 - 8 * size);
    uint64_t a = 0, b = 0, r;
    int less;

    memcpy(&a, acc, size);
    memcpy(&b, x, size);
    if (sign)
        less = (int64_t)(a << shift) < (int64_t)(b << shift);
    else
        less = a < b;
    r = oracle_int(op, a, b, less);
    memcpy(acc, &r, size);
}

static void fold_f32(enum cx_redop op, unsigned char *acc,
                     const unsigned char *x)
{
    float a, b;

    memcpy(&a, acc, sizeof(a));
    memcpy(&b, x, sizeof(b));
    a = oracle_f32(op, a, b);
    memcpy(acc, &a, sizeof(a));
}

static void fold_f64(enum cx_redop op, unsigned char *acc,
                     const unsigned char *x)
{
    double a, b;

    memcpy(&a, acc, sizeof(a));
    memcpy(&b, x, sizeof(b));
    a = oracle_f64(op, a, b);
    memcpy(acc, &a, sizeof(a));
}

static void prod_c64(unsigned char *acc, const unsigned char *x)
{
    float a[2], b[2], r[2];

    memcpy(a, acc, sizeof(a));
    memcpy(b, x, sizeof(b));
    r[0] = a[0] * b[0] - a[1] * b[1];
    r[1] = a[0] * b[1] + a[1] * b[0];
    for (int i = 0; i < 2; i++)
        r[i] = isnan(r[i]) ? NAN : r[i];
    memcpy(acc, r, sizeof(r));
}

static void prod_c128(unsigned char *acc, const unsigned char *x)
{
    double a[2], b[2], r[2];

    memcpy(a, acc, sizeof(a));
    memcpy(b, x, sizeof(b));
    r[0] = a[0] * b[0] - a[1] * b[1];
    r[1] = a[0] * b[1] + a[1] * b[0];
    for (int i = 0; i < 2; i++)
        r[i] = isnan(r[i]) ? (double)NAN : r[i];
    memcpy(acc, r, sizeof(r));
}

static void fold(enum cx_dtype dtype, enum cx_redop op, unsigned char *acc,
                 const unsigned char *x)
{
    switch (dtype) {
    case CX_DT_F32:
        fold_f32(op, acc, x);
        break;
    case CX_DT_F64:
        fold_f64(op, acc, x);
        break;
    case CX_DT_C64:
        if (op == CX_PROD) {
            prod_c64(acc, x);
            break;
        }
        fold_f32(op, acc, x);
        fold_f32(op, acc + 4, x + 4);
        break;
    case CX_DT_C128:
        if (op == CX_PROD) {
            prod_c128(acc, x);
            break;
        }
        fold_f64(op, acc, x);
        fold_f64(op, acc + 8, x + 8);
        break;
    default:
        fold_int(op, acc, x, cx_dtype_size(dtype), dtype <= CX_DT_I64);
    }
}

/* Random bits, or a value at which something may go wrong. */
static void fill(struct rng *rng, enum cx_dtype dtype, unsigned char *at,
                 size_t nbytes)
{
    static const uint32_t odd32[] = {
        0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
        0xffc00001, 0x7f800001, 0x3f800000, 0x00000001, 0x7f7fffff};
    static const uint64_t odd64[] = {0,
                                     UINT64_C(0x8000000000000000),
                                     UINT64_C(0x7ff0000000000000),
                                     UINT64_C(0xfff0000000000000),
                                     UINT64_C(0x7ff8000000000000),
                                     UINT64_C(0xfff8000000000001),
                                     UINT64_C(0x7ff0000000000001),
                                     UINT64_C(0x3ff0000000000000),
                                     1,
                                     UINT64_C(0x7fefffffffffffff)};
    int wide = dtype == CX_DT_F64 || dtype == CX_DT_C128;
    size_t step = wide ? 8 : 4;

    for (size_t i = 0; i + step <= nbytes + 3; i += step) {
        uint64_t bits = rng_next(rng);
        uint32_t k = rng_below(rng, 20);

        if (k < 10)
            bits = wide ? odd64[k] : odd32[k];
        memcpy(at + i, &bits, i + step <= nbytes ? step : nbytes - i);
    }
}

/* `alias`: the operand that is the result too, or -1. */
static void one(struct rng *rng, enum cx_dtype dtype, enum cx_redop op,
                size_t count, int k, int alias)
{
    size_t elsize = cx_dtype_size(dtype), nbytes = count * elsize;
    unsigned char *dst = output + rng_below(rng, 17);
    const void *srcs[MAX_K];

    for (int j = 0; j < k; j++) {
        given[j] = inputs[j] + rng_below(rng, 17);
        fill(rng, dtype, given[j], nbytes);
        srcs[j] = given[j];
    }
    memcpy(expected, given[0], nbytes);
    for (int j = 1; j < k; j++)
        for (size_t i = 0; i < count; i++)
            fold(dtype, op, expected + i * elsize, given[j] + i * elsize);
    if (alias >= 0)
        dst = given[alias];
    dst[nbytes] = 0x5a;
    cx_reduce(dtype, op, dst, srcs, k, count);
    for (size_t i = 0; i < nbytes; i++)
        CHECK(dst[i] == expected[i],
              "%s %s, %zu elements, %d operands, result in %d: byte %zu is "
              "%02x, not %02x",
              cx_redop_str(op), cx_dtype_str(dtype), count, k, alias, i, dst[i],
              expected[i]);
    CHECK(dst[nbytes] == 0x5a, "%s %s", cx_redop_str(op), cx_dtype_str(dtype));
}

static void all(enum cx_dtype dtype, enum cx_redop op)
{
    struct rng rng = {.state = (uint64_t)dtype * 100 + op};

    for (size_t count = 0; count <= 67; count++)
        for (int k = 1; k <= MAX_K; k++)
            for (int alias = -1; alias < k; alias++)
                one(&rng, dtype, op, count, k, alias);
    for (int k = 1; k <= MAX_K; k++)
        one(&rng, dtype, op, MAX_ELEMENTS, k,
            (int)rng_below(&rng, (uint32_t)k + 1) - 1);
}

int main(void)
{
    int n = 0;

    for (int j = 0; j < MAX_K; j++)
        inputs[j] = must_alloc(MAX_BYTES);
    expected = must_alloc(MAX_BYTES);
    output = must_alloc(MAX_BYTES);
    for (int dtype = 0; dtype < CX_NDTYPES; dtype++) {
        for (int op = 0; op < CX_NREDOPS; op++) {
            if (!cx_redop_valid((enum cx_redop)op, (enum cx_dtype)dtype))
                continue;
            all((enum cx_dtype)dtype, (enum cx_redop)op);
            n++;
        }
    }
    for (int j = 0; j < MAX_K; j++)
        free(inputs[j]);
    free(expected);
    free(output);
    printf("%d reductions\n", n);
    CHECK(n > 0, "no reduction at all");
    return 0;
}
