/* SPDX-License-Identifier: BSD-3-Clause */
/* arena.h - the memory of a device: addresses, bytes, and how much is left.
 *
 * Addresses and places in the file are given out independently, so an address
 * that is reused need not have the same bytes behind it. All functions want
 * sim_lock held. */
#ifndef SIM_ARENA_H
#define SIM_ARENA_H

#include "heap.h"
#include "sim.h"

#define SIM_EXPORTS_MAX 1000

/* One exported allocation, in the page that all importers map. They hold a
 * lock on the byte of the file that has its number. */
struct sim_export {
    uint64_t id;        /* 0: free, or freed while importers remain */
    uint64_t busy;      /* the exporter may not hand out this slot */
    uint64_t off, size; /* in the file */
};

/* Start of an arena's file. */
struct sim_control {
    char magic[8];
    uint64_t nonce; /* tells this file from any other that has its number */
    struct sim_export exports[SIM_EXPORTS_MAX];
};

#define SIM_CONTROL_MAGIC "SIMGPUA1"
#define SIM_CONTROL_SIZE ((size_t)65536)
_Static_assert(sizeof(struct sim_control) <= SIM_CONTROL_SIZE, "control page");

struct sim_arena {
    uintptr_t va; /* what the program sees, PROT_NONE */
    size_t va_size;
    int fd;
    char *file; /* hidden mapping: control page, then the bytes */
    size_t file_size;
    struct sim_heap va_heap;
    struct sim_heap file_heap;
};

/* Memory that was given out: an address and the bytes behind it. */
struct sim_place {
    uintptr_t va;
    char *mem;
    size_t file_off;
    size_t size; /* rounded */
};

/* The arena, made at the first call; NULL: out of memory. */
struct sim_arena *sim_arena(struct sim_device *dev);
struct sim_control *sim_arena_control(const struct sim_arena *ar);

/* Memory within the device's limit. */
CUresult sim_arena_take(struct sim_device *dev, size_t size,
                        struct sim_place *out);
void sim_arena_give(struct sim_device *dev, const struct sim_place *p);
/* The same for memory that other processes may have mapped: its bytes come
 * back when none has. */
void sim_arena_give_exported(struct sim_device *dev, const struct sim_place *p,
                             struct sim_export *e);

/* An address only. */
bool sim_arena_take_va(struct sim_device *dev, size_t size, uintptr_t *va);
void sim_arena_give_va(struct sim_device *dev, uintptr_t va, size_t size);

/* Counts bytes against the device's limit, wherever they are. */
CUresult sim_arena_charge(struct sim_device *dev, size_t size);
void sim_arena_uncharge(struct sim_device *dev, size_t size);
void sim_arena_info(struct sim_device *dev, size_t *free_bytes, size_t *total);

#endif
