/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h - allocations: what an address is, and where its bytes are.
 *
 * Device memory has two addresses. The program sees one in a range that is
 * mapped PROT_NONE; the bytes are in a memfd, mapped readable elsewhere, at
 * alloc->mem. Address and place in the file are given out independently, so
 * an address that is reused need not have the same bytes behind it. Host,
 * registered and managed memory has one address. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include "arena.h"
#include "life.h"
#include "sim.h"

#define SIM_FILL_FRESH 0xC5
#define SIM_FILL_FREED 0xDB

enum sim_kind {
    SIM_DEVICE,
    SIM_IMPORTED, /* device memory of another process */
    SIM_POOL,     /* device memory of a memory pool */
    SIM_VMM,      /* device memory mapped into a reserved range */
    SIM_SYMBOL,   /* a variable of a module */
    SIM_MANAGED,
    SIM_HOST,
    SIM_REGISTERED
};

struct sim_alloc {
    uintptr_t base;
    size_t size; /* as asked for */
    enum sim_kind kind;
    char *mem; /* where the stand-in reads and writes it */
    struct sim_device *dev;
    CUcontext ctx; /* borrowed, contexts live forever; NULL: of none */
    uint64_t id;
    unsigned flags;
    bool sync_memops;
    struct sim_place place;    /* SIM_DEVICE, SIM_POOL */
    struct sim_export *export; /* SIM_DEVICE, once exported */
    CUmemoryPool pool;         /* SIM_POOL */
    struct sim_block *block;   /* SIM_VMM: see vmm.h */
    /* SIM_VMM: CUmemAccess_flags, by ordinal */
    unsigned char access[SIM_MAX_DEVICES];
    struct sim_life life;      /* SIM_POOL */
    struct sim_import *import; /* SIM_IMPORTED, owned */
};

/* The allocation that holds addr, or NULL. */
struct sim_alloc *sim_mem_find(uintptr_t addr);
/* Whether no allocation holds addr, told without the lock; false also when it
 * cannot be told. */
bool sim_mem_absent(uintptr_t addr);
/* Whether addr is device address space, allocated or not. */
bool sim_mem_is_device_space(uintptr_t addr);
/* Whether the CPU cannot touch it. */
bool sim_mem_is_device(const struct sim_alloc *a);
/* What a device may do with it: CUmemAccess_flags. */
unsigned sim_mem_access(const struct sim_alloc *a, const struct sim_device *by);
/* The same for a context: memory of cuMemAlloc on another device needs peer
 * access that the context has enabled. What a kernel may do. */
unsigned sim_mem_reach(const struct sim_alloc *a, CUcontext ctx);
/* Whether [addr, addr + size) touches any allocation. */
bool sim_mem_overlaps(uintptr_t addr, size_t size);

CUresult sim_mem_alloc_device(CUcontext ctx, size_t size,
                              struct sim_alloc **out);
/* kind is SIM_HOST or SIM_MANAGED. */
CUresult sim_mem_alloc_mapped(CUcontext ctx, enum sim_kind kind, size_t size,
                              unsigned flags, struct sim_alloc **out);
CUresult sim_mem_register(CUcontext ctx, void *p, size_t size, unsigned flags,
                          struct sim_alloc **out);
/* An address for size bytes at mem, which stay the caller's. */
CUresult sim_mem_add_symbol(CUcontext ctx, void *mem, size_t size,
                            struct sim_alloc **out);
/* Undoes any of them; work that uses the memory must have ended. */
void sim_mem_free(struct sim_alloc *a);
/* Frees all allocations of a context, imports too. */
void sim_mem_free_context(CUcontext ctx);
/* Overwrites memory that is new or was freed with a pattern, SIM_FILL_, so
 * that reading it is noticed; of large ranges only both ends. */
void sim_mem_fill(char *mem, size_t size, int pattern);

/* A new row in the registry, which the caller fills in first. */
bool sim_mem_add(struct sim_alloc *a);
void sim_mem_forget(struct sim_alloc *a);
/* Calls fn for each allocation; fn may not add or remove any. */
void sim_mem_each(void (*fn)(struct sim_alloc *a));

/* ipc.c */
void sim_ipc_unmap(struct sim_alloc *a);

#endif
