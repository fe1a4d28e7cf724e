/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.c - element-wise reductions on host memory.
 *
 * One loop a type and operation, written for the vectoriser; two operands run
 * at the speed of memory, more go through a small buffer in the L1 cache.
 * Buffers need no alignment. Results are the same bits on every machine and
 * every rank: fixed order, no FMA, canonical NaN, one rule for signed zero. */
#include "coll/coll.h"

#include <string.h>

/* `dst` is one of the operands or overlaps none: no dependence from one
 * iteration to another either way. */
#if defined(__GNUC__) && !defined(__clang__)
#define CX_IVDEP _Pragma("GCC ivdep")
#else
#define CX_IVDEP
#endif

#define CX_ANY __attribute__((aligned(1), may_alias))

typedef uint8_t any_u8 CX_ANY;
typedef uint16_t any_u16 CX_ANY;
typedef uint32_t any_u32 CX_ANY;
typedef uint64_t any_u64 CX_ANY;
typedef int8_t any_i8 CX_ANY;
typedef int16_t any_i16 CX_ANY;
typedef int32_t any_i32 CX_ANY;
typedef int64_t any_i64 CX_ANY;
typedef float any_f32 CX_ANY;
typedef double any_f64 CX_ANY;
__extension__ typedef _Float16 any_f16 CX_ANY;
__extension__ typedef _Float128 quad;
typedef quad any_f128 CX_ANY;

#define CX_NAME(x) x##8
#define CX_U any_u8
#define CX_S any_i8
#define CX_W uint32_t
#include "coll/reduce_int.h"

#define CX_NAME(x) x##16
#define CX_U any_u16
#define CX_S any_i16
#define CX_W uint32_t
#include "coll/reduce_int.h"

#define CX_NAME(x) x##32
#define CX_U any_u32
#define CX_S any_i32
#define CX_W uint32_t
#include "coll/reduce_int.h"

#define CX_NAME(x) x##64
#define CX_U any_u64
#define CX_S any_i64
#define CX_W uint64_t
#include "coll/reduce_int.h"

#define CX_NAME(x) x##f32
#define CX_CNAME(x) x##c64
#define CX_F any_f32
#define CX_FV float
#define CX_NAN __builtin_nanf("")
#include "coll/reduce_float.h"

#define CX_NAME(x) x##f64
#define CX_CNAME(x) x##c128
#define CX_F any_f64
#define CX_FV double
#define CX_NAN __builtin_nan("")
#include "coll/reduce_float.h"

#define CX_NAME(x) x##f16
#define CX_F any_f16
#define CX_FV float
#define CX_NAN __builtin_nanf("")
#include "coll/reduce_float.h"

#define CX_NAME(x) x##f128
#define CX_CNAME(x) x##cf128
#define CX_F any_f128
#define CX_FV quad
#define CX_NAN __builtin_nanf128("")
#include "coll/reduce_float.h"

#if CX_HAVE_F80
typedef long double any_f80 CX_ANY;
#define CX_NAME(x) x##f80
#define CX_CNAME(x) x##cf80
#define CX_F any_f80
#define CX_FV long double
#define CX_NAN __builtin_nanl("")
#include "coll/reduce_float.h"
#endif

/* Integers have no NaN and one zero. */
#define least_int(a, b) ((a) < (b) ? (a) : (b))
#define most_int(a, b) ((a) > (b) ? (a) : (b))
#define nan_int(a) 0

#define CX_NAME(x) x##i16_i32
#define CX_V int16_t
#define CX_I int32_t
#define CX_VRULE(x) x##int
#define CX_IRULE(x) x##int
#include "coll/reduce_pair.h"

#define CX_NAME(x) x##i32_i32
#define CX_V int32_t
#define CX_I int32_t
#define CX_VRULE(x) x##int
#define CX_IRULE(x) x##int
#include "coll/reduce_pair.h"

#define CX_NAME(x) x##i64_i32
#define CX_V int64_t
#define CX_I int32_t
#define CX_VRULE(x) x##int
#define CX_IRULE(x) x##int
#include "coll/reduce_pair.h"

#define CX_NAME(x) x##f32_i32
#define CX_V float
#define CX_I int32_t
#define CX_VRULE(x) x##f32
#define CX_IRULE(x) x##int
#include "coll/reduce_pair.h"

#define CX_NAME(x) x##f64_i32
#define CX_V double
#define CX_I int32_t
#define CX_VRULE(x) x##f64
#define CX_IRULE(x) x##int
#include "coll/reduce_pair.h"

#define CX_NAME(x) x##f32_f32
#define CX_V float
#define CX_I float
#define CX_VRULE(x) x##f32
#define CX_IRULE(x) x##f32
#include "coll/reduce_pair.h"

#define CX_NAME(x) x##f64_f64
#define CX_V double
#define CX_I double
#define CX_VRULE(x) x##f64
#define CX_IRULE(x) x##f64
#include "coll/reduce_pair.h"

#if CX_HAVE_F80
#define CX_NAME(x) x##f80_i32
#define CX_V long double
#define CX_I int32_t
#define CX_VRULE(x) x##f80
#define CX_IRULE(x) x##int
#include "coll/reduce_pair.h"
#endif

typedef void (*loop_fn)(void *dst, const void *a, const void *b, size_t n);

