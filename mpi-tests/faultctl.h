/* SPDX-License-Identifier: BSD-3-Clause */
/* faultctl.h - sets of functions that can fail, over the simulated GPU's faults
 * and those of shim_fault.c. */
#ifndef FAULTCTL_H
#define FAULTCTL_H

#include <stddef.h>

/* driver: the driver's functions, with an error that says nothing;
 * driver-gone: the same with one that says that the context is no more;
 * alloc: memory, also of the kernel; ucx: UCX and the sources of its needs. */
void faultctl_open(const char *set);
/* The i-th function of the set; NULL after the last. */
const char *faultctl_name(int i);
/* Its calls by Coax since the last arm. */
unsigned long faultctl_calls(const char *name);
/* In the words of arm: function i fails at call n. */
void faultctl_spec(char *out, size_t size, int i, unsigned long n);
/* Replaces all faults and counts from now; NULL: none. The counts that `calls`
 * gives stay those before the last arm(NULL). */
void faultctl_arm(const char *spec);
/* Is every try to begin with a reset of the device? */
int faultctl_resets(void);

#endif
