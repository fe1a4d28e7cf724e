/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce_pair.h - MINLOC and MAXLOC over one pair type; included by reduce.c
 * once a type with
 *   CX_NAME(x)   name of a function or type for this type
 *   CX_V, CX_I   value and index as plain values
 *   CX_VRULE(x)  name of a function for the value: least_, most_, nan_
 *   CX_IRULE(x)  the same for the index
 * No include guard: this file is a template.
 *
 * One rule for all: the value is that of MIN or MAX; the index is the lowest of
 * those whose value equals it, where zeros of both signs are equal and so are
 * all NaNs. So the result does not depend on the order of the operands. */

typedef struct {
    CX_V v;
    CX_I i;
} __attribute__((packed, may_alias)) CX_NAME(any_);

static void CX_NAME(minloc_)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_NAME(any_) *x = a, *y = b;
    CX_NAME(any_) *d = dst;

    for (size_t k = 0; k < n; k++) {
        CX_V u = x[k].v, v = y[k].v;
        CX_I i = x[k].i, j = y[k].i;
        int first = (u < v) | (CX_VRULE(nan_)(u) & !CX_VRULE(nan_)(v));
        int second = (v < u) | (CX_VRULE(nan_)(v) & !CX_VRULE(nan_)(u));

        d[k].v = CX_VRULE(least_)(u, v);
        d[k].i = first ? i : second ? j : CX_IRULE(least_)(i, j);
    }
}

static void CX_NAME(maxloc_)(void *dst, const void *a, const void *b, size_t n)
{
    const CX_NAME(any_) *x = a, *y = b;
    CX_NAME(any_) *d = dst;

    for (size_t k = 0; k < n; k++) {
        CX_V u = x[k].v, v = y[k].v;
        CX_I i = x[k].i, j = y[k].i;
        int first = (u > v) | (CX_VRULE(nan_)(u) & !CX_VRULE(nan_)(v));
        int second = (v > u) | (CX_VRULE(nan_)(v) & !CX_VRULE(nan_)(u));

        d[k].v = CX_VRULE(most_)(u, v);
        d[k].i = first ? i : second ? j : CX_IRULE(least_)(i, j);
    }
}

#undef CX_NAME
#undef CX_V
#undef CX_I
#undef CX_VRULE
#undef CX_IRULE
