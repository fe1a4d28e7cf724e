/* SPDX-License-Identifier: BSD-3-Clause */
/* oracle.c - the scalar reference. */
#include "oracle.h"

#include <stdint.h>
#include <string.h>

__extension__ typedef _Float128 quad;

const char *const or_op_name[OR_NOPS] = {"SUM",  "PROD", "MIN",    "MAX",
                                         "LAND", "LOR",  "LXOR",   "BAND",
                                         "BOR",  "BXOR", "MINLOC", "MAXLOC"};

/* --- floats --------------------------------------------------------------- */

static quad power(int e)
{
    quad p = 1;

    for (; e > 0; e--)
        p *= 2;
    for (; e < 0; e++)
        p /= 2;
    return p;
}

static quad half_value(uint16_t bits)
{
    int e = bits >> 10 & 31, m = bits & 1023;
    quad v;

    if (e == 31)
        v = m ? (quad)__builtin_nan("") : (quad)__builtin_inf();
    else if (e == 0)
        v = m * power(-24);
    else
        v = (m + 1024) * power(e - 25);
    return bits >> 15 ? -v : v;
}

/* To nearest, ties to even; `v` is not a NaN. */
static uint16_t half_bits(quad v)
{
    uint16_t sign = __builtin_signbit(v) ? 0x8000 : 0;
    quad a = sign ? -v : v, rest;
    int e = -14, n;

    if (a >= 65520)
        return sign | 0x7c00;
    while (a >= power(e + 1))
        e++;
    a *= power(10 - e); /* in units of the last place */
    n = (int)a;
    rest = a - n;
    n += rest > (quad)0.5 || (rest == (quad)0.5 && n % 2);
    if (n < 1024)
        return (uint16_t)(sign | n);
    return (uint16_t)(sign | (((e + 15) << 10) + (n - 1024)));
}

static quad load(const struct or_part *part, const void *at)
{
    uint16_t h;
    float f;
    double d;
    long double x;
    quad q;

    if (part->class == OR_X87) {
        memcpy(&x, at, sizeof(x));
        return x;
    }
    switch (part->size) {
    case 2:
        memcpy(&h, at, sizeof(h));
        return half_value(h);
    case 4:
        memcpy(&f, at, sizeof(f));
        return f;
    case 8:
        memcpy(&d, at, sizeof(d));
        return d;
    default:
        memcpy(&q, at, sizeof(q));
        return q;
    }
}

/* The canonical NaN: positive, quiet, no payload. */
static void store_nan(const struct or_part *part, unsigned char *at)
{
    static const unsigned char top[17][4] = {
        [2] = {0x00, 0x7e},
        [4] = {0x00, 0x00, 0xc0, 0x7f},
        [8] = {0x00, 0x00, 0xf8, 0x7f},
        [10] = {0x00, 0xc0, 0xff, 0x7f},
        [16] = {0x00, 0x80, 0xff, 0x7f},
    };
    size_t size = part->class == OR_X87 ? 10 : part->size;
    size_t n = size < 4 ? size : 4;

    memset(at, 0, size);
    memcpy(at + size - n, top[size], n);
}

static void store(const struct or_part *part, void *at, quad v)
{
    long double x = (long double)v;
    double d = (double)v;
    float f = (float)v;
    uint16_t h;

    if (v != v) {
        store_nan(part, at);
    } else if (part->class == OR_X87) {
        memcpy(at, &x, 10);
    } else if (part->size == 2) {
        h = half_bits(v);
        memcpy(at, &h, sizeof(h));
    } else if (part->size == 4) {
        memcpy(at, &f, sizeof(f));
    } else if (part->size == 8) {
        memcpy(at, &d, sizeof(d));
    } else {
        memcpy(at, &v, sizeof(v));
    }
}

/* One sum, difference ('-') or product, rounded to the part's format. */
static quad rounded(const struct or_part *part, char op, quad a, quad b)
{
    unsigned char bytes[16] = {0};
    quad r;

    if (part->class == OR_X87) { /* 113 bits are too few for its 64 */
        long double x = (long double)a, y = (long double)b;

        r = op == '*' ? x * y : op == '-' ? x - y : x + y;
    } else {
        r = op == '*' ? a * b : op == '-' ? a - b : a + b;
    }
    store(part, bytes, r);
    return load(part, bytes);
}

static quad least(quad a, quad b)
{
    if (a != a || b != b)
        return (quad)__builtin_nan("");
    if (a == b)
        return __builtin_signbit(a) ? a : b;
    return a < b ? a : b;
}

static quad most(quad a, quad b)
{
    return -least(-a, -b);
}

static void fold_float(const struct or_part *part, enum or_op op, void *acc,
                       const void *x)
{
    quad a = load(part, acc), b = load(part, x), r;

    if (op == OR_SUM || op == OR_PROD)
        r = rounded(part, op == OR_SUM ? '+' : '*', a, b);
    else
        r = op == OR_MIN ? least(a, b) : most(a, b);
    store(part, acc, r);
}

