/* SPDX-License-Identifier: BSD-3-Clause */
/* life.c - see life.h.
 *
 * On a GPU such work is undefined: mostly it works, sometimes it uses another
 * owner's bytes. Here it fails as a wild address does. It is only noticed where
 * it really ran out of order, so a test must hold the streams in that order. */
#include "life.h"

#include <stdio.h>
#include <stdlib.h>

#define CHUNK 1024
#define CHUNKS_MAX 1024

struct slot {
    uint64_t now;  /* turn and state, atomic: read without the lock */
    uint32_t next; /* in the list of free ones, 0 ends it */
};

static struct slot *chunks[CHUNKS_MAX]; /* never freed, never moved */
static uint32_t nslots = 1;             /* slot 0 is none */
static uint32_t free_slots;

static struct slot *slot_of(uint32_t i)
{
    return &chunks[i / CHUNK][i % CHUNK];
}

static uint64_t pack(uint32_t turn, enum sim_life_state state)
{
    return (uint64_t)turn << 2 | (uint64_t)state;
}

/* The index of a slot that is free, or 0. */
static uint32_t take_slot(void)
{
    uint32_t i = free_slots;
    if (i != 0) {
        free_slots = slot_of(i)->next;
        return i;
    }
    i = nslots;
    if (i / CHUNK == CHUNKS_MAX)
        return 0;
    if (chunks[i / CHUNK] == NULL)
        chunks[i / CHUNK] = calloc(CHUNK, sizeof(struct slot));
    if (chunks[i / CHUNK] == NULL)
        return 0;
    nslots++;
    return i;
}

struct sim_life sim_life_new(void)
{
    struct sim_life life = {.slot = take_slot()};
    if (life.slot == 0)
        return life;
    struct slot *s = slot_of(life.slot);
    life.turn = (uint32_t)(s->now >> 2) + 1;
    __atomic_store_n(&s->now, pack(life.turn, SIM_UNBORN), __ATOMIC_RELEASE);
    return life;
}

void sim_life_set(struct sim_life life, enum sim_life_state state)
{
    __atomic_store_n(&slot_of(life.slot)->now, pack(life.turn, state),
                     __ATOMIC_RELEASE);
}

void sim_life_end(struct sim_life life)
{
    sim_life_set(life, SIM_DEAD);
    slot_of(life.slot)->next = free_slots;
    free_slots = life.slot;
}

bool sim_life_check(struct sim_life life)
{
    if (life.slot == 0)
        return true;
    const struct slot *s = slot_of(life.slot);
    uint64_t now = __atomic_load_n(&s->now, __ATOMIC_ACQUIRE);
    if (now == pack(life.turn, SIM_ALIVE))
        return true;
    bool early = now == pack(life.turn, SIM_UNBORN);
    fprintf(stderr,
            "simgpu: work uses memory of a pool %s; order its stream with "
            "the other one by an event\n",
            early ? "before the point of a stream where it is allocated"
                  : "after the point of a stream where it is freed");
    sim_count(&sim_counters->order_errors, 1);
    return false;
}
