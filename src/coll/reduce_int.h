/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce_int.h - loops over integers of one width; included by reduce.c once a
 * width with
 *   CX_NAME(x)  name of a function for this width
 *   CX_U, CX_S  unsigned and signed element, of any alignment
 *   CX_W        unsigned, at least as wide as int, so that sums and products
 *               wrap and never overflow a promoted int
 * No include guard: this file is a template. */

static void CX_NAME(sum_)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_U *x = a, *y = b;
    CX_U *d = dst;

    CX_IVDEP
    for (size_t i = 0; i < n; i++)
        d[i] = (CX_U)((CX_W)x[i] + (CX_W)y[i]);
}

static void CX_NAME(prod_)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_U *x = a, *y = b;
    CX_U *d = dst;

    CX_IVDEP
    for (size_t i = 0; i < n; i++)
        d[i] = (CX_U)((CX_W)x[i] * (CX_W)y[i]);
}

static void CX_NAME(min_u)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_U *x = a, *y = b;
    CX_U *d = dst;

    CX_IVDEP
    for (size_t i = 0; i < n; i++)
        d[i] = x[i] < y[i] ? x[i] : y[i];
}

static void CX_NAME(max_u)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_U *x = a, *y = b;
    CX_U *d = dst;

    CX_IVDEP
    for (size_t i = 0; i < n; i++)
        d[i] = x[i] > y[i] ? x[i] : y[i];
}

static void CX_NAME(min_i)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_S *x = a, *y = b;
    CX_S *d = dst;

    CX_IVDEP
    for (size_t i = 0; i < n; i++)
        d[i] = x[i] < y[i] ? x[i] : y[i];
}

static void CX_NAME(max_i)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_S *x = a, *y = b;
    CX_S *d = dst;

    CX_IVDEP
    for (size_t i = 0; i < n; i++)
        d[i] = x[i] > y[i] ? x[i] : y[i];
}

static void CX_NAME(land_)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_U *x = a, *y = b;
    CX_U *d = dst;

    CX_IVDEP
    for (size_t i = 0; i < n; i++)
        d[i] = (CX_U)((x[i] != 0) & (y[i] != 0));
}

static void CX_NAME(lor_)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_U *x = a, *y = b;
    CX_U *d = dst;

    CX_IVDEP
    for (size_t i = 0; i < n; i++)
        d[i] = (CX_U)((x[i] | y[i]) != 0);
}

static void CX_NAME(lxor_)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_U *x = a, *y = b;
    CX_U *d = dst;

    CX_IVDEP
    for (size_t i = 0; i < n; i++)
        d[i] = (CX_U)((x[i] != 0) ^ (y[i] != 0));
}

static void CX_NAME(band_)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_U *x = a, *y = b;
    CX_U *d = dst;

    CX_IVDEP
    for (size_t i = 0; i < n; i++)
        d[i] = (CX_U)(x[i] & y[i]);
}

static void CX_NAME(bor_)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_U *x = a, *y = b;
    CX_U *d = dst;

    CX_IVDEP
    for (size_t i = 0; i < n; i++)
        d[i] = (CX_U)(x[i] | y[i]);
}

static void CX_NAME(bxor_)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_U *x = a, *y = b;
    CX_U *d = dst;

    CX_IVDEP
    for (size_t i = 0; i < n; i++)
        d[i] = (CX_U)(x[i] ^ y[i]);
}

#undef CX_NAME
#undef CX_U
#undef CX_S
#undef CX_W