/* (a + bi)(c + di) = (ac - bd) + (ad + bc)i, each operation rounded. */
static void fold_complex(const struct or_part *part, enum or_op op,
                         unsigned char *acc, const unsigned char *x)
{
    quad a = load(part, acc), b = load(part, acc + part->size);
    quad c = load(part, x), d = load(part, x + part->size);
    quad re, im;

    if (op == OR_SUM) {
        re = rounded(part, '+', a, c);
        im = rounded(part, '+', b, d);
    } else {
        re = rounded(part, '-', rounded(part, '*', a, c),
                     rounded(part, '*', b, d));
        im = rounded(part, '+', rounded(part, '*', a, d),
                     rounded(part, '*', b, c));
    }
    store(part, acc, re);
    store(part, acc + part->size, im);
}

/* --- integers --------------------------------------------------------------
 */

static uint64_t bits_of(const struct or_part *part, const void *at)
{
    uint64_t v = 0;
    int unused = 64 - 8 * (int)part->size;

    memcpy(&v, at, part->size); /* little endian */
    if (part->class == OR_SIGNED)
        return (uint64_t)((int64_t)(v << unused) >> unused);
    return v;
}

static int below(const struct or_part *part, uint64_t a, uint64_t b)
{
    return part->class == OR_SIGNED ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t int_result(const struct or_part *part, enum or_op op,
                           uint64_t a, uint64_t b)
{
    switch (op) {
    case OR_SUM:
        return a + b;
    case OR_PROD:
        return a * b;
    case OR_MIN:
        return below(part, a, b) ? a : b;
    case OR_MAX:
        return below(part, a, b) ? b : a;
    case OR_LAND:
        return a && b;
    case OR_LOR:
        return a || b;
    case OR_LXOR:
        return !a != !b;
    case OR_BAND:
        return a & b;
    case OR_BOR:
        return a | b;
    default:
        return a ^ b;
    }
}

static void fold_part(const struct or_part *part, enum or_op op, void *acc,
                      const void *x)
{
    uint64_t r;

    if (part->class == OR_FLOAT || part->class == OR_X87) {
        fold_float(part, op, acc, x);
        return;
    }
    r = int_result(part, op, bits_of(part, acc), bits_of(part, x));
    memcpy(acc, &r, part->size);
}

/* --- pairs ------------------------------------------------------------------
 */

static int same_value(const struct or_part *part, const void *a, const void *b)
{
    if (part->class == OR_FLOAT || part->class == OR_X87) {
        quad u = load(part, a), v = load(part, b);

        return u == v || (u != u && v != v);
    }
    return bits_of(part, a) == bits_of(part, b);
}

/* The index: of those whose value equals the result's, the lowest. */
static void fold_pair(const struct or_type *type, enum or_op op,
                      unsigned char *acc, const unsigned char *x)
{
    unsigned char best[16] = {0};
    int mine, theirs;

    memcpy(best, acc, type->value.size);
    fold_part(&type->value, op == OR_MINLOC ? OR_MIN : OR_MAX, best, x);
    mine = same_value(&type->value, best, acc);
    theirs = same_value(&type->value, best, x);
    if (mine && theirs)
        fold_part(&type->index, OR_MIN, acc + type->index_at,
                  x + type->index_at);
    else if (theirs)
        memcpy(acc + type->index_at, x + type->index_at, type->index.size);
    memcpy(acc, best, type->value.class == OR_X87 ? 10 : type->value.size);
}

void or_fold(const struct or_type *type, enum or_op op, void *acc,
             const void *x)
{
    if (type->kind == OR_PAIR)
        fold_pair(type, op, acc, x);
    else if (type->kind == OR_COMPLEX)
        fold_complex(&type->value, op, acc, x);
    else
        fold_part(&type->value, op, acc, x);
}

int or_padding(const struct or_type *type, size_t at)
{
    const struct or_part *part = &type->value;

    if (type->kind == OR_COMPLEX)
        at %= part->size;
    else if (type->kind == OR_PAIR && at >= type->index_at)
        return at >= type->index_at + type->index.size;
    return at >= (part->class == OR_X87 ? 10 : part->size);
}

int or_differs(const struct or_type *type, const void *a, const void *b)
{
    const unsigned char *p = a, *q = b;

    for (size_t i = 0; i < type->extent; i++)
        if (p[i] != q[i] && !or_padding(type, i))
            return 1;
    return 0;
}

int or_is_nan(const struct or_type *type, const void *x)
{
    const struct or_part *part = &type->value;
    int n = type->kind == OR_COMPLEX ? 2 : 1, found = 0;

    if (part->class != OR_FLOAT && part->class != OR_X87)
        return 0;
    for (int i = 0; i < n; i++) {
        quad v = load(part, (const char *)x + (size_t)i * part->size);

        found |= v != v;
    }
    return found;
}
