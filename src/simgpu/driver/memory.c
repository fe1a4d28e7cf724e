/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - the registry of allocations, and those that belong to a context.
 * Those of pools are in pool.c, those that are mapped in vmm.c. */
#include "memory.h"

#include "pool.h"
#include "vmm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Sorted by base. */
static struct sim_alloc **allocs;
static size_t nallocs, cap_allocs;

/* Where they lie, in the same order, for those who look without the lock: most
 * questions are about memory of the host. `version` is odd while it changes.
 * Tables that became too small stay, as somebody may still read them. */
struct extents {
    struct extents *older;
    size_t cap;
    struct {
        uintptr_t base, size;
    } at[];
};

static struct extents *extents;
static size_t nextents;
static unsigned long version;

/* Index of the first allocation whose base is above addr. */
static size_t upper(uintptr_t addr)
{
    size_t lo = 0, hi = nallocs;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (allocs[mid]->base <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct sim_alloc *sim_mem_find(uintptr_t addr)
{
    size_t i = upper(addr);
    if (i == 0)
        return NULL;
    struct sim_alloc *a = allocs[i - 1];
    return addr - a->base < a->size ? a : NULL;
}

bool sim_mem_absent(uintptr_t addr)
{
    unsigned long before = __atomic_load_n(&version, __ATOMIC_ACQUIRE);
    const struct extents *e = __atomic_load_n(&extents, __ATOMIC_ACQUIRE);
    size_t lo = 0, hi = __atomic_load_n(&nextents, __ATOMIC_ACQUIRE);
    uintptr_t base, size = 0;
    if (e == NULL || hi > e->cap)
        return before == 0;
    if (hi > 0 && before % 2 == 0) {
        base = __atomic_load_n(&e->at[0].base, __ATOMIC_ACQUIRE);
        size = __atomic_load_n(&e->at[hi - 1].base, __ATOMIC_ACQUIRE) +
               __atomic_load_n(&e->at[hi - 1].size, __ATOMIC_ACQUIRE);
        if ((addr < base || addr >= size) &&
            __atomic_load_n(&version, __ATOMIC_RELAXED) == before)
            return true;
    }
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (__atomic_load_n(&e->at[mid].base, __ATOMIC_ACQUIRE) <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    base = lo > 0 ? __atomic_load_n(&e->at[lo - 1].base, __ATOMIC_ACQUIRE) : 0;
    if (lo > 0)
        size = __atomic_load_n(&e->at[lo - 1].size, __ATOMIC_ACQUIRE);
    return before % 2 == 0 && addr - base >= size &&
           __atomic_load_n(&version, __ATOMIC_RELAXED) == before;
}

bool sim_mem_overlaps(uintptr_t addr, size_t size)
{
    size_t i = upper(addr);
    if (sim_mem_find(addr) != NULL)
        return true;
    return i < nallocs && allocs[i]->base - addr < size;
}

bool sim_mem_is_device(const struct sim_alloc *a)
{
    return a->kind == SIM_DEVICE || a->kind == SIM_IMPORTED ||
           a->kind == SIM_POOL || a->kind == SIM_VMM || a->kind == SIM_SYMBOL;
}

unsigned sim_mem_access(const struct sim_alloc *a, const struct sim_device *by)
{
    if (a->kind == SIM_POOL)
        return a->pool->access[by->ordinal];
    if (a->kind == SIM_VMM)
        return a->access[by->ordinal];
    return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

unsigned sim_mem_reach(const struct sim_alloc *a, CUcontext ctx)
{
    bool owned = a->kind == SIM_DEVICE || a->kind == SIM_IMPORTED;
    if (owned && a->dev != ctx->dev &&
        (ctx->peers & UINT32_C(1) << a->dev->ordinal) == 0)
        return CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return sim_mem_access(a, ctx->dev);
}

bool sim_mem_is_device_space(uintptr_t addr)
{
    for (int i = 0; i < sim.config.nvisible; i++) {
        const struct sim_arena *ar = sim.dev[i].arena;
        if (ar != NULL && addr - ar->va < ar->va_size)
            return true;
    }
    return sim_range_find(addr) != NULL;
}

/* Room for one more in both tables. */
static bool grow(void)
{
    if (nallocs < cap_allocs)
        return true;
    size_t cap = cap_allocs == 0 ? 64 : cap_allocs * 2;
    struct sim_alloc **grown = realloc(allocs, cap * sizeof(*grown));
    if (grown == NULL)
        return false;
    allocs = grown;
    struct extents *e = calloc(1, sizeof(*e) + cap * sizeof(e->at[0]));
    if (e == NULL)
        return false;
    e->cap = cap;
    e->older = extents;
    if (extents != NULL)
        memcpy(e->at, extents->at, nallocs * sizeof(e->at[0]));
    __atomic_store_n(&extents, e, __ATOMIC_RELEASE);
    cap_allocs = cap;
    return true;
}

/* allocs has changed from row i on. */
static void publish(size_t i)
{
    __atomic_store_n(&version, version + 1, __ATOMIC_RELAXED);
    for (; i < nallocs; i++) {
        __atomic_store_n(&extents->at[i].base, allocs[i]->base,
                         __ATOMIC_RELEASE);
        __atomic_store_n(&extents->at[i].size, allocs[i]->size,
                         __ATOMIC_RELEASE);
    }
    __atomic_store_n(&nextents, nallocs, __ATOMIC_RELEASE);
    __atomic_store_n(&version, version + 1, __ATOMIC_RELEASE);
}

bool sim_mem_add(struct sim_alloc *a)
{
    if (!grow())
        return false;
    size_t i = upper(a->base);
    memmove(&allocs[i + 1], &allocs[i], (nallocs - i) * sizeof(allocs[0]));
    allocs[i] = a;
    nallocs++;
    publish(i);
    a->id = sim_next_id();
    return true;
}

void sim_mem_forget(struct sim_alloc *a)
{
    size_t i = upper(a->base) - 1;
    memmove(&allocs[i], &allocs[i + 1], (nallocs - i - 1) * sizeof(allocs[0]));
    nallocs--;
    publish(i);
}

void sim_mem_each(void (*fn)(struct sim_alloc *a))
{
    for (size_t i = 0; i < nallocs; i++)
        fn(allocs[i]);
}

CUresult sim_mem_alloc_device(CUcontext ctx, size_t size,
                              struct sim_alloc **out)
{
    struct sim_alloc *a = calloc(1, sizeof(*a));
    if (a == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    a->size = size;
    a->kind = SIM_DEVICE;
    a->ctx = ctx;
    a->dev = ctx->dev;
    CUresult rc = sim_arena_take(a->dev, size, &a->place);
    if (rc != CUDA_SUCCESS)
        goto err_free;
    a->base = a->place.va;
    a->mem = a->place.mem;
    if (!sim_mem_add(a)) {
        rc = CUDA_ERROR_OUT_OF_MEMORY;
        goto err_give;
    }
    sim_mem_fill(a->mem, size, SIM_FILL_FRESH);
    sim_count(&sim_counters->allocs, 1);
    *out = a;
    return CUDA_SUCCESS;

err_give:
    sim_arena_give(a->dev, &a->place);
err_free:
    free(a);
    return rc;
}

CUresult sim_mem_add_symbol(CUcontext ctx, void *mem, size_t size,
                            struct sim_alloc **out)
{
    struct sim_alloc *a = calloc(1, sizeof(*a));
    if (a == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    a->size = size;
    a->kind = SIM_SYMBOL;
    a->ctx = ctx;
    a->dev = ctx->dev;
    a->mem = mem;
    if (!sim_arena_take_va(a->dev, size, &a->base))
        goto err_free;
    if (!sim_mem_add(a))
        goto err_give;
    *out = a;
    return CUDA_SUCCESS;

err_give:
    sim_arena_give_va(a->dev, a->base, size);
err_free:
    free(a);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_mem_alloc_mapped(CUcontext ctx, enum sim_kind kind, size_t size,
                              unsigned flags, struct sim_alloc **out)
{
    struct sim_alloc *a = calloc(1, sizeof(*a));
    if (a == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mem == MAP_FAILED)
        goto err_free;
    a->base = (uintptr_t)mem;
    a->size = size;
    a->kind = kind;
    a->mem = mem;
    a->ctx = ctx;
    a->dev = ctx->dev;
    a->flags = flags;
    if (!sim_mem_add(a))
        goto err_unmap;
    *out = a;
    return CUDA_SUCCESS;

err_unmap:
    munmap(mem, size);
err_free:
    free(a);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* Whether all pages of a range exist in this process. */
static bool is_mapped(uintptr_t addr, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char vec[1];
    for (uintptr_t at = addr & ~(page - 1); at < addr + size; at += page)
        if (mincore((void *)at, 1, vec) != 0)
            return false;
    return true;
}

CUresult sim_mem_register(CUcontext ctx, void *p, size_t size, unsigned flags,
                          struct sim_alloc **out)
{
    uintptr_t addr = (uintptr_t)p;
    if (sim_mem_is_device_space(addr) || !is_mapped(addr, size))
        return CUDA_ERROR_INVALID_VALUE;
    if (sim_mem_overlaps(addr, size))
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    struct sim_alloc *a = calloc(1, sizeof(*a));
    if (a == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    a->base = addr;
    a->size = size;
    a->kind = SIM_REGISTERED;
    a->mem = p;
    a->ctx = ctx;
    a->dev = ctx->dev;
    a->flags = flags;
    if (!sim_mem_add(a)) {
        free(a);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = a;
    return CUDA_SUCCESS;
}

/* The bytes of an exported allocation stay where they are, poisoned, until
 * the last importer lets go: a GPU keeps them pinned as well, and the next
 * owner of the address has other bytes. */
static void free_device(struct sim_alloc *a)
{
    sim_mem_fill(a->mem, a->place.size, SIM_FILL_FREED);
    if (a->export != NULL)
        sim_arena_give_exported(a->dev, &a->place, a->export);
    else
        sim_arena_give(a->dev, &a->place);
    sim_count(&sim_counters->frees, 1);
}

void sim_mem_free(struct sim_alloc *a)
{
    sim_mem_forget(a);
    if (a->kind == SIM_DEVICE)
        free_device(a);
    else if (a->kind == SIM_IMPORTED)
        sim_ipc_unmap(a);
    else if (a->kind == SIM_SYMBOL)
        sim_arena_give_va(a->dev, a->base, a->size);
    else if (a->kind != SIM_REGISTERED)
        munmap(a->mem, a->size);
    free(a);
}

void sim_mem_free_context(CUcontext ctx)
{
    for (size_t i = nallocs; i-- > 0;)
        if (allocs[i]->ctx == ctx)
            sim_mem_free(allocs[i]);
}
