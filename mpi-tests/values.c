/* SPDX-License-Identifier: BSD-3-Clause */
/* values.c - inputs that depend on rank and index, and the scalar reference. */
#include "values.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "mt.h"

const char *const v_type_name[V_NTYPES] = {"int", "float", "double",
                                           "double_complex", "uint64"};
const char *const v_op_name[V_NOPS] = {"SUM", "PROD", "MAX", "MIN"};

static int find(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], name))
            return i;
    return -1;
}

int v_type_find(const char *name)
{
    return find(v_type_name, V_NTYPES, name);
}

int v_op_find(const char *name)
{
    return find(v_op_name, V_NOPS, name);
}

size_t v_size(enum vtype type)
{
    static const size_t size[V_NTYPES] = {4, 4, 8, 16, 8};

    return size[type];
}

MPI_Datatype v_mpi_type(enum vtype type)
{
    const MPI_Datatype mpi[V_NTYPES] = {MPI_INT, MPI_FLOAT, MPI_DOUBLE,
                                        MPI_C_DOUBLE_COMPLEX, MPI_UINT64_T};

    return mpi[type];
}

MPI_Op v_mpi_op(enum vop op)
{
    const MPI_Op mpi[V_NOPS] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN};

    return mpi[op];
}

int v_is_float(enum vtype type)
{
    return type == V_FLOAT || type == V_DOUBLE || type == V_ZDOUBLE;
}

/* Whole numbers so small that sums and products of eight are exact in a float:
 * -3..3 without 0 in products, -500..500 in sums, anything that a float holds
 * exactly in MIN and MAX. */
static int small(enum vop op, uint64_t h)
{
    if (op == V_PROD) {
        int v = 1 + (int)(h % 3);

        return h & 0x100 ? -v : v;
    }
    if (op == V_SUM)
        return (int)(h % 1001) - 500;
    return (int)(h % 16777217) - 8388608;
}

/* 2+i times a power of i: no product of these has a zero component, whose sign
 * would depend on the order. */
static double complex unit_of(uint64_t h)
{
    static const int re[] = {2, -1, -2, 1}, im[] = {1, 2, -1, -2};

    return CMPLX(re[h & 3], im[h & 3]);
}

void v_exact(enum vtype type, enum vop op, int rank, size_t first, size_t n,
             void *out)
{
    int *i32 = out;
    float *f = out;
    double *d = out;
    double complex *z = out;
    uint64_t *u64 = out;

    for (size_t i = 0; i < n; i++) {
        uint64_t h = mt_hash((uint64_t)rank, first + i);

        if (type == V_INT)
            i32[i] =
                op == V_MAX || op == V_MIN ? (int)(uint32_t)h : small(op, h);
        else if (type == V_FLOAT)
            f[i] = (float)small(op, h);
        else if (type == V_DOUBLE)
            d[i] = small(op, h);
        else if (type == V_UINT64)
            u64[i] = h; /* wraps in sums and products, uses the top bit */
        else if (op == V_PROD)
            z[i] = unit_of(h);
        else
            z[i] = CMPLX(small(op, h), small(op, h >> 20));
    }
}

/* 1.m * 2^e with e in -30..30 and a random sign. The ranks' exponents for one
 * element lie within 12 of each other: farther apart, a float would often hold
 * the largest alone, whatever the order. */
static double wild(uint64_t h, size_t i)
{
    double m = 1.0 + (double)(h & 0xfffffffffffffu) * 0x1p-52;
    int e = (int)(mt_hash(77, i) % 61) - 30 + (int)((h >> 52) % 13) - 6;

    e = e < -30 ? -30 : e > 30 ? 30 : e;
    return ldexp(h >> 63 ? -m : m, e);
}

void v_wild(enum vtype type, int rank, size_t n, void *out)
{
    float *f = out;
    double *d = out;

    if (type == V_ZDOUBLE)
        n *= 2;
    for (size_t i = 0; i < n; i++) {
        double v = wild(mt_hash((uint64_t)rank + 1000, i), i);

        if (type == V_FLOAT)
            f[i] = (float)v;
        else
            d[i] = v;
    }
}

