/* SPDX-License-Identifier: BSD-3-Clause */
/* ipc_event.c - see ipc_event.h.
 *
 * A handle says where the exporter's file is (/proc/pid/fd/n), which file it
 * must prove to be, and which slot of it. Whoever waits looks again every 50
 * microseconds; the work of a process that has died counts as done, as its
 * context is gone. */
#include "ipc_event.h"
#include "entry.h"

#include "capture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAGIC UINT64_C(0x31564547534d4953)
#define HANDLE_MAGIC UINT32_C(0x53474532)
#define SLOTS 1000
#define FILE_SIZE ((size_t)65536)
#define LOOK_US 50

struct page {
    uint64_t magic, nonce;
    struct sim_shared_event slots[SLOTS];
};
_Static_assert(sizeof(struct page) <= FILE_SIZE, "event page");

struct handle {
    uint32_t magic;
    int32_t pid, fd;
    uint32_t slot;
    uint64_t nonce, id;
};
_Static_assert(sizeof(struct handle) <= CU_IPC_HANDLE_SIZE, "handle");

static struct page *own;
static int own_fd = -1;

static bool make_page(void)
{
    if (own != NULL)
        return true;
    int fd = memfd_create("simgpu-events", MFD_CLOEXEC);
    if (fd < 0)
        return false;
    void *map = MAP_FAILED;
    if (ftruncate(fd, (off_t)FILE_SIZE) == 0)
        map = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        close(fd);
        return false;
    }
    madvise(map, FILE_SIZE, MADV_DONTFORK);
    own = map;
    own_fd = fd;
    own->magic = FILE_MAGIC;
    if (getrandom(&own->nonce, sizeof(own->nonce), 0) < 0)
        own->nonce = (uint64_t)getpid() << 32 | (uint64_t)fd;
    return true;
}

