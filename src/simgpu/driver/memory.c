/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - the registry of allocations and the arenas behind them.
 *
 * New and freed device memory is filled with patterns, so that reading it is
 * noticed; of large allocations only both ends are filled, and the middle of
 * a freed one goes back to the system. */
#include "memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#define FILL_FRESH 0xC5
#define FILL_FREED 0xDB
#define FILL_EDGE ((size_t)8 << 20)
#define VA_FACTOR 8 /* address space over memory, against splinters */
#define VA_FACTOR_NOREUSE 64
#define FILE_FACTOR 2
#define FILE_FACTOR_NOREUSE 64

/* Sorted by base. */
static struct sim_alloc **allocs;
static size_t nallocs, cap_allocs;

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

bool sim_mem_overlaps(uintptr_t addr, size_t size)
{
    size_t i = upper(addr);
    if (sim_mem_find(addr) != NULL)
        return true;
    return i < nallocs && allocs[i]->base - addr < size;
}

bool sim_mem_is_device_space(uintptr_t addr)
{
    for (int i = 0; i < sim.config.nvisible; i++) {
        const struct sim_arena *ar = sim.dev[i].arena;
        if (ar != NULL && addr - ar->va < ar->va_size)
            return true;
    }
    return false;
}

bool sim_mem_add(struct sim_alloc *a)
{
    if (nallocs == cap_allocs) {
        size_t cap = cap_allocs == 0 ? 64 : cap_allocs * 2;
        struct sim_alloc **grown = realloc(allocs, cap * sizeof(*grown));
        if (grown == NULL)
            return false;
        allocs = grown;
        cap_allocs = cap;
    }
    size_t i = upper(a->base);
    memmove(&allocs[i + 1], &allocs[i], (nallocs - i) * sizeof(allocs[0]));
    allocs[i] = a;
    nallocs++;
    a->id = sim_next_id();
    return true;
}

void sim_mem_forget(struct sim_alloc *a)
{
    size_t i = upper(a->base) - 1;
    memmove(&allocs[i], &allocs[i + 1], (nallocs - i - 1) * sizeof(allocs[0]));
    nallocs--;
}

void sim_mem_each(void (*fn)(struct sim_alloc *a))
{
    for (size_t i = 0; i < nallocs; i++)
        fn(allocs[i]);
}

/* Makes the file of an arena and maps it; false when the system refuses. */
static bool arena_open_file(struct sim_arena *ar)
{
    size_t factor = sim.config.reuse ? FILE_FACTOR : FILE_FACTOR_NOREUSE;
    ar->file_size = SIM_CONTROL_SIZE + sim.config.mem * factor;
    ar->fd = memfd_create("simgpu", MFD_CLOEXEC);
    if (ar->fd < 0)
        return false;
    if (ftruncate(ar->fd, (off_t)ar->file_size) != 0)
        goto err_close;
    void *file = mmap(NULL, ar->file_size, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_NORESERVE, ar->fd, 0);
    if (file == MAP_FAILED)
        goto err_close;
    ar->file = file;
    madvise(file, ar->file_size, MADV_DONTFORK);
    madvise(file, ar->file_size, MADV_DONTDUMP);
    struct sim_control *ctl = file;
    memcpy(ctl->magic, SIM_CONTROL_MAGIC, sizeof(ctl->magic));
    if (getrandom(&ctl->nonce, sizeof(ctl->nonce), 0) < 0)
        ctl->nonce = (uint64_t)getpid() << 32 | (uint64_t)ar->fd;
    return true;

err_close:
    close(ar->fd);
    return false;
}

