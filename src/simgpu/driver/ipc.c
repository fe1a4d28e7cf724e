/* SPDX-License-Identifier: BSD-3-Clause */
/* ipc.c - device memory of other processes.
 *
 * A handle says where the exporter's memfd is (/proc/pid/fd/n), which file it
 * must prove to be (a nonce in it) and which allocation is meant (a slot in
 * the file's control page, with the id of the allocation). Nothing is left
 * behind when the processes end. An importer holds a lock on the slot's byte of
 * the file, so the exporter knows which freed memory it may not use again; the
 * system takes the lock away when the importer closes it or dies.
 *
 * What a second open of an open mapping does depends on the driver: CUDA 13's
 * documents count it, programs have met error 208. So a setting decides, and
 * the refusal, which finds more, is the default. */
#include "memory.h"
#include "stream.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HANDLE_MAGIC UINT32_C(0x53474831)

struct handle {
    uint32_t magic;
    int32_t pid;
    int32_t fd;
    uint32_t slot;
    uint32_t phys; /* device of the machine */
    uint32_t reserved;
    uint64_t nonce;
    uint64_t id;
};
_Static_assert(sizeof(struct handle) <= CU_IPC_HANDLE_SIZE, "handle");

struct sim_import {
    struct handle handle;
    int refs; /* opens less closes */
    int fd;   /* of the exporter's file; holds the lock */
    struct sim_control *ctl;
    char *map;
    size_t map_size;
};

static struct sim_export *slot_of(const struct sim_import *im)
{
    return &im->ctl->exports[im->handle.slot];
}

/* Gives an allocation its slot, once. */
static bool make_export(struct sim_alloc *a)
{
    struct sim_control *ctl = sim_arena_control(a->dev->arena);
    if (a->export != NULL)
        return true;
    for (int i = 0; i < SIM_EXPORTS_MAX; i++) {
        struct sim_export *e = &ctl->exports[i];
        if (e->busy != 0)
            continue;
        e->busy = 1;
        e->off = a->place.file_off;
        e->size = a->size;
        __atomic_store_n(&e->id, a->id, __ATOMIC_SEQ_CST);
        a->export = e;
        return true;
    }
    return false;
}

static CUresult get_handle(CUipcMemHandle *out, CUdeviceptr dptr)
{
    CUcontext ctx;
    CUresult rc = sim_current_locked(&ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    struct sim_alloc *a = sim_mem_find((uintptr_t)dptr);
    if (a == NULL || a->kind != SIM_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim.config.ipc_export)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!make_export(a))
        return CUDA_ERROR_OUT_OF_MEMORY;
    const struct sim_arena *ar = a->dev->arena;
    struct sim_control *ctl = sim_arena_control(ar);
    struct handle h = {
        .magic = HANDLE_MAGIC,
        .pid = getpid(),
        .fd = ar->fd,
        .slot = (uint32_t)(a->export - ctl->exports),
        .phys = (uint32_t)a->dev->phys,
        .nonce = ctl->nonce,
        .id = a->id,
    };
    memset(out, 0, sizeof(*out));
    memcpy(out, &h, sizeof(h));
    sim_count(&sim_counters->ipc_exports, 1);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
    CUresult rc = sim_enter(SIM_FN_cuIpcGetMemHandle);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (pHandle == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sim_lock);
    rc = get_handle(pHandle, dptr);
    pthread_mutex_unlock(&sim_lock);
    return rc;
}

/* Whether the handle is for memory of this process. */
static bool is_own(const struct handle *h)
{
    for (int i = 0; i < sim.config.nvisible; i++) {
        const struct sim_arena *ar = sim.dev[i].arena;
        if (ar == NULL)
            continue;
        if (sim_arena_control(ar)->nonce == h->nonce)
            return true;
    }
    return false;
}

static const struct handle *wanted;
static struct sim_alloc *found;

static void match(struct sim_alloc *a)
{
    if (a->kind == SIM_IMPORTED && a->import->handle.nonce == wanted->nonce &&
        a->import->handle.id == wanted->id)
        found = a;
}

/* The mapping that this process has of it already, or NULL. */
static struct sim_alloc *find_import(const struct handle *h)
{
    wanted = h;
    found = NULL;
    sim_mem_each(match);
    return found;
}

/* Opens the exporter's file, if it still is the file that was meant. */
static int open_file(const struct handle *h, struct sim_control **ctl,
                     size_t *file_size)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", h->pid, h->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        (size_t)st.st_size < SIM_CONTROL_SIZE)
        goto err_close;
    void *map =
        mmap(NULL, SIM_CONTROL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        goto err_close;
    *ctl = map;
    *file_size = (size_t)st.st_size;
    if (memcmp((*ctl)->magic, SIM_CONTROL_MAGIC, 8) == 0 &&
        (*ctl)->nonce == h->nonce)
        return fd;
    munmap(map, SIM_CONTROL_SIZE);
err_close:
    close(fd);
    return -1;
}

/* Maps the allocation's pages; *mem is where its first byte is. */
static bool map_bytes(struct sim_import *im, size_t file_size, size_t *size,
                      char **mem)
{
    const struct sim_export *e = slot_of(im);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t off = e->off, len = e->size;
    if (len == 0 || off > file_size - SIM_CONTROL_SIZE ||
        len > file_size - SIM_CONTROL_SIZE - off)
        return false;
    size_t at = SIM_CONTROL_SIZE + off, skip = at % page;
    void *map = mmap(NULL, skip + len, PROT_READ | PROT_WRITE, MAP_SHARED,
                     im->fd, (off_t)(at - skip));
    if (map == MAP_FAILED)
        return false;
    madvise(map, skip + len, MADV_DONTFORK);
    im->map = map;
    im->map_size = skip + len;
    *size = len;
    *mem = im->map + skip;
    return true;
}

