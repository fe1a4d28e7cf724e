/* SPDX-License-Identifier: BSD-3-Clause */
/* wrap_coll.c - the wrappers of the collectives in coll.def. */
#include "pmpi/coll.h"
#include "pmpi/wrap.h"

/* A blocking form with `n` arguments: on to MPI, as most calls are, or staged
 * where it must be. */
#define STAGED(name, id, large, n)                                             \
    static __attribute__((noinline)) int served_##name(CX_P##n)                \
    {                                                                          \
        const cx_reg args[13] = {CX_A##n};                                     \
        cx_fn next = cx_coll_pass(CX_COLL_##id, CX_WRAP_##name, args);         \
                                                                               \
        return next != NULL                                                    \
                   ? ((int (*)(CX_P##n))next)(CX_A##n)                         \
                   : cx_staged(CX_COLL_##id, large, CX_WRAP_##name, args);     \
    }                                                                          \
    CX_WATCHED(name, n)

#define CX_COLL_SERVED(...)
#define CX_COLL(name, stem, args, ...)                                         \
    STAGED(name, name, 0, args)                                                \
    STAGED(name##_c, name, 1, args)
#define CX_COLL_LOCAL(name, args, ...)                                         \
    STAGED(name, name, 0, args)                                                \
    STAGED(name##_c, name, 1, args)
#include "pmpi/coll.def"
