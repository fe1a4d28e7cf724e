/* SPDX-License-Identifier: BSD-3-Clause */
/* selftest.c - does the MPI library reduce correctly?
 *
 * Debian's MPICH 4.0.2 is wrong for unsigned MIN and MAX and gives NaN or not
 * by operand order. A pair (op, type) that fails here on any rank is never left
 * to MPI. Values are compared; of a NaN only that it is one, since payloads
 * come in many forms. */
#include <math.h>
#include <string.h>

#include "engine/engine.h"

enum { N = 16 };

/* Corner values of an integer or float type of `size` bytes, from a pattern:
 * small, large, top bit set, all ones, and for floats NaN, -0 and infinities.
 */
static void fill_ints(unsigned char *out, size_t size, unsigned seed)
{
    static const unsigned char tops[] = {0x00, 0x7f, 0x80, 0xff,
                                         0x01, 0xc0, 0x40, 0xfe};
    size_t i;

    for (i = 0; i < N; i++) {
        unsigned char top = tops[(i + seed * 3 + (seed * i) / 2) % 8];

        memset(out + i * size, (int)(i * 37 + seed * 11), size);
        out[i * size + size - 1] = top;
        if (i % 5 == seed % 5)
            memset(out + i * size, 0, size); /* false, for logical ops */
    }
}

static const double floats[] = {1.5,  -2.25,     0.0,      -0.0, 1e30,
                                -3.0, -INFINITY, INFINITY, NAN,  7.0};

static double pick_float(size_t i, unsigned seed)
{
    return floats[(i * (seed + 1) + seed * 7) % 10];
}

static void fill_floats(unsigned char *out, enum cx_dtype dtype, unsigned seed)
{
    /* Complex products of infinities and NaN have no one right answer. */
    int finite = dtype == CX_DT_C64 || dtype == CX_DT_C128;
    size_t parts = finite ? 2 : 1, size = cx_dtype_size(dtype) / parts, i;

    for (i = 0; i < N * parts; i++) {
        double value = finite ? (double)((i * 5 + seed * 3) % 11) - 4.5
                              : pick_float(i, seed);
        float narrow = (float)value;

        if (size == sizeof(double))
            memcpy(out + i * size, &value, size);
        else
            memcpy(out + i * size, &narrow, size);
    }
}

static int same_floats(const unsigned char *a, const unsigned char *b,
                       size_t size, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        double x, y;
        float fx, fy;

        if (size == sizeof(double)) {
            memcpy(&x, a + i * size, size);
            memcpy(&y, b + i * size, size);
        } else {
            memcpy(&fx, a + i * size, size);
            memcpy(&fy, b + i * size, size);
            x = (double)fx;
            y = (double)fy;
        }
        if (isnan(x) && isnan(y))
            continue;
        if (memcmp(a + i * size, b + i * size, size) != 0)
            return 0;
    }
    return 1;
}

static int is_float(enum cx_dtype dtype)
{
    return dtype == CX_DT_F32 || dtype == CX_DT_F64 || dtype == CX_DT_C64 ||
           dtype == CX_DT_C128;
}

static int agrees(enum cx_redop op, enum cx_dtype dtype, unsigned seed)
{
    _Alignas(64) unsigned char in[N * 16], inout[N * 16], ours[N * 16];
    size_t size = cx_dtype_size(dtype);
    int complex_type = dtype == CX_DT_C64 || dtype == CX_DT_C128;
    const void *operands[2] = {in, inout};

    if (is_float(dtype)) {
        fill_floats(in, dtype, seed);
        fill_floats(inout, dtype, seed + 1);
    } else {
        fill_ints(in, size, seed);
        fill_ints(inout, size, seed + 1);
    }
    cx_reduce(dtype, op, ours, operands, 2, N);
    if (cx_process.svc->reduce_local(in, inout, N, dtype, op) != CX_OK)
        return 0;
    if (complex_type)
        return same_floats(ours, inout, size / 2, 2 * N);
    if (is_float(dtype))
        return same_floats(ours, inout, size, N);
    return memcmp(ours, inout, N * size) == 0;
}

void cx_selftest(unsigned char wrong[CX_NREDOPS][CX_NDTYPES])
{
    int op, dtype;
    unsigned seed;

    memset(wrong, 0, CX_NREDOPS * CX_NDTYPES);
    for (op = 0; op < CX_NREDOPS; op++) {
        for (dtype = 0; dtype < CX_NDTYPES; dtype++) {
            if (!cx_redop_valid((enum cx_redop)op, (enum cx_dtype)dtype))
                continue;
            for (seed = 0; seed < 8; seed++)
                wrong[op][dtype] |=
                    !agrees((enum cx_redop)op, (enum cx_dtype)dtype, seed);
        }
    }
}
