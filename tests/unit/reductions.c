/* SPDX-License-Identifier: BSD-3-Clause */
/* reductions.c - cx_reduce against the scalar oracle, bit for bit: all
 * types and operations, lengths 0 to 67 and some long ones, 1 to 4 operands,
 * any alignment, the result in any of the operands, NaN and signed zero. */
#include <string.h>

#include "base/types.h"
#include "coll/coll.h"
#include "oracle.h"
#include "unit.h"

#define MAX_ELEMENTS 5000
#define MAX_BYTES (MAX_ELEMENTS * 32 + 64)
#define MAX_K 4

static unsigned char *inputs[MAX_K], *given[MAX_K], *expected, *output;

#define INT(class, size)                                                       \
    {                                                                          \
#class, OR_NUMBER, {class, size }, {class, 0 }, 0, size                \
    }
#define FLOAT(size)                                                            \
    {                                                                          \
        "float", OR_NUMBER, {OR_FLOAT, size}, {OR_FLOAT, 0}, 0, size           \
    }

/* The types of the engine as the oracle knows them. */
static const struct or_type types[CX_NDTYPES] = {
    [CX_DT_BYTE] = INT(OR_UNSIGNED, 1),
    [CX_DT_I8] = INT(OR_SIGNED, 1),
    [CX_DT_I16] = INT(OR_SIGNED, 2),
    [CX_DT_I32] = INT(OR_SIGNED, 4),
    [CX_DT_I64] = INT(OR_SIGNED, 8),
    [CX_DT_U8] = INT(OR_UNSIGNED, 1),
    [CX_DT_U16] = INT(OR_UNSIGNED, 2),
    [CX_DT_U32] = INT(OR_UNSIGNED, 4),
    [CX_DT_U64] = INT(OR_UNSIGNED, 8),
    [CX_DT_F16] = FLOAT(2),
    [CX_DT_F32] = FLOAT(4),
    [CX_DT_F64] = FLOAT(8),
    [CX_DT_F80] = {"f80", OR_NUMBER, {OR_X87, 16}, {0}, 0, 16},
    [CX_DT_F128] = FLOAT(16),
    [CX_DT_C64] = {"c64", OR_COMPLEX, {OR_FLOAT, 4}, {0}, 0, 8},
    [CX_DT_C128] = {"c128", OR_COMPLEX, {OR_FLOAT, 8}, {0}, 0, 16},
    [CX_DT_CF80] = {"cf80", OR_COMPLEX, {OR_X87, 16}, {0}, 0, 32},
    [CX_DT_CF128] = {"cf128", OR_COMPLEX, {OR_FLOAT, 16}, {0}, 0, 32},
    [CX_DT_BOOL] = {"bool", OR_LOGICAL, {OR_UNSIGNED, 1}, {0}, 0, 1},
    [CX_DT_LOGICAL] = {"logical", OR_LOGICAL, {OR_SIGNED, 4}, {0}, 0, 4},
    [CX_DT_F32_I32] = {"", OR_PAIR, {OR_FLOAT, 4}, {OR_SIGNED, 4}, 4, 8},
    [CX_DT_F64_I32] = {"", OR_PAIR, {OR_FLOAT, 8}, {OR_SIGNED, 4}, 8, 12},
    [CX_DT_F80_I32] = {"", OR_PAIR, {OR_X87, 16}, {OR_SIGNED, 4}, 16, 20},
    [CX_DT_I16_I32] = {"", OR_PAIR, {OR_SIGNED, 2}, {OR_SIGNED, 4}, 2, 6},
    [CX_DT_I32_I32] = {"", OR_PAIR, {OR_SIGNED, 4}, {OR_SIGNED, 4}, 4, 8},
    [CX_DT_I64_I32] = {"", OR_PAIR, {OR_SIGNED, 8}, {OR_SIGNED, 4}, 8, 12},
    [CX_DT_F32_F32] = {"", OR_PAIR, {OR_FLOAT, 4}, {OR_FLOAT, 4}, 4, 8},
    [CX_DT_F64_F64] = {"", OR_PAIR, {OR_FLOAT, 8}, {OR_FLOAT, 8}, 8, 16},
};

static const enum or_op ops[CX_NREDOPS] = {
    [CX_SUM] = OR_SUM,   [CX_PROD] = OR_PROD,     [CX_MIN] = OR_MIN,
    [CX_MAX] = OR_MAX,   [CX_LAND] = OR_LAND,     [CX_LOR] = OR_LOR,
    [CX_LXOR] = OR_LXOR, [CX_BAND] = OR_BAND,     [CX_BOR] = OR_BOR,
    [CX_BXOR] = OR_BXOR, [CX_MINLOC] = OR_MINLOC, [CX_MAXLOC] = OR_MAXLOC,
};

/* Zeros of both signs, infinities, NaNs quiet and not, with payload and sign,
 * one, the smallest and the largest number. */
