/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.h - functions that must not get GPU memory. */
#ifndef CX_GUARD_H
#define CX_GUARD_H

#include "pmpi/coll.h"

/* Rows of guard.def, by name. */
enum cx_guard_id {
#define CX_GUARD(name, ...) CX_GUARD_##name,
#include "pmpi/guard.def"
    CX_NGUARDED
};

/* The function of MPI, when it is known and all buffers are host memory, told
 * at once; NULL: look at all of the call. */
cx_fn cx_guard_pass(enum cx_guard_id id, enum cx_wrapped which,
                    const cx_reg *args);
/* The call of a function in guard.def. `which`, `name`: this form of it. */
int cx_guard_call(enum cx_guard_id id, int large, enum cx_wrapped which,
                  const char *name, const cx_reg *args);
/* The call of a collective's nonblocking or persistent form, whose request is
 * argument `request`. */
int cx_guard_coll(enum cx_coll_id id, int large, enum cx_wrapped which,
                  const char *name, int request, const cx_reg *args);

#endif
