/* SPDX-License-Identifier: BSD-3-Clause */
/* hoststate.h - what belongs to a program and not to its libraries: signals,
 * timers, locale, environment, floating point, limits, current GPU. */
#ifndef HOSTSTATE_H
#define HOSTSTATE_H

/* Gives each of them a value that no library would choose, and keeps all.
 * `gpus`: devices to look at, 0 for none. */
void hs_begin(int gpus);
/* Compares with what was kept; counts as a check, names what differs. */
void hs_check(const char *when);
/* The program itself has flushed stdout. */
void hs_flushed(void);
/* The program itself makes device `device` current. */
void hs_set_device(int device);

#endif
