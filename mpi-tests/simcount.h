/* SPDX-License-Identifier: BSD-3-Clause */
/* simcount.h - the stand-in's own counters and switches, from inside the
 * process. On a real GPU they are not there. */
#ifndef SIMCOUNT_H
#define SIMCOUNT_H

#include <stdint.h>

struct mt_copies {
    uint64_t h2d, d2h, d2d; /* bytes, since the start of the process */
    uint64_t h2d_copies, d2h_copies;
};

/* 1 when the CUDA of this process is the stand-in. */
int mt_sim_present(void);
/* Zeros when it is not. */
void mt_sim_copies(struct mt_copies *out);
/* Every piece of work on a stream waits this long before it runs. */
void mt_sim_delay(unsigned delay_us);
/* Replaces what SIMGPU_FAIL asked for, in the same words; NULL for no faults.
 */
void mt_sim_faults(const char *spec);
/* Calls of a driver function by anything but the stand-in's runtime library. */
uint64_t mt_sim_calls(const char *name);
/* The i-th function that is counted; NULL after the last. */
const char *mt_sim_function(int i);
/* Device allocations, streams and events in use, of this process. */
uint64_t mt_sim_objects(void);
/* Primary contexts activated and others created, in this process. */
uint64_t mt_sim_contexts(void);

#endif