static const uint32_t special32[] = {
    0x7fc00000, 0xffc00000, 0x7fc12345, 0xffe54321, 0x7f800001, 0xff800123,
    0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x00000001, 0x80000001,
    0x3f800000, 0xbf800000, 0x42280000, 0xc2280000};
static const uint64_t special64[] = {
    0x7ff8000000000000, 0xfff8000000000000, 0x7ff8000000012345,
    0xfffc000000054321, 0x7ff0000000000001, 0xfff0000000000123,
    0x0000000000000000, 0x8000000000000000, 0x7ff0000000000000,
    0xfff0000000000000, 0x0000000000000001, 0x8000000000000001,
    0x3ff0000000000000, 0xbff0000000000000, 0x4045000000000000,
    0xc045000000000000};

void v_special(enum vtype type, enum vop op, int rank, size_t first, size_t n,
               void *out)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t h = mt_hash((uint64_t)rank + 2000, first + i);
        /* A third of the elements without NaNs: zeros and ordinary ones. */
        unsigned k = (first + i) % 3 ? h % 16 : 6 + h % 10;

        if ((first + i) % 3 == 1)
            k = 6 + h % 2; /* only signed zeros */
        if (op == V_SUM && (k == 10 || k == 11))
            k += 2; /* 1 for the smallest number: sums stay exact */
        if (type == V_FLOAT)
            ((uint32_t *)out)[i] = special32[k];
        else
            ((uint64_t *)out)[i] = special64[k];
    }
}

#define PICK(op, a, b)                                                         \
    ((op) == V_SUM                    ? (a) + (b)                              \
     : (op) == V_PROD                 ? (a) * (b)                              \
     : ((op) == V_MAX) == ((a) > (b)) ? (a)                                    \
                                      : (b))

static void fold_int(enum vop op, int *a, const int *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] = PICK(op, a[i], x[i]);
}

static void fold_float(enum vop op, float *a, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] = PICK(op, a[i], x[i]);
}

static void fold_double(enum vop op, double *a, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] = PICK(op, a[i], x[i]);
}

static void fold_uint64(enum vop op, uint64_t *a, const uint64_t *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] = PICK(op, a[i], x[i]);
}

static void fold_complex(enum vop op, double *a, const double *x, size_t n)
{
    for (size_t i = 0; i < 2 * n; i += 2) {
        double re = a[i], im = a[i + 1];

        a[i] = op == V_SUM ? re + x[i] : re * x[i] - im * x[i + 1];
        a[i + 1] = op == V_SUM ? im + x[i + 1] : re * x[i + 1] + im * x[i];
    }
}

void v_fold(enum vtype type, enum vop op, void *acc, const void *x, size_t n)
{
    switch (type) {
    case V_INT:
        fold_int(op, acc, x, n);
        break;
    case V_FLOAT:
        fold_float(op, acc, x, n);
        break;
    case V_DOUBLE:
        fold_double(op, acc, x, n);
        break;
    case V_UINT64:
        fold_uint64(op, acc, x, n);
        break;
    default:
        fold_complex(op, acc, x, n);
    }
}

static double ruled(enum vop op, double a, double b)
{
    int greater;

    if (isnan(a) || isnan(b))
        return (double)NAN;
    if (op == V_SUM)
        return a + b;
    if (op == V_PROD)
        return a * b;
    greater = a > b || (a == b && signbit(b) && !signbit(a));
    return (op == V_MAX) == greater ? a : b;
}

void v_fold_ruled(enum vtype type, enum vop op, void *acc, const void *x,
                  size_t n)
{
    static const uint32_t nan32 = 0x7fc00000;
    static const uint64_t nan64 = 0x7ff8000000000000;

    for (size_t i = 0; i < n; i++) {
        float *f = (float *)acc + i;
        double *d = (double *)acc + i;

        if (type == V_FLOAT) {
            *f = (float)ruled(op, *f, ((const float *)x)[i]);
            if (isnan(*f))
                memcpy(f, &nan32, sizeof nan32);
        } else {
            *d = ruled(op, *d, ((const double *)x)[i]);
            if (isnan(*d))
                memcpy(d, &nan64, sizeof nan64);
        }
    }
}
