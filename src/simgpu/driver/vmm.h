/* SPDX-License-Identifier: BSD-3-Clause */
/* vmm.h - virtual memory: reserved ranges of addresses, blocks of memory, and
 * which block shows where.
 *
 * A reserved range has a hidden twin of the same size, where the bytes of what
 * is mapped into it lie at the same distances: work may cross from one mapping
 * to the next. A block is a memfd of its own, so a descriptor of it is all that
 * another process needs. All functions want sim_lock held. */
#ifndef SIM_VMM_H
#define SIM_VMM_H

#include "memory.h"

#define SIM_GRANULARITY ((size_t)2 << 20)

struct sim_range {
    struct sim_range *next;
    uintptr_t base; /* what the program sees, PROT_NONE */
    size_t size;
    char *mem; /* the twin: mapped where something is mapped */
};

/* A CUmemGenericAllocationHandle is the address of one. */
struct sim_block {
    struct sim_block *next;
    int refs; /* handles given out and not released */
    int maps;
    struct sim_device *dev;
    size_t size;
    int fd;
    bool imported; /* counted against the memory of the process that made it */
    uint64_t id;
    CUmemAllocationProp prop;
};

/* align is a power of two; a hint of 0 is none. */
CUresult sim_range_reserve(size_t size, size_t align, uintptr_t hint,
                           uintptr_t *out);
/* The reserved range that holds addr, or NULL. */
struct sim_range *sim_range_find(uintptr_t addr);
/* A range with nothing mapped into it. */
CUresult sim_range_free(uintptr_t addr, size_t size);

CUresult sim_block_create(struct sim_device *dev, size_t size,
                          const CUmemAllocationProp *prop,
                          CUmemGenericAllocationHandle *out);
/* NULL unless the handle is of a block that has handles. */
struct sim_block *sim_block_check(CUmemGenericAllocationHandle handle);
CUmemGenericAllocationHandle sim_block_handle(struct sim_block *b);
/* One handle less; the block goes with the last handle and mapping. */
void sim_block_put(struct sim_block *b);
/* A new descriptor of it, the caller's. */
CUresult sim_block_export(const struct sim_block *b, int *fd);
CUresult sim_block_import(int fd, CUmemGenericAllocationHandle *out);

/* The whole block from its beginning on, size bytes. */
CUresult sim_vmm_map(uintptr_t addr, size_t size, struct sim_block *b);
/* addr and size must be those of one or several adjacent mappings. */
CUresult sim_vmm_unmap(uintptr_t addr, size_t size);
CUresult sim_vmm_set_access(uintptr_t addr, size_t size, int ordinal,
                            unsigned flags);

#endif