/* The operations on integers of `w` bits, `s` being u or i. */
#define INT_LOOPS(s, w)                                                        \
    [CX_SUM] = sum_##w, [CX_PROD] = prod_##w, [CX_MIN] = min_##s##w,           \
    [CX_MAX] = max_##s##w, [CX_BAND] = band_##w, [CX_BOR] = bor_##w,           \
    [CX_BXOR] = bxor_##w, LOGICAL_LOOPS(w)
#define LOGICAL_LOOPS(w)                                                       \
    [CX_LAND] = land_##w, [CX_LOR] = lor_##w, [CX_LXOR] = lxor_##w
#define FLOAT_LOOPS(f) COMPLEX_LOOPS(f), [CX_MIN] = min_##f, [CX_MAX] = max_##f
#define COMPLEX_LOOPS(c) [CX_SUM] = sum_##c, [CX_PROD] = prod_##c
#define PAIR_LOOPS(p) [CX_MINLOC] = minloc_##p, [CX_MAXLOC] = maxloc_##p

static const loop_fn loops[CX_NDTYPES][CX_NREDOPS] = {
    [CX_DT_BYTE] = {[CX_BAND] = band_8, [CX_BOR] = bor_8, [CX_BXOR] = bxor_8},
    [CX_DT_I8] = {INT_LOOPS(i, 8)},
    [CX_DT_I16] = {INT_LOOPS(i, 16)},
    [CX_DT_I32] = {INT_LOOPS(i, 32)},
    [CX_DT_I64] = {INT_LOOPS(i, 64)},
    [CX_DT_U8] = {INT_LOOPS(u, 8)},
    [CX_DT_U16] = {INT_LOOPS(u, 16)},
    [CX_DT_U32] = {INT_LOOPS(u, 32)},
    [CX_DT_U64] = {INT_LOOPS(u, 64)},
    [CX_DT_F16] = {FLOAT_LOOPS(f16)},
    [CX_DT_F32] = {FLOAT_LOOPS(f32)},
    [CX_DT_F64] = {FLOAT_LOOPS(f64)},
    [CX_DT_F128] = {FLOAT_LOOPS(f128)},
    [CX_DT_C64] = {COMPLEX_LOOPS(c64)},
    [CX_DT_C128] = {COMPLEX_LOOPS(c128)},
    [CX_DT_CF128] = {COMPLEX_LOOPS(cf128)},
    [CX_DT_BOOL] = {LOGICAL_LOOPS(8)},
    [CX_DT_LOGICAL] = {LOGICAL_LOOPS(32)},
    [CX_DT_I16_I32] = {PAIR_LOOPS(i16_i32)},
    [CX_DT_I32_I32] = {PAIR_LOOPS(i32_i32)},
    [CX_DT_I64_I32] = {PAIR_LOOPS(i64_i32)},
    [CX_DT_F32_I32] = {PAIR_LOOPS(f32_i32)},
    [CX_DT_F64_I32] = {PAIR_LOOPS(f64_i32)},
    [CX_DT_F32_F32] = {PAIR_LOOPS(f32_f32)},
    [CX_DT_F64_F64] = {PAIR_LOOPS(f64_f64)},
#if CX_HAVE_F80
    [CX_DT_F80] = {FLOAT_LOOPS(f80)},
    [CX_DT_CF80] = {COMPLEX_LOOPS(cf80)},
    [CX_DT_F80_I32] = {PAIR_LOOPS(f80_i32)},
#endif
};

/* A store of ten bytes leaves the other six as they were: whatever was there
 * before must not become part of a result. */
static void clear_padding(enum cx_dtype dtype, char *at, size_t count)
{
    size_t step = dtype == CX_DT_F80_I32 ? cx_dtype_size(dtype) : 16;

    if (dtype != CX_DT_F80 && dtype != CX_DT_CF80 && dtype != CX_DT_F80_I32)
        return;
    if (dtype == CX_DT_CF80)
        count *= 2;
    for (size_t i = 0; i < count; i++)
        memset(at + i * step + 10, 0, 6);
}

static void fold(enum cx_dtype dtype, enum cx_redop op, void *dst,
                 const void *const *srcs, int k, size_t count)
{
    loop_fn loop = loops[dtype][op];
    size_t elsize = cx_dtype_size(dtype);
    char part[4096];
    size_t most = sizeof(part) / elsize;

    if (k == 1 && dst != srcs[0])
        memcpy(dst, srcs[0], count * elsize);
    if (k == 2)
        loop(dst, srcs[0], srcs[1], count);
    if (k <= 2)
        return;
    /* `dst` may be a later operand: it is written last, piece by piece. */
    for (size_t at = 0; at < count; at += most) {
        size_t n = count - at < most ? count - at : most;
        size_t skip = at * elsize;

        loop(part, (const char *)srcs[0] + skip, (const char *)srcs[1] + skip,
             n);
        for (int j = 2; j < k - 1; j++)
            loop(part, part, (const char *)srcs[j] + skip, n);
        loop((char *)dst + skip, part, (const char *)srcs[k - 1] + skip, n);
    }
}

void cx_reduce(enum cx_dtype dtype, enum cx_redop op, void *dst,
               const void *const *srcs, int k, size_t count)
{
    fold(dtype, op, dst, srcs, k, count);
    clear_padding(dtype, dst, count);
}