static struct sim_arena *arena_create(void)
{
    struct sim_arena *ar = calloc(1, sizeof(*ar));
    if (ar == NULL)
        return NULL;
    if (!arena_open_file(ar))
        goto err_free;
    size_t factor = sim.config.reuse ? VA_FACTOR : VA_FACTOR_NOREUSE;
    ar->va_size = sim.config.mem * factor;
    void *va = mmap(NULL, ar->va_size, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (va == MAP_FAILED)
        goto err_unmap;
    ar->va = (uintptr_t)va;
    sim_heap_init(&ar->va_heap, ar->va_size, sim.config.reuse);
    sim_heap_init(&ar->file_heap, ar->file_size - SIM_CONTROL_SIZE,
                  sim.config.reuse);
    return ar;

err_unmap:
    munmap(ar->file, ar->file_size);
    close(ar->fd);
err_free:
    free(ar);
    return NULL;
}

struct sim_arena *sim_mem_arena(struct sim_device *dev)
{
    if (dev->arena == NULL)
        dev->arena = arena_create();
    return dev->arena;
}

static void fill(char *mem, size_t size, int pattern)
{
    size_t head = size < FILL_EDGE ? size : FILL_EDGE;
    size_t tail = size - head < FILL_EDGE ? size - head : FILL_EDGE;
    memset(mem, pattern, head);
    memset(mem + size - tail, pattern, tail);
}

static void arena_charge(struct sim_arena *ar, size_t size)
{
    ar->used += size;
    sim_count(&sim_counters->device_bytes, size);
    if (sim_counters->device_bytes > sim_counters->device_bytes_peak)
        sim_counters->device_bytes_peak = sim_counters->device_bytes;
}

static void arena_release(struct sim_arena *ar, size_t off, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (size > 2 * FILL_EDGE + 2 * page) {
        size_t from = (SIM_CONTROL_SIZE + off + FILL_EDGE + page) & ~(page - 1);
        size_t to = (SIM_CONTROL_SIZE + off + size - FILL_EDGE) & ~(page - 1);
        fallocate(ar->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)from, (off_t)(to - from));
    }
    sim_heap_give(&ar->file_heap, off, size);
    ar->used -= size;
    sim_uncount(&sim_counters->device_bytes, size);
}

/* Takes back memory that was freed while peers had it mapped and that none
 * has mapped any more. */
static void arena_sweep(struct sim_arena *ar)
{
    struct sim_control *ctl = (struct sim_control *)(void *)ar->file;
    for (int i = 0; i < SIM_EXPORTS_MAX; i++) {
        struct sim_export *e = &ctl->exports[i];
        if (e->busy == 0 || __atomic_load_n(&e->id, __ATOMIC_SEQ_CST) != 0 ||
            __atomic_load_n(&e->importers, __ATOMIC_SEQ_CST) != 0)
            continue;
        arena_release(ar, e->off, sim_heap_round(e->size));
        e->busy = 0;
    }
}

static CUresult arena_take(struct sim_arena *ar, struct sim_alloc *a)
{
    size_t need = sim_heap_round(a->size), va_off;
    arena_sweep(ar);
    if (need > sim.config.mem - ar->used)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!sim_heap_take(&ar->va_heap, need, &va_off))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!sim_heap_take(&ar->file_heap, need, &a->file_off)) {
        sim_heap_give(&ar->va_heap, va_off, need);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    a->base = ar->va + va_off;
    a->mem = ar->file + SIM_CONTROL_SIZE + a->file_off;
    arena_charge(ar, need);
    return CUDA_SUCCESS;
}

CUresult sim_mem_alloc_device(CUcontext ctx, size_t size,
                              struct sim_alloc **out)
{
    struct sim_arena *ar = sim_mem_arena(ctx->dev);
    struct sim_alloc *a = calloc(1, sizeof(*a));
    CUresult rc = CUDA_ERROR_OUT_OF_MEMORY;
    if (ar == NULL || a == NULL || size > sim.config.mem)
        goto err_free;
    a->size = size;
    a->kind = SIM_DEVICE;
    a->ctx = ctx;
    rc = arena_take(ar, a);
    if (rc != CUDA_SUCCESS)
        goto err_free;
    if (!sim_mem_add(a)) {
        rc = CUDA_ERROR_OUT_OF_MEMORY;
        goto err_give;
    }
    fill(a->mem, size, FILL_FRESH);
    sim_count(&sim_counters->allocs, 1);
    *out = a;
    return CUDA_SUCCESS;

err_give:
    sim_heap_give(&ar->va_heap, a->base - ar->va, sim_heap_round(size));
    arena_release(ar, a->file_off, sim_heap_round(size));
err_free:
    free(a);
    return rc;
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
    struct sim_arena *ar = a->ctx->dev->arena;
    size_t need = sim_heap_round(a->size);
    fill(a->mem, need, FILL_FREED);
    sim_heap_give(&ar->va_heap, a->base - ar->va, need);
    if (a->export != NULL)
        __atomic_store_n(&a->export->id, 0, __ATOMIC_SEQ_CST);
    else
        arena_release(ar, a->file_off, need);
    arena_sweep(ar);
    sim_count(&sim_counters->frees, 1);
}

void sim_mem_free(struct sim_alloc *a)
{
    sim_mem_forget(a);
    if (a->kind == SIM_DEVICE)
        free_device(a);
    else if (a->kind == SIM_IMPORTED)
        sim_ipc_unmap(a);
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

void sim_mem_info(struct sim_device *dev, size_t *free_bytes, size_t *total)
{
    struct sim_arena *ar = dev->arena;
    if (ar != NULL)
        arena_sweep(ar);
    *total = sim.config.mem;
    *free_bytes = sim.config.mem - (ar != NULL ? ar->used : 0);
}
