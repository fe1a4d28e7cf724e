/* SPDX-License-Identifier: BSD-3-Clause */
/* selftest.c - does the MPI library reduce correctly?
 *
 * Debian's MPICH 4.0.2 is wrong for unsigned MIN and MAX and gives NaN or not
 * by operand order. A pair (op, type) that fails here on any rank is never left
 * to MPI. Every ordered pair of some corner values is tried. Values are
 * compared; of a NaN only that it is one, since payloads come in many forms. */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "engine/engine.h"

enum { NVALUES = 10, N = 2 * NVALUES * NVALUES, MAX_BYTES = 32 };

enum kind {
    UNTRIED, /* MPI need not have it */
    INTEGER,
    FLOATING,
    FINITE, /* products of infinite complex numbers have no one right answer */
    TRUTH   /* 0 or 1 */
};

struct part {
    enum kind kind;
    size_t size;
};

/* One element: a value, and the imaginary part or the index that follows it. */
static const struct {
    struct part value, other;
} layouts[CX_NDTYPES] = {
    [CX_DT_BYTE] = {{INTEGER, 1}, {0}},
    [CX_DT_I8] = {{INTEGER, 1}, {0}},
    [CX_DT_I16] = {{INTEGER, 2}, {0}},
    [CX_DT_I32] = {{INTEGER, 4}, {0}},
    [CX_DT_I64] = {{INTEGER, 8}, {0}},
    [CX_DT_U8] = {{INTEGER, 1}, {0}},
    [CX_DT_U16] = {{INTEGER, 2}, {0}},
    [CX_DT_U32] = {{INTEGER, 4}, {0}},
    [CX_DT_U64] = {{INTEGER, 8}, {0}},
    [CX_DT_F32] = {{FLOATING, 4}, {0}},
    [CX_DT_F64] = {{FLOATING, 8}, {0}},
    [CX_DT_F80] = {{FLOATING, 16}, {0}},
    [CX_DT_C64] = {{FINITE, 4}, {FINITE, 4}},
    [CX_DT_C128] = {{FINITE, 8}, {FINITE, 8}},
    [CX_DT_CF80] = {{FINITE, 16}, {FINITE, 16}},
    [CX_DT_BOOL] = {{TRUTH, 1}, {0}},
    [CX_DT_LOGICAL] = {{TRUTH, 4}, {0}},
    [CX_DT_F32_I32] = {{FLOATING, 4}, {INTEGER, 4}},
    [CX_DT_F64_I32] = {{FLOATING, 8}, {INTEGER, 4}},
    [CX_DT_F80_I32] = {{FLOATING, 16}, {INTEGER, 4}},
    [CX_DT_I16_I32] = {{INTEGER, 2}, {INTEGER, 4}},
    [CX_DT_I32_I32] = {{INTEGER, 4}, {INTEGER, 4}},
    [CX_DT_I64_I32] = {{INTEGER, 8}, {INTEGER, 4}},
    [CX_DT_F32_F32] = {{FLOATING, 4}, {FINITE, 4}},
    [CX_DT_F64_F64] = {{FLOATING, 8}, {FINITE, 8}},
};

static const double floats[NVALUES] = {1.5,  -2.25,     0.0,      -0.0, 1e30,
                                       -3.0, -INFINITY, INFINITY, NAN,  7.0};
static const double plain[NVALUES] = {0.5, 1.5,  -2.5, 3.5,   4.5,
                                      -6,  -7.5, 8.5,  -9.25, 10};

static double float_at(const unsigned char *at, size_t size)
{
    long double wide;
    double value;
    float narrow;

    if (size == sizeof(float)) {
        memcpy(&narrow, at, size);
        return (double)narrow;
    }
    if (size == sizeof(double)) {
        memcpy(&value, at, size);
        return value;
    }
    memcpy(&wide, at, sizeof(wide));
    return (double)wide;
}

static void put_float(unsigned char *at, size_t size, double value)
{
    long double wide = (long double)value;
    float narrow = (float)value;

    memset(at, 0, size);
    if (size == sizeof(float))
        memcpy(at, &narrow, size);
    else if (size == sizeof(double))
        memcpy(at, &value, size);
    else
        memcpy(at, &wide, CX_HAVE_F80 ? 10 : sizeof(wide));
}

