/* SPDX-License-Identifier: BSD-3-Clause */
/* fault.h - how a test steers shim_fault.c, the preload that makes the n-th
 * call of a function fail when Coax makes it.
 *
 * A fault is written NAME:CALL or NAME:CALL+ (that one and all later), several
 * with commas. NAME is one of fault.def; NAME.end of a transfer lets it run and
 * then reports a failure to its callback. MT_FAULT in the environment arms one
 * before the program begins, in the rank MT_FAULT_RANK or in all; where it is
 * for another rank, SIMGPU_FAIL is removed from the environment too. */
#ifndef FAULT_H
#define FAULT_H

/* Replaces all faults and counts from now; NULL: none. 0, or -1 for a fault
 * that is not understood. */
typedef int (*mt_fault_arm_fn)(const char *spec);
/* Calls by Coax since then. */
typedef unsigned long (*mt_fault_calls_fn)(const char *name);
/* The i-th name; NULL after the last. */
typedef const char *(*mt_fault_name_fn)(int i);

#endif
