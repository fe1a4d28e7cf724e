/* SPDX-License-Identifier: BSD-3-Clause */
/* signals.h - keeps the host program's signals while libraries are loaded or
 * started that take some (design rule 9). */
#ifndef CX_SIGNALS_H
#define CX_SIGNALS_H

#include <signal.h>

#define CX_NSIGNALS 65

struct cx_signals {
    struct sigaction action[CX_NSIGNALS];
    stack_t stack;
    sigset_t mask;
};

/* Between the two calls this thread blocks all signals but those of its own
 * faults: threads that are started meanwhile inherit that, and leave the
 * program's signals to the program's threads. Pairs may nest. */
void cx_signals_save(struct cx_signals *out);
void cx_signals_restore(const struct cx_signals *saved);

#endif
