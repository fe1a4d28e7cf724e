/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce_float.h - loops over one floating-point type and its complex;
 * included by reduce.c once a type with
 *   CX_NAME(x)   name of a function for this type
 *   CX_CNAME(x)  the same for its complex; not defined: it has none
 *   CX_F         element, of any alignment
 *   CX_FV        the same as a plain value, or a wider one in which one sum or
 *                product and its rounding give the same
 *   CX_NAN       the canonical NaN
 * No include guard: this file is a template. Hardware keeps the payload of one
 * or the other operand's NaN, which would differ between ranks and from a GPU;
 * hence the canonical one. */

static inline int CX_NAME(nan_)(CX_FV x)
{
    return x != x;
}

static inline CX_FV CX_NAME(canon_)(CX_FV x)
{
    return x == x ? x : CX_NAN;
}

static void CX_NAME(sum_)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_F *x = a, *y = b;
    CX_F *d = dst;

    CX_IVDEP
    for (size_t i = 0; i < n; i++)
        d[i] = CX_NAME(canon_)((CX_FV)x[i] + (CX_FV)y[i]);
}

static void CX_NAME(prod_)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_F *x = a, *y = b;
    CX_F *d = dst;

    CX_IVDEP
    for (size_t i = 0; i < n; i++)
        d[i] = CX_NAME(canon_)((CX_FV)x[i] * (CX_FV)y[i]);
}

/* Zeros of both signs are equal: their sum is +0 unless both are -0, which is
 * what MAX wants; MIN is the same with all signs turned. */
static inline CX_FV CX_NAME(least_)(CX_FV u, CX_FV v)
{
    CX_FV least = u < v ? u : v, zero = -(-u + -v);

    least = (u == v) & (v == 0) ? zero : least;
    least = u == u ? least : CX_NAN;
    return v == v ? least : CX_NAN;
}

static inline CX_FV CX_NAME(most_)(CX_FV u, CX_FV v)
{
    CX_FV most = u > v ? u : v, zero = u + v;

    most = (u == v) & (v == 0) ? zero : most;
    most = u == u ? most : CX_NAN;
    return v == v ? most : CX_NAN;
}

static void CX_NAME(min_)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_F *x = a, *y = b;
    CX_F *d = dst;

    CX_IVDEP
    for (size_t i = 0; i < n; i++)
        d[i] = CX_NAME(least_)(x[i], y[i]);
}

static void CX_NAME(max_)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_F *x = a, *y = b;
    CX_F *d = dst;

    CX_IVDEP
    for (size_t i = 0; i < n; i++)
        d[i] = CX_NAME(most_)(x[i], y[i]);
}

#ifdef CX_CNAME
static void CX_CNAME(sum_)(void *dst, const void *a, const void *b, size_t n)
{
    CX_NAME(sum_)(dst, a, b, 2 * n);
}

/* (a + bi)(c + di) = (ac - bd) + (ad + bc)i, each operation rounded once. */
static void CX_CNAME(prod_)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_F *x = a, *y = b;
    CX_F *d = dst;

    CX_IVDEP
    for (size_t i = 0; i < n; i++) {
        CX_FV xr = x[2 * i], xi = x[2 * i + 1];
        CX_FV yr = y[2 * i], yi = y[2 * i + 1];

        d[2 * i] = CX_NAME(canon_)(xr * yr - xi * yi);
        d[2 * i + 1] = CX_NAME(canon_)(xr * yi + xi * yr);
    }
}

#undef CX_CNAME
#endif

#undef CX_NAME
#undef CX_F
#undef CX_FV
#undef CX_NAN
