/* SPDX-License-Identifier: BSD-3-Clause */
/* enter.c - is this call made by the program, or by MPI inside one of ours?
 *
 * The guard lives in the wrapper's frame and a thread-local points to it. A
 * longjmp or a throwing error handler may leave without clearing the pointer:
 * then the frame it points to is gone, which shows in its place on the stack
 * (at or below the caller's) or in its overwritten contents. */
#include "pmpi/front.h"

#define GUARD_MAGIC 0x636f61786775a4d5ull

static _Thread_local struct cx_guard *current
    __attribute__((tls_model("initial-exec")));

int cx_guard_enter(struct cx_guard *guard)
{
    struct cx_guard *outer = current;

    /* The stack grows down: a live outer frame lies above this one. */
    if (outer != NULL && (uintptr_t)outer > (uintptr_t)guard &&
        outer->magic == GUARD_MAGIC && outer->self == outer)
        return 0;
    guard->magic = GUARD_MAGIC;
    guard->self = guard;
    current = guard;
    return 1;
}

void cx_guard_leave(struct cx_guard *guard)
{
    guard->magic = 0;
    guard->self = NULL;
    current = NULL;
}