/* Small, large, only the top bit, all other bits, all bits. */
static void put_integer(unsigned char *at, size_t size, int k)
{
    static const unsigned char top[NVALUES] = {0,    0,    0x80, 0x7f, 0xff,
                                               0xc0, 0x40, 0x01, 0xfe, 0};
    static const unsigned char low[NVALUES] = {0,    1, 0,    0xff, 0xff,
                                               0x25, 0, 0xfe, 0x80, 2};

    memset(at, low[k], size);
    at[size - 1] = size > 1 || top[k] != 0 ? top[k] : low[k];
}

static void put(const struct part *part, unsigned char *at, int k)
{
    switch (part->kind) {
    case INTEGER:
        put_integer(at, part->size, k);
        break;
    case FLOATING:
        put_float(at, part->size, floats[k]);
        break;
    case FINITE:
        put_float(at, part->size, plain[k]);
        break;
    default:
        memset(at, 0, part->size);
        if (part->size > 0)
            at[0] = k % 2;
    }
}

static int same(const struct part *part, const unsigned char *a,
                const unsigned char *b)
{
    size_t size = part->size == 16 && CX_HAVE_F80 ? 10 : part->size;

    if (part->kind == FLOATING && isnan(float_at(a, part->size)) &&
        isnan(float_at(b, part->size)))
        return 1;
    return memcmp(a, b, size) == 0;
}

/* Value `k` of the type; what follows it is number `k` of its own kind. */
static void put_element(enum cx_dtype dtype, unsigned char *at, int k,
                        int other)
{
    put(&layouts[dtype].value, at, k);
    put(&layouts[dtype].other, at + layouts[dtype].value.size, other);
}

static int agrees(enum cx_redop op, enum cx_dtype dtype)
{
    _Alignas(64) unsigned char in[N * MAX_BYTES], inout[N * MAX_BYTES],
        ours[N * MAX_BYTES];
    size_t size = cx_dtype_size(dtype), skip = layouts[dtype].value.size;
    const void *operands[2] = {in, inout};
    int i;

    if (layouts[dtype].value.kind == UNTRIED)
        return 0;
    for (i = 0; i < N; i++) {
        int a = i / NVALUES % NVALUES, b = i % NVALUES;
        int swap = i / (NVALUES * NVALUES); /* ties with either index lower */

        put_element(dtype, in + (size_t)i * size, a, (a + swap) % NVALUES);
        put_element(dtype, inout + (size_t)i * size, b, (b + !swap) % NVALUES);
    }
    cx_reduce(dtype, op, ours, operands, 2, N);
    if (cx_process.svc->reduce_local(in, inout, N, dtype, op) != CX_OK)
        return 0;
    for (i = 0; i < N; i++) {
        const unsigned char *x = ours + (size_t)i * size,
                            *y = inout + (size_t)i * size;

        if (!same(&layouts[dtype].value, x, y) ||
            !same(&layouts[dtype].other, x + skip, y + skip))
            return 0;
    }
    return 1;
}

static void tell(enum cx_redop op, const unsigned char *wrong)
{
    char list[512] = "";
    size_t used = 0;
    int dtype;

    for (dtype = 0; dtype < CX_NDTYPES && used < sizeof(list); dtype++) {
        if (wrong[dtype])
            used += (size_t)snprintf(list + used, sizeof(list) - used, " %s",
                                     cx_dtype_str((enum cx_dtype)dtype));
    }
    if (used > 0)
        cx_debug("self-test: %s is not left to MPI for:%s", cx_redop_str(op),
                 list);
}

/* The corner values overflow and compare NaN: no trap of the program may see
 * that, and no flag may stay. */
void cx_selftest(unsigned char wrong[CX_NREDOPS][CX_NDTYPES])
{
    int op, dtype;
    fenv_t program;

    feholdexcept(&program);
    memset(wrong, 0, CX_NREDOPS * CX_NDTYPES);
    for (op = 0; op < CX_NREDOPS; op++) {
        for (dtype = 0; dtype < CX_NDTYPES; dtype++) {
            if (!cx_redop_valid((enum cx_redop)op, (enum cx_dtype)dtype))
                continue;
            wrong[op][dtype] = !agrees((enum cx_redop)op, (enum cx_dtype)dtype);
        }
        tell((enum cx_redop)op, wrong[op]);
    }
    fesetenv(&program);
}
