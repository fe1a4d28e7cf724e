/* SPDX-License-Identifier: BSD-3-Clause */
/* signals.c - keeps the host program's handlers of fatal signals.
 *
 * UCX takes these four when it is loaded, and so may the provider libraries
 * that it loads while it starts. A preloaded library must not change what a
 * crash of the host program does. */
#include "ucx/internal.h"

static const int signo[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

void cx_ucx_signals_save(struct cx_signals *out)
{
    for (size_t i = 0; i < sizeof(signo) / sizeof(signo[0]); i++)
        sigaction(signo[i], NULL, &out->old[i]);
}

void cx_ucx_signals_restore(const struct cx_signals *signals)
{
    for (size_t i = 0; i < sizeof(signo) / sizeof(signo[0]); i++)
        sigaction(signo[i], &signals->old[i], NULL);
}
