/* SPDX-License-Identifier: BSD-3-Clause */
/* life.h - from which point of a stream to which point memory of a pool may be
 * used.
 *
 * A life is a value: it owns nothing, may be copied, and is told from later
 * ones when it is over. Work that was queued with it asks when it runs. */
#ifndef SIM_LIFE_H
#define SIM_LIFE_H

#include "sim.h"

enum sim_life_state { SIM_UNBORN, SIM_ALIVE, SIM_DEAD };

struct sim_life {
    uint32_t slot; /* 0: of no pool, always alive */
    uint32_t turn; /* of the slot */
};

/* A new one, unborn; slot 0 when out of memory. */
struct sim_life sim_life_new(void);
/* Without the lock. */
void sim_life_set(struct sim_life life, enum sim_life_state state);
/* It is over, and its slot free for another. */
void sim_life_end(struct sim_life life);

/* For work that begins now, without the lock: false when the memory is not
 * alive, which is then said on stderr and counted. The work must be left
 * undone. */
bool sim_life_check(struct sim_life life);

#endif
