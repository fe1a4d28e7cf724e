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

#include "heap.h"
#include "sim.h"

#define SIM_EXPORTS_MAX 1000

enum sim_kind {
    SIM_DEVICE,
    SIM_IMPORTED, /* device memory of another process */
    SIM_MANAGED,
    SIM_HOST,
    SIM_REGISTERED
};

/* One exported allocation, in the page that all importers map. */
struct sim_export {
    uint64_t id;        /* 0: free, or freed while importers remain */
    uint32_t importers; /* mappings in other processes */
    uint32_t busy;      /* the exporter may not hand out this slot */
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
    size_t used; /* bytes given out, freed ones that peers pin too */
    struct sim_heap va_heap;
    struct sim_heap file_heap;
};

struct sim_alloc {
    uintptr_t base;
    size_t size; /* as asked for */
    enum sim_kind kind;
    char *mem;     /* where the stand-in reads and writes it */
    CUcontext ctx; /* borrowed, contexts live forever */
    uint64_t id;
    unsigned flags;
    bool sync_memops;
    size_t file_off;           /* SIM_DEVICE */
    struct sim_export *export; /* SIM_DEVICE, once exported */
    struct sim_import *import; /* SIM_IMPORTED, owned */
};

/* The allocation that holds addr, or NULL. */
struct sim_alloc *sim_mem_find(uintptr_t addr);
/* Whether addr is device address space, allocated or not. */
bool sim_mem_is_device_space(uintptr_t addr);
/* Whether [addr, addr + size) touches any allocation. */
bool sim_mem_overlaps(uintptr_t addr, size_t size);

CUresult sim_mem_alloc_device(CUcontext ctx, size_t size,
                              struct sim_alloc **out);
/* kind is SIM_HOST or SIM_MANAGED. */
CUresult sim_mem_alloc_mapped(CUcontext ctx, enum sim_kind kind, size_t size,
                              unsigned flags, struct sim_alloc **out);
CUresult sim_mem_register(CUcontext ctx, void *p, size_t size, unsigned flags,
                          struct sim_alloc **out);
/* Undoes any of them; work that uses the memory must have ended. */
void sim_mem_free(struct sim_alloc *a);
/* Frees all allocations of a context, imports too. */
void sim_mem_free_context(CUcontext ctx);
void sim_mem_info(struct sim_device *dev, size_t *free_bytes, size_t *total);

/* For ipc.c: the arena of a device, made if need be (NULL: out of memory);
 * and a new row in the registry, which the caller fills in first. */
struct sim_arena *sim_mem_arena(struct sim_device *dev);
bool sim_mem_add(struct sim_alloc *a);
void sim_mem_forget(struct sim_alloc *a);
/* Calls fn for each allocation; fn may not add or remove any. */
void sim_mem_each(void (*fn)(struct sim_alloc *a));

/* ipc.c */
void sim_ipc_unmap(struct sim_alloc *a);
void sim_ipc_forget_all(void);

#endif
