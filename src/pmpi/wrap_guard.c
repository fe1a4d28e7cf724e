/* SPDX-License-Identifier: BSD-3-Clause */
/* wrap_guard.c - the wrappers of the functions that refuse GPU memory: those
 * of guard.def, and the nonblocking and persistent forms of coll.def. */
#include "pmpi/guard.h"
#include "pmpi/wrap.h"

#define GUARDED(name, id, large, n)                                            \
    static __attribute__((noinline)) int served_##name(CX_P##n)                \
    {                                                                          \
        const cx_reg args[13] = {CX_A##n};                                     \
        cx_fn next = cx_guard_pass(CX_GUARD_##id, CX_WRAP_##name, args);       \
                                                                               \
        return next != NULL                                                    \
                   ? ((int (*)(CX_P##n))next)(CX_A##n)                         \
                   : cx_guard_call(CX_GUARD_##id, large, CX_WRAP_##name,       \
                                   "MPI_" #name, args);                        \
    }                                                                          \
    CX_WATCHED(name, n)

/* Its request is its last argument. */
#define GUARDED_COLL(name, id, large, n)                                       \
    static __attribute__((noinline)) int served_##name(CX_P##n)                \
    {                                                                          \
        return cx_guard_coll(CX_COLL_##id, large, CX_WRAP_##name,              \
                             "MPI_" #name, (n)-1,                              \
                             (const cx_reg[13]){CX_A##n});                     \
    }                                                                          \
    CX_WATCHED(name, n)

#define CX_GUARD(name, args, ...)                                              \
    GUARDED(name, name, 0, args)                                               \
    GUARDED(name##_c, name, 1, args)
#define CX_GUARD_ONE(name, args, ...) GUARDED(name, name, 0, args)
#include "pmpi/guard.def"

#define CX_COLL(name, stem, args, iargs, pargs, ...)                           \
    GUARDED_COLL(I##stem, name, 0, iargs)                                      \
    GUARDED_COLL(I##stem##_c, name, 1, iargs)                                  \
    GUARDED_COLL(name##_init, name, 0, pargs)                                  \
    GUARDED_COLL(name##_init_c, name, 1, pargs)
#define CX_COLL_SERVED(name, stem, args, iargs, pargs, ...)                    \
    GUARDED_COLL(I##stem, name, 0, iargs)                                      \
    GUARDED_COLL(I##stem##_c, name, 1, iargs)                                  \
    GUARDED_COLL(name##_init, name, 0, pargs)                                  \
    GUARDED_COLL(name##_init_c, name, 1, pargs)
#include "pmpi/coll.def"
