/* SPDX-License-Identifier: BSD-3-Clause */
/* faultctl.h - sets of functions that can fail, over the simulated GPU's faults
 * and those of shim_fault.c. */
#ifndef FAULTCTL_H
#define FAULTCTL_H

#include <stddef.h>

/* Functions of a set, at most. */
#define FAULTCTL_MAX 256

/* driver: the driver's functions, with an error that says nothing;
 * driver-gone: the same with one that says that the context is no more;
 * alloc: memory of the C library, where the kernel still has some; memory: both
 * have none; ucx: UCX; env: all functions of the preload, which the environment
 * has armed. */
void faultctl_open(const char *set);
/* The i-th function of the set; NULL after the last. */
const char *faultctl_name(int i);
/* Its calls by Coax since the last arm. */
unsigned long faultctl_calls(const char *name);
/* Since the start of the process, where nothing was armed. */
unsigned long faultctl_total(const char *name);
/* In the words of arm: function i fails at call n. */
void faultctl_spec(char *out, size_t size, int i, unsigned long n);
/* Replaces all faults and counts from now; NULL: none. The counts that `calls`
 * gives stay those before the last arm(NULL). */
void faultctl_arm(const char *spec);
/* Is every try to begin with a reset of the device? */
int faultctl_resets(void);
/* Is there a second way round each of these faults, so that none does harm? */
int faultctl_harmless(void);
/* Can such a fault leave this rank behind the others in a staged call? */
int faultctl_leaves_behind(void);

#endif
