/* SPDX-License-Identifier: BSD-3-Clause */
/* vmm.c - see vmm.h. */
#include "vmm.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "SIMGPUV1"
#define HEADER_SIZE ((size_t)4096)

/* Start of a block's file: what an importer must know. */
struct header {
    char magic[8];
    int32_t phys; /* device of the machine */
    uint32_t handle_types;
    uint64_t size;
};

static struct sim_range *ranges;
static struct sim_block *blocks;

static void *map_nothing(void *at, size_t size, int flags)
{
    return mmap(at, size, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

/* size bytes of address space that begin at a multiple of align. */
static char *reserve_aligned(size_t size, size_t align, uintptr_t hint)
{
    if (hint != 0 && hint % align == 0) {
        char *at = map_nothing((void *)hint, size, 0);
        if ((uintptr_t)at == hint)
            return at;
        if (at != MAP_FAILED)
            munmap(at, size);
    }
    char *all = map_nothing(NULL, size + align, 0);
    if (all == MAP_FAILED)
        return NULL;
    size_t skip = (align - (uintptr_t)all % align) % align;
    if (skip != 0)
        munmap(all, skip);
    if (align != skip)
        munmap(all + skip + size, align - skip);
    return all + skip;
}

CUresult sim_range_reserve(size_t size, size_t align, uintptr_t hint,
                           uintptr_t *out)
{
    struct sim_range *r = calloc(1, sizeof(*r));
    if (r == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    char *base = reserve_aligned(size, align, hint);
    if (base == NULL)
        goto err_free;
    r->mem = map_nothing(NULL, size, 0);
    if (r->mem == MAP_FAILED)
        goto err_unmap;
    r->base = (uintptr_t)base;
    r->size = size;
    r->next = ranges;
    ranges = r;
    *out = r->base;
    return CUDA_SUCCESS;

err_unmap:
    munmap(base, size);
err_free:
    free(r);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

struct sim_range *sim_range_find(uintptr_t addr)
{
    for (struct sim_range *r = ranges; r != NULL; r = r->next)
        if (addr - r->base < r->size)
            return r;
    return NULL;
}

CUresult sim_range_free(uintptr_t addr, size_t size)
{
    struct sim_range **at = &ranges;
    while (*at != NULL && (*at)->base != addr)
        at = &(*at)->next;
    struct sim_range *r = *at;
    if (r == NULL || r->size != size || sim_mem_overlaps(addr, size))
        return CUDA_ERROR_INVALID_VALUE;
    *at = r->next;
    munmap((void *)r->base, size);
    munmap(r->mem, size);
    free(r);
    return CUDA_SUCCESS;
}

static struct sim_block *block_new(int fd, struct sim_device *dev, size_t size)
{
    struct sim_block *b = calloc(1, sizeof(*b));
    if (b == NULL)
        return NULL;
    b->refs = 1;
    b->fd = fd;
    b->dev = dev;
    b->size = size;
    b->id = sim_next_id();
    b->next = blocks;
    blocks = b;
    return b;
}

/* Makes the file, with its header, and fills the memory with the pattern. */
static int make_file(const struct sim_device *dev, size_t size,
                     const CUmemAllocationProp *prop)
{
    int fd = memfd_create("simgpu-block", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t)(HEADER_SIZE + size)) != 0)
        goto err_close;
    char *map = mmap(NULL, HEADER_SIZE + size, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (map == MAP_FAILED)
        goto err_close;
    struct header h = {.phys = dev->phys,
                       .handle_types = (uint32_t)prop->requestedHandleTypes,
                       .size = size};
    memcpy(h.magic, MAGIC, sizeof(h.magic));
    memcpy(map, &h, sizeof(h));
    sim_mem_fill(map + HEADER_SIZE, size, SIM_FILL_FRESH);
    munmap(map, HEADER_SIZE + size);
    return fd;

err_close:
    close(fd);
    return -1;
}

CUresult sim_block_create(struct sim_device *dev, size_t size,
                          const CUmemAllocationProp *prop,
                          CUmemGenericAllocationHandle *out)
{
    CUresult rc = sim_arena_charge(dev, size);
    if (rc != CUDA_SUCCESS)
        return rc;
    int fd = make_file(dev, size, prop);
    if (fd < 0)
        goto err_uncharge;
    struct sim_block *b = block_new(fd, dev, size);
    if (b == NULL)
        goto err_close;
    b->prop = *prop;
    sim_count(&sim_counters->allocs, 1);
    *out = sim_block_handle(b);
    return CUDA_SUCCESS;

err_close:
    close(fd);
err_uncharge:
    sim_arena_uncharge(dev, size);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUmemGenericAllocationHandle sim_block_handle(struct sim_block *b)
{
    return (uintptr_t)b;
}

struct sim_block *sim_block_check(CUmemGenericAllocationHandle handle)
{
    for (struct sim_block *b = blocks; b != NULL; b = b->next)
        if (sim_block_handle(b) == handle)
            return b->refs > 0 ? b : NULL;
    return NULL;
}

static void free_if_unused(struct sim_block *b)
{
    if (b->refs > 0 || b->maps > 0)
        return;
    struct sim_block **at = &blocks;
    while (*at != b)
        at = &(*at)->next;
    *at = b->next;
    close(b->fd);
    if (!b->imported) {
        sim_arena_uncharge(b->dev, b->size);
        sim_count(&sim_counters->frees, 1);
    }
    free(b);
}

void sim_block_put(struct sim_block *b)
{
    b->refs--;
    free_if_unused(b);
}

CUresult sim_block_export(const struct sim_block *b, int *fd)
{
    int copy = fcntl(b->fd, F_DUPFD_CLOEXEC, 3);
    if (copy < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    *fd = copy;
    return CUDA_SUCCESS;
}

static bool read_header(int fd, struct header *h)
{
    struct stat st;
    return pread(fd, h, sizeof(*h), 0) == (ssize_t)sizeof(*h) &&
           memcmp(h->magic, MAGIC, sizeof(h->magic)) == 0 &&
           fstat(fd, &st) == 0 && (uint64_t)st.st_size == HEADER_SIZE + h->size;
}

CUresult sim_block_import(int fd, CUmemGenericAllocationHandle *out)
{
    struct header h;
    struct sim_device *dev = NULL;
    if (!read_header(fd, &h))
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < sim.config.nvisible; i++)
        if (sim.dev[i].phys == h.phys)
            dev = &sim.dev[i];
    if (dev == NULL)
        return CUDA_ERROR_NOT_SUPPORTED;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (own < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    struct sim_block *b = block_new(own, dev, h.size);
    if (b == NULL) {
        close(own);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    b->imported = true;
    b->prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    b->prop.requestedHandleTypes = (CUmemAllocationHandleType)h.handle_types;
    b->prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    b->prop.location.id = dev->ordinal;
    *out = sim_block_handle(b);
    return CUDA_SUCCESS;
}

CUresult sim_vmm_map(uintptr_t addr, size_t size, struct sim_block *b)
{
    struct sim_range *r = sim_range_find(addr);
    if (r == NULL || addr - r->base + size > r->size || size > b->size ||
        sim_mem_overlaps(addr, size))
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_alloc *a = calloc(1, sizeof(*a));
    if (a == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    char *mem = r->mem + (addr - r->base);
    if (mmap(mem, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, b->fd,
             (off_t)HEADER_SIZE) == MAP_FAILED)
        goto err_free;
    madvise(mem, size, MADV_DONTFORK);
    a->base = addr;
    a->size = size;
    a->kind = SIM_VMM;
    a->mem = mem;
    a->dev = b->dev;
    a->block = b;
    if (!sim_mem_add(a))
        goto err_unmap;
    b->maps++;
    sim_count(&sim_counters->vmm_maps, 1);
    return CUDA_SUCCESS;

err_unmap:
    map_nothing(mem, size, MAP_FIXED);
err_free:
    free(a);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* The mapping at addr, if it ends at or before end. */
static struct sim_alloc *mapping_at(uintptr_t addr, uintptr_t end)
{
    struct sim_alloc *a = sim_mem_find(addr);
    return a != NULL && a->kind == SIM_VMM && a->base == addr &&
                   a->size <= end - addr
               ? a
               : NULL;
}

/* Whether [addr, addr + size) is one or several whole mappings, no holes. */
static bool is_whole(uintptr_t addr, size_t size)
{
    uintptr_t end = addr + size;
    if (size == 0 || end < addr)
        return false;
    while (addr < end) {
        const struct sim_alloc *a = mapping_at(addr, end);
        if (a == NULL)
            return false;
        addr += a->size;
    }
    return true;
}

static void unmap_one(struct sim_alloc *a)
{
    map_nothing(a->mem, a->size, MAP_FIXED);
    sim_mem_forget(a);
    a->block->maps--;
    free_if_unused(a->block);
    free(a);
    sim_count(&sim_counters->vmm_unmaps, 1);
}

CUresult sim_vmm_unmap(uintptr_t addr, size_t size)
{
    uintptr_t end = addr + size;
    if (!is_whole(addr, size))
        return CUDA_ERROR_INVALID_VALUE;
    while (addr < end) {
        struct sim_alloc *a = mapping_at(addr, end);
        addr += a->size;
        unmap_one(a);
    }
    return CUDA_SUCCESS;
}

CUresult sim_vmm_set_access(uintptr_t addr, size_t size, int ordinal,
                            unsigned flags)
{
    uintptr_t end = addr + size;
    const struct sim_device *by = &sim.dev[ordinal];
    if (!is_whole(addr, size))
        return CUDA_ERROR_INVALID_VALUE;
    for (uintptr_t at = addr; at < end;) {
        const struct sim_alloc *a = mapping_at(at, end);
        if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
            a->dev->phys != by->phys && !sim_peer_reachable(a->dev, by))
            return CUDA_ERROR_INVALID_DEVICE;
        at += a->size;
    }
    while (addr < end) {
        struct sim_alloc *a = mapping_at(addr, end);
        a->access[ordinal] = (unsigned char)flags;
        addr += a->size;
    }
    return CUDA_SUCCESS;
}