/* Locks the slot, then looks: an exporter that frees marks the slot first and
 * looks for locks afterwards, so one of the two sees the other. */
static bool join(const struct sim_import *im)
{
    struct flock lock = {.l_type = F_RDLCK,
                         .l_whence = SEEK_SET,
                         .l_start = im->handle.slot,
                         .l_len = 1};
    return fcntl(im->fd, F_OFD_SETLK, &lock) == 0 &&
           __atomic_load_n(&slot_of(im)->id, __ATOMIC_SEQ_CST) == im->handle.id;
}

/* Enters the mapping in the registry under an address of the context. */
static bool place(struct sim_alloc *a, CUcontext ctx)
{
    if (!sim_arena_take_va(ctx->dev, a->size, &a->base))
        return false;
    a->kind = SIM_IMPORTED;
    a->ctx = ctx;
    a->dev = ctx->dev;
    if (sim_mem_add(a))
        return true;
    sim_arena_give_va(ctx->dev, a->base, a->size);
    return false;
}

static CUresult map_import(const struct handle *h, CUcontext ctx,
                           CUdeviceptr *out)
{
    size_t file_size;
    CUresult rc = CUDA_ERROR_OUT_OF_MEMORY;
    struct sim_alloc *a = calloc(1, sizeof(*a));
    struct sim_import *im = calloc(1, sizeof(*im));
    if (a == NULL || im == NULL)
        goto err_free;
    im->handle = *h;
    im->refs = 1;
    a->import = im;
    rc = CUDA_ERROR_INVALID_VALUE;
    im->fd = open_file(h, &im->ctl, &file_size);
    if (im->fd < 0)
        goto err_free;
    if (!join(im))
        goto err_unmap_ctl;
    rc = CUDA_ERROR_MAP_FAILED;
    if (!map_bytes(im, file_size, &a->size, &a->mem))
        goto err_unmap_ctl;
    if (!place(a, ctx))
        goto err_unmap;
    sim_count(&sim_counters->ipc_opens, 1);
    *out = a->base;
    return CUDA_SUCCESS;

err_unmap:
    munmap(im->map, im->map_size);
err_unmap_ctl:
    munmap(im->ctl, SIM_CONTROL_SIZE);
    close(im->fd);
err_free:
    free(im);
    free(a);
    return rc;
}

static CUresult open_handle(const struct handle *h, CUdeviceptr *out)
{
    CUcontext ctx;
    CUresult rc = sim_current_locked(&ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    const struct sim_device *owner = NULL;
    for (int i = 0; i < sim.config.nvisible; i++)
        if (sim.dev[i].phys == (int)h->phys)
            owner = &sim.dev[i];
    if (h->magic != HANDLE_MAGIC || h->slot >= SIM_EXPORTS_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (is_own(h))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (owner == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!sim.config.ipc_open ||
        (owner != ctx->dev && !sim_peer_reachable(owner, ctx->dev)))
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    struct sim_alloc *a = find_import(h);
    if (a == NULL)
        return map_import(h, ctx, out);
    if (a->ctx != ctx)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!sim.config.ipc_counted)
        return CUDA_ERROR_ALREADY_MAPPED;
    a->import->refs++;
    *out = a->base;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr,
                                       CUipcMemHandle handle,
                                       unsigned int Flags)
{
    struct handle h;
    CUresult rc = sim_enter(SIM_FN_cuIpcOpenMemHandle);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (pdptr == NULL || Flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&h, &handle, sizeof(h));
    pthread_mutex_lock(&sim_lock);
    rc = open_handle(&h, pdptr);
    pthread_mutex_unlock(&sim_lock);
    return rc;
}

CUresult CUDAAPI cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle,
                                    unsigned int Flags)
{
    return cuIpcOpenMemHandle_v2(pdptr, handle, Flags);
}

static CUresult close_handle(CUdeviceptr dptr)
{
    CUcontext ctx;
    CUresult rc = sim_current_locked(&ctx);
    if (rc != CUDA_SUCCESS)
        return rc;
    sim_stream_drain_all();
    struct sim_alloc *a = sim_mem_find((uintptr_t)dptr);
    if (a == NULL || a->kind != SIM_IMPORTED || a->base != dptr)
        return CUDA_ERROR_INVALID_VALUE;
    if (--a->import->refs == 0)
        sim_mem_free(a);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuIpcCloseMemHandle(CUdeviceptr dptr)
{
    CUresult rc = sim_enter(SIM_FN_cuIpcCloseMemHandle);
    if (rc != CUDA_SUCCESS)
        return rc;
    pthread_mutex_lock(&sim_lock);
    rc = close_handle(dptr);
    pthread_mutex_unlock(&sim_lock);
    return rc;
}

/* Undoes map_import, except for the registry. */
void sim_ipc_unmap(struct sim_alloc *a)
{
    struct sim_import *im = a->import;
    sim_arena_give_va(a->dev, a->base, a->size);
    munmap(im->map, im->map_size);
    munmap(im->ctl, SIM_CONTROL_SIZE);
    close(im->fd);
    free(im);
    sim_count(&sim_counters->ipc_closes, 1);
}