static const struct {
    uint16_t b2;
    uint32_t b4;
    uint64_t b8;
    uint16_t top;  /* x87 and quad: sign and exponent */
    uint64_t high; /* x87: significand; quad: its top 48 bits shifted down */
} odd[] = {
    {0, 0, 0, 0, 0},
    {0x8000, 0x80000000, UINT64_C(0x8000000000000000), 0x8000, 0},
    {0x7c00, 0x7f800000, UINT64_C(0x7ff0000000000000), 0x7fff, 0},
    {0xfc00, 0xff800000, UINT64_C(0xfff0000000000000), 0xffff, 0},
    {0x7e00, 0x7fc00000, UINT64_C(0x7ff8000000000000), 0x7fff,
     UINT64_C(0x4000000000000000)},
    {0xfe01, 0xffc00001, UINT64_C(0xfff8000000000001), 0xffff,
     UINT64_C(0x4000000000000100)},
    {0x7c01, 0x7f800001, UINT64_C(0x7ff0000000000001), 0x7fff, 0x10000},
    {0x3c00, 0x3f800000, UINT64_C(0x3ff0000000000000), 0x3fff, 0},
    {0x0001, 0x00000001, 1, 0, 0x8000},
    {0x7bff, 0x7f7fffff, UINT64_C(0x7fefffffffffffff), 0x7ffe,
     UINT64_C(0x7fffffffffffffff)},
};

/* `at` is a float: puts one of the odd ones there, or mends a random one whose
 * bits stand for no number. */
static void put_float(const struct or_part *part, unsigned char *at, uint32_t k)
{
    uint64_t high = k < 10 ? odd[k].high : 0;
    uint16_t top = k < 10 ? odd[k].top : 0;

    if (part->class == OR_X87) {
        if (k >= 10) {
            memcpy(&high, at, 8);
            memcpy(&top, at + 8, 2);
        }
        /* The top bit is 1 except in zero and subnormal numbers. */
        high = high << 1 >> 1 | (uint64_t)((top & 0x7fff) != 0) << 63;
        memcpy(at, &high, 8);
        memcpy(at + 8, &top, 2);
    } else if (k < 10 && part->size == 16) {
        memset(at, 0, 16);
        high <<= 1;
        memcpy(at + 6, &high, 8);
        memcpy(at + 14, &top, 2);
    } else if (k < 10) {
        memcpy(at,
               part->size == 2   ? (const void *)&odd[k].b2
               : part->size == 4 ? (const void *)&odd[k].b4
                                 : (const void *)&odd[k].b8,
               part->size);
    }
}

/* Random bits, or a value at which something may go wrong: of integers no bit,
 * all bits, only the top bit, all others. */
static void put_part(struct rng *rng, const struct or_part *part,
                     unsigned char *at)
{
    uint32_t k = rng_below(rng, 20);

    for (size_t i = 0; i < part->size; i++)
        at[i] = (unsigned char)rng_next(rng);
    if (part->class == OR_FLOAT || part->class == OR_X87) {
        put_float(part, at, k);
        return;
    }
    if (k < 8) {
        memset(at, k & 1 ? 0xff : 0, part->size);
        at[part->size - 1] ^= k & 2 ? 0x80 : 0;
    }
    if (k >= 15) { /* small: ties, and values that differ in one byte only */
        memset(at, 0, part->size);
        at[0] = (unsigned char)(k - 14);
    }
}

static void fill(struct rng *rng, enum cx_dtype dtype, unsigned char *at,
                 size_t count)
{
    const struct or_type *t = &types[dtype];

    for (size_t i = 0; i < count; i++, at += t->extent) {
        memset(at, 0xa5, t->extent); /* the padding */
        put_part(rng, &t->value, at);
        if (t->value.class == OR_X87)
            memset(at + 10, 0xa5, 6);
        if (t->kind == OR_COMPLEX)
            put_part(rng, &t->value, at + t->value.size);
        if (t->kind == OR_PAIR)
            put_part(rng, &t->index, at + t->index_at);
    }
}

static void check_result(enum cx_dtype dtype, enum cx_redop op,
                         const unsigned char *dst, size_t count, int k)
{
    const struct or_type *t = &types[dtype];

    for (size_t i = 0; i < count; i++) {
        const unsigned char *got = dst + i * t->extent;

        CHECK(!or_differs(t, got, expected + i * t->extent),
              "%s %s, %zu elements, %d operands: element %zu is wrong",
              cx_redop_str(op), cx_dtype_str(dtype), count, k, i);
        for (size_t b = 0; b < t->extent && k > 1; b++)
            CHECK(!or_padding(t, b) || got[b] == 0,
                  "%s %s: what lay in the padding is part of the result",
                  cx_redop_str(op), cx_dtype_str(dtype));
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
        fill(rng, dtype, given[j], count);
        srcs[j] = given[j];
    }
    memcpy(expected, given[0], nbytes);
    for (int j = 1; j < k; j++)
        for (size_t i = 0; i < count; i++)
            or_fold(&types[dtype], ops[op], expected + i * elsize,
                    given[j] + i * elsize);
    if (alias >= 0)
        dst = given[alias];
    dst[nbytes] = 0x5a;
    cx_reduce(dtype, op, dst, srcs, k, count);
    check_result(dtype, op, dst, count, k);
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
    /* 8 integers x 10, 5 floats x 4, 4 complex x 2, 2 logicals x 3, bytes x 3,
     * 8 pairs x 2 */
    CHECK(n == 80 + 20 + 8 + 6 + 3 + 16, "%d reductions", n);
    return 0;
}
