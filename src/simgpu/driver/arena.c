/* SPDX-License-Identifier: BSD-3-Clause */
/* arena.c - see arena.h. */
#include "arena.h"

#include "memory.h"
#include "share.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#define FILL_EDGE ((size_t)8 << 20)
#define SIM_VA_BLOCK ((size_t)2 << 20)
#define VA_FACTOR 8 /* address space over memory, against splinters */
#define VA_FACTOR_NOREUSE 64
#define FILE_FACTOR 2
#define FILE_FACTOR_NOREUSE 64

/* Makes the file of an arena and maps it; false when the system refuses. */
static bool open_file(struct sim_arena *ar)
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

static struct sim_arena *create(void)
{
    struct sim_arena *ar = calloc(1, sizeof(*ar));
    if (ar == NULL)
        return NULL;
    if (!open_file(ar))
        goto err_free;
    size_t factor = sim.config.reuse ? VA_FACTOR : VA_FACTOR_NOREUSE;
    ar->va_size = sim.config.mem * factor;
    /* As on a GPU, its blocks of address space hold nothing else. */
    void *va = mmap(NULL, ar->va_size + 2 * SIM_VA_BLOCK, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (va == MAP_FAILED)
        goto err_unmap;
    ar->va = ((uintptr_t)va + SIM_VA_BLOCK - 1) & ~(SIM_VA_BLOCK - 1);
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

struct sim_arena *sim_arena(struct sim_device *dev)
{
    if (dev->arena == NULL)
        dev->arena = create();
    return dev->arena;
}

struct sim_control *sim_arena_control(const struct sim_arena *ar)
{
    return (struct sim_control *)(void *)ar->file;
}

void sim_mem_fill(char *mem, size_t size, int pattern)
{
    size_t head = size < FILL_EDGE ? size : FILL_EDGE;
    size_t tail = size - head < FILL_EDGE ? size - head : FILL_EDGE;
    memset(mem, pattern, head);
    memset(mem + size - tail, pattern, tail);
}

/* Gives back bytes: the middle of a large range, which holds no pattern, goes
 * back to the system. */
static void release_bytes(struct sim_device *dev, size_t off, size_t size)
{
    struct sim_arena *ar = dev->arena;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (size > 2 * FILL_EDGE + 2 * page) {
        size_t from = (SIM_CONTROL_SIZE + off + FILL_EDGE + page) & ~(page - 1);
        size_t to = (SIM_CONTROL_SIZE + off + size - FILL_EDGE) & ~(page - 1);
        fallocate(ar->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)from, (off_t)(to - from));
    }
    sim_heap_give(&ar->file_heap, off, size);
    sim_arena_uncharge(dev, size);
}

/* Whether another process has an exported allocation mapped. */
static bool is_mapped(const struct sim_arena *ar, int slot)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = slot, .l_len = 1};
    return fcntl(ar->fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* Takes back memory that was freed while peers had it mapped and that none
 * has mapped any more. */
static void sweep(struct sim_device *dev)
{
    if (dev->arena == NULL)
        return;
    struct sim_control *ctl = sim_arena_control(dev->arena);
    for (int i = 0; i < SIM_EXPORTS_MAX; i++) {
        struct sim_export *e = &ctl->exports[i];
        if (e->busy == 0 || __atomic_load_n(&e->id, __ATOMIC_SEQ_CST) != 0 ||
            is_mapped(dev->arena, i))
            continue;
        release_bytes(dev, e->off, sim_heap_round(e->size));
        e->busy = 0;
    }
}

static bool charge(struct sim_device *dev, size_t size)
{
    if (sim_share_on())
        return sim_share_take(dev->phys, size, sim.config.mem);
    return size <= sim.config.mem - dev->used;
}

CUresult sim_arena_charge(struct sim_device *dev, size_t size)
{
    sweep(dev);
    if (!charge(dev, size)) {
        sim_pools_relieve(dev);
        if (!charge(dev, size))
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    dev->used += size;
    sim_count(&sim_counters->device_bytes, size);
    if (sim_counters->device_bytes > sim_counters->device_bytes_peak)
        sim_counters->device_bytes_peak = sim_counters->device_bytes;
    return CUDA_SUCCESS;
}

void sim_arena_uncharge(struct sim_device *dev, size_t size)
{
    dev->used -= size;
    if (sim_share_on())
        sim_share_give(dev->phys, size);
    sim_uncount(&sim_counters->device_bytes, size);
}

bool sim_arena_take_va(struct sim_device *dev, size_t size, uintptr_t *va)
{
    struct sim_arena *ar = sim_arena(dev);
    size_t off;
    if (ar == NULL || !sim_heap_take(&ar->va_heap, sim_heap_round(size), &off))
        return false;
    *va = ar->va + off;
    return true;
}

void sim_arena_give_va(struct sim_device *dev, uintptr_t va, size_t size)
{
    struct sim_arena *ar = dev->arena;
    sim_heap_give(&ar->va_heap, va - ar->va, sim_heap_round(size));
}

CUresult sim_arena_take(struct sim_device *dev, size_t size,
                        struct sim_place *out)
{
    struct sim_arena *ar = sim_arena(dev);
    if (ar == NULL || size > sim.config.mem)
        return CUDA_ERROR_OUT_OF_MEMORY;
    size_t need = sim_heap_round(size);
    CUresult rc = sim_arena_charge(dev, need);
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = CUDA_ERROR_OUT_OF_MEMORY;
    if (!sim_arena_take_va(dev, need, &out->va))
        goto err_uncharge;
    if (!sim_heap_take(&ar->file_heap, need, &out->file_off))
        goto err_va;
    out->mem = ar->file + SIM_CONTROL_SIZE + out->file_off;
    out->size = need;
    return CUDA_SUCCESS;

err_va:
    sim_arena_give_va(dev, out->va, need);
err_uncharge:
    sim_arena_uncharge(dev, need);
    return rc;
}

void sim_arena_give(struct sim_device *dev, const struct sim_place *p)
{
    sim_arena_give_va(dev, p->va, p->size);
    release_bytes(dev, p->file_off, p->size);
}

void sim_arena_give_exported(struct sim_device *dev, const struct sim_place *p,
                             struct sim_export *e)
{
    sim_arena_give_va(dev, p->va, p->size);
    __atomic_store_n(&e->id, 0, __ATOMIC_SEQ_CST);
    sweep(dev);
}

void sim_arena_info(struct sim_device *dev, size_t *free_bytes, size_t *total)
{
    sweep(dev);
    size_t used = sim_share_on() ? sim_share_used(dev->phys) : dev->used;
    *total = sim.config.mem;
    *free_bytes = used < sim.config.mem ? sim.config.mem - used : 0;
}
