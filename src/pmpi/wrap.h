/* SPDX-License-Identifier: BSD-3-Clause */
/* wrap.h - how an exported wrapper is defined: MPI_X and PMPI_X, one body.
 *
 * Both names, because Fortran layers and other tools call either one. Arguments
 * are taken and passed on at register width, so that a call under another MPI
 * ABI (pointer handles) leaves exactly as it came. */
#ifndef CX_WRAP_H
#define CX_WRAP_H

#include "pmpi/front.h"

#define CX_EXPORT __attribute__((visibility("default")))

/* Defines the C function that carries the symbols MPI_name and PMPI_name. */
#define CX_WRAPPER(name, args)                                                 \
    CX_EXPORT int wrap_##name args __asm__("MPI_" #name);                      \
    CX_EXPORT int pwrap_##name args __asm__("PMPI_" #name)                     \
        __attribute__((alias("MPI_" #name)));                                  \
    int wrap_##name args

/* Parameter and argument lists of 2 to 13 registers. */
#define CX_P2 cx_reg a0, cx_reg a1
#define CX_P3 CX_P2, cx_reg a2
#define CX_P4 CX_P3, cx_reg a3
#define CX_P5 CX_P4, cx_reg a4
#define CX_P6 CX_P5, cx_reg a5
#define CX_P7 CX_P6, cx_reg a6
#define CX_P8 CX_P7, cx_reg a7
#define CX_P9 CX_P8, cx_reg a8
#define CX_P10 CX_P9, cx_reg a9
#define CX_P11 CX_P10, cx_reg a10
#define CX_P12 CX_P11, cx_reg a11
#define CX_P13 CX_P12, cx_reg a12
#define CX_A2 a0, a1
#define CX_A3 CX_A2, a2
#define CX_A4 CX_A3, a3
#define CX_A5 CX_A4, a4
#define CX_A6 CX_A5, a5
#define CX_A7 CX_A6, a6
#define CX_A8 CX_A7, a7
#define CX_A9 CX_A8, a8
#define CX_A10 CX_A9, a9
#define CX_A11 CX_A10, a10
#define CX_A12 CX_A11, a11
#define CX_A13 CX_A12, a12

/* What becomes of a call of `which`: the function in `next` may be called at
 * once; its buffers must be looked at; or that must be found out. */
enum cx_wrap_way { CX_WRAP_FREE, CX_WRAP_SERVED, CX_WRAP_LOOK };

static inline enum cx_wrap_way cx_wrap_way(enum cx_wrapped which, cx_fn *next)
{
    int watch = atomic_load_explicit(&cx_watch, memory_order_relaxed);

    *next = atomic_load_explicit(&cx_raw_known[which], memory_order_relaxed);
    if (watch == CX_WATCH_LOADED)
        return CX_WRAP_SERVED;
    return *next != NULL && (__builtin_expect(watch == CX_WATCH_OFF, 1) ||
                             cx_watch_quiet())
               ? CX_WRAP_FREE
               : CX_WRAP_LOOK;
}

/* A wrapper with `n` arguments that calls served_name where buffers must be
 * looked at, or MPI has no function of the name. The ways past it are tail
 * calls: only out of line are arguments put into memory. */
#define CX_WATCHED(name, n)                                                    \
    static __attribute__((noinline)) int look_##name(CX_P##n)                  \
    {                                                                          \
        return cx_watching()                                                   \
                   ? served_##name(CX_A##n)                                    \
                   : ((int (*)(CX_P##n))cx_raw(CX_WRAP_##name))(CX_A##n);      \
    }                                                                          \
    CX_WRAPPER(name, (CX_P##n))                                                \
    {                                                                          \
        cx_fn next;                                                            \
        enum cx_wrap_way way = cx_wrap_way(CX_WRAP_##name, &next);             \
                                                                               \
        return way == CX_WRAP_FREE     ? ((int (*)(CX_P##n))next)(CX_A##n)     \
               : way == CX_WRAP_SERVED ? served_##name(CX_A##n)                \
                                       : look_##name(CX_A##n);                 \
    }

#endif
