/* SPDX-License-Identifier: BSD-3-Clause */
/* signals.c - UCX, when it is loaded, takes the handlers of SIGSEGV, SIGBUS,
 * SIGFPE, SIGILL and SIGHUP and the signal stack of the thread; when it starts,
 * it makes a thread that takes whatever signal comes to the process. Provider
 * libraries that it loads may do the same to others. */
#include "base/signals.h"

#include <string.h>

void cx_signals_save(struct cx_signals *out)
{
    static const int own[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                              SIGTRAP, SIGABRT, SIGSYS};
    sigset_t all;

    for (int i = 1; i < CX_NSIGNALS; i++)
        sigaction(i, NULL, &out->action[i]);
    sigaltstack(NULL, &out->stack);
    sigfillset(&all);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(SIG_BLOCK, &all, &out->mask);
}

/* Padding of the two differs: compared by what programs set. */
static int same(const struct sigaction *a, const struct sigaction *b)
{
    return a->sa_handler == b->sa_handler && a->sa_flags == b->sa_flags;
}

void cx_signals_restore(const struct cx_signals *saved)
{
    struct sigaction now;
    stack_t stack;

    for (int i = 1; i < CX_NSIGNALS; i++) {
        /* Only what changed, lest another thread's new handler is undone. */
        if (sigaction(i, NULL, &now) == 0 && !same(&now, &saved->action[i]))
            sigaction(i, &saved->action[i], NULL);
    }
    if (sigaltstack(NULL, &stack) == 0 &&
        (stack.ss_sp != saved->stack.ss_sp ||
         stack.ss_flags != saved->stack.ss_flags))
        sigaltstack(&saved->stack, NULL);
    pthread_sigmask(SIG_SETMASK, &saved->mask, NULL);
}
