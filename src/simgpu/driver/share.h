/* SPDX-License-Identifier: BSD-3-Clause */
/* share.h - the memory of the machine's devices, shared by several processes.
 *
 * With SIMGPU_SHARE=FILE, all processes that name the same file see one
 * SIMGPU_MEM for each device, as the processes on a GPU do. A process that ends
 * in any way gives back what it had. All functions but share_open want sim_lock
 * held. */
#ifndef SIM_SHARE_H
#define SIM_SHARE_H

#include <stdbool.h>
#include <stddef.h>

/* Joins those that use the file; makes it if there is none. false: errno. */
bool sim_share_open(const char *path);
/* Whether the memory is shared; if not, the others must not be called. */
bool sim_share_on(void);
/* Takes bytes of a device of the machine; false when all together would have
 * more than limit. */
bool sim_share_take(int phys, size_t size, size_t limit);
void sim_share_give(int phys, size_t size);
/* What all have together. */
size_t sim_share_used(int phys);

#endif