CUresult sim_ipc_event_create(CUevent e)
{
    if (!make_page())
        return CUDA_ERROR_OPERATING_SYSTEM;
    for (int i = 0; i < SLOTS; i++) {
        struct sim_shared_event *s = &own->slots[i];
        if (s->id != 0)
            continue;
        memset(s, 0, sizeof(*s));
        e->shared_id = sim_next_id();
        __atomic_store_n(&s->id, e->shared_id, __ATOMIC_SEQ_CST);
        e->shared = s;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

void sim_ipc_event_destroy(CUevent e)
{
    if (e->shared == NULL)
        return;
    if (e->shared_map != NULL)
        munmap(e->shared_map, FILE_SIZE);
    else
        __atomic_store_n(&e->shared->id, 0, __ATOMIC_SEQ_CST);
    e->shared = NULL;
}

CUresult sim_ipc_event_check(CUevent e)
{
    return __atomic_load_n(&e->shared->id, __ATOMIC_SEQ_CST) == e->shared_id
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_HANDLE;
}

/* Records and waits outlive the event and its mapping: each of them has one of
 * the page it is about. */
struct event_op {
    struct sim_op op; /* first */
    void *map;        /* owned */
    struct sim_shared_event *shared;
    uint64_t id, target;
};

/* A second mapping of the page that e is in; an old size of 0 copies one. */
static struct event_op *op_create(CUevent e)
{
    struct event_op *op = calloc(1, sizeof(*op));
    char *page = e->shared_map != NULL ? e->shared_map : (char *)own;
    if (op == NULL)
        return NULL;
    op->map = mremap(page, 0, FILE_SIZE, MREMAP_MAYMOVE);
    if (op->map == MAP_FAILED) {
        free(op);
        return NULL;
    }
    op->shared = (struct sim_shared_event *)((char *)op->map +
                                             ((char *)e->shared - page));
    op->id = e->shared_id;
    return op;
}

static void op_done(struct sim_op *op)
{
    struct event_op *e = (struct event_op *)op;
    munmap(e->map, FILE_SIZE);
    free(e);
}

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void record_run(struct sim_op *op)
{
    struct event_op *e = (struct event_op *)op;
    uint64_t ended = load(&e->shared->ended);
    while (load(&e->shared->id) == e->id && ended < e->target &&
           !__atomic_compare_exchange_n(&e->shared->ended, &ended, e->target,
                                        false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
        continue;
}

static bool reached(const struct sim_shared_event *s, uint64_t id,
                    uint64_t target)
{
    int64_t pid = __atomic_load_n(&s->recorder, __ATOMIC_SEQ_CST);
    if (load(&s->ended) >= target || load(&s->id) != id)
        return true;
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

static void wait_run(struct sim_op *op)
{
    const struct event_op *e = (const struct event_op *)op;
    while (!reached(e->shared, e->id, e->target))
        usleep(LOOK_US);
}

static CUresult submit(CUstream s, struct event_op *op,
                       void (*run)(struct sim_op *op))
{
    uint64_t seq;
    op->op.run = run;
    op->op.done = op_done;
    CUresult rc = sim_stream_submit(s, &op->op, NULL, &seq);
    if (rc != CUDA_SUCCESS)
        op_done(&op->op);
    return rc;
}

CUresult sim_ipc_event_record(CUevent e, CUstream s)
{
    CUresult rc = sim_capture_refuse(s);
    if (rc == CUDA_SUCCESS)
        rc = sim_ipc_event_check(e);
    if (rc != CUDA_SUCCESS)
        return rc;
    struct event_op *op = op_create(e);
    if (op == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    __atomic_store_n(&e->shared->recorder, getpid(), __ATOMIC_SEQ_CST);
    op->target = __atomic_add_fetch(&e->shared->begun, 1, __ATOMIC_SEQ_CST);
    return submit(s, op, record_run);
}

bool sim_ipc_event_reached(CUevent e)
{
    return reached(e->shared, e->shared_id, load(&e->shared->begun));
}

void sim_ipc_event_sync(CUevent e)
{
    struct event_op *op = op_create(e);
    if (op == NULL)
        return;
    op->target = load(&e->shared->begun);
    pthread_mutex_unlock(&sim_lock);
    wait_run(&op->op);
    pthread_mutex_lock(&sim_lock);
    op_done(&op->op);
}

CUresult sim_ipc_event_wait(CUevent e, CUstream s)
{
    CUresult rc = sim_capture_refuse(s);
    if (rc == CUDA_SUCCESS)
        rc = sim_ipc_event_check(e);
    if (rc != CUDA_SUCCESS || load(&e->shared->begun) == 0)
        return rc;
    struct event_op *op = op_create(e);
    if (op == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    op->target = load(&e->shared->begun);
    return submit(s, op, wait_run);
}

CUresult CUDAAPI cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event)
{
    CUcontext ctx;
    CUresult rc = sim_enter(SIM_FN_cuIpcGetEventHandle);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (pHandle == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&sim_lock);
    rc = sim_current_locked(&ctx);
    if (rc != CUDA_SUCCESS)
        return sim_end(rc);
    CUevent e = sim_event_find(event);
    if (e == NULL || e->shared == NULL || e->shared_map != NULL)
        return sim_end(CUDA_ERROR_INVALID_HANDLE);
    if (!sim.config.ipc_export)
        return sim_end(CUDA_ERROR_NOT_SUPPORTED);
    struct handle h = {.magic = HANDLE_MAGIC,
                       .pid = getpid(),
                       .fd = own_fd,
                       .slot = (uint32_t)(e->shared - own->slots),
                       .nonce = own->nonce,
                       .id = e->shared_id};
    memset(pHandle, 0, sizeof(*pHandle));
    memcpy(pHandle, &h, sizeof(h));
    return sim_end(CUDA_SUCCESS);
}

/* Maps the exporter's page if it is the one that is meant. */
static struct page *open_page(const struct handle *h)
{
    char path[64];
    struct stat st;
    void *map = MAP_FAILED;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", h->pid, h->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        (size_t)st.st_size == FILE_SIZE)
        map = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return NULL;
    struct page *p = map;
    if (p->magic == FILE_MAGIC && p->nonce == h->nonce &&
        load(&p->slots[h->slot].id) == h->id) {
        madvise(map, FILE_SIZE, MADV_DONTFORK);
        return p;
    }
    munmap(map, FILE_SIZE);
    return NULL;
}

static CUresult open_event(const struct handle *h, CUcontext ctx, CUevent *out)
{
    if (h->magic != HANDLE_MAGIC || h->slot >= SLOTS)
        return CUDA_ERROR_INVALID_VALUE;
    if (own != NULL && h->nonce == own->nonce)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!sim.config.ipc_open)
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    struct page *p = open_page(h);
    if (p == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult rc = sim_event_create(ctx, CU_EVENT_DISABLE_TIMING, out);
    if (rc != CUDA_SUCCESS) {
        munmap(p, FILE_SIZE);
        return rc;
    }
    (*out)->shared = &p->slots[h->slot];
    (*out)->shared_map = p;
    (*out)->shared_id = h->id;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle)
{
    CUcontext ctx;
    struct handle h;
    CUresult rc = sim_enter(SIM_FN_cuIpcOpenEventHandle);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (phEvent == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&h, &handle, sizeof(h));
    pthread_mutex_lock(&sim_lock);
    rc = sim_current_locked(&ctx);
    return sim_end(rc == CUDA_SUCCESS ? open_event(&h, ctx, phEvent) : rc);
}
