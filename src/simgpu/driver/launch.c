/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.c - see launch.h.
 *
 * The program's addresses of device memory are not mapped for anybody, so a
 * kernel gets others: each allocation that an argument points into is mapped a
 * second time for the time of the launch, between guards, and the arguments
 * are changed to point there. An address that the device may not use stays
 * what it is, or, on the host, becomes one that nobody has: a kernel that uses
 * it faults. What addresses mean is settled when the kernel is queued or its
 * graph launched, as for copies. */
#include "launch.h"

#include "block.h"
#include "memory.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PARAMS_MAX 64
#define PARAM_BYTES_MAX ((size_t)32764)
#define GUARD ((size_t)1 << 20)

/* An address of no mapping, ever: bits 48 to 63 are not all alike. */
#define NOWHERE UINT64_C(0x5ead000000000000)

/* One word of the arguments that is an address of device memory. */
struct use {
    size_t at;      /* its place in the arguments */
    uintptr_t addr; /* what the program passed */
    uintptr_t base; /* of the allocation */
    size_t size;
    char *mem;
    bool read_only;
    bool in_place; /* needs no second mapping */
    struct sim_life life;
};

struct kernel_op {
    struct sim_op op; /* first */
    CUfunction function;
    CUcontext ctx;
    struct simgpu_dim3 grid, block;
    size_t shared;
    size_t nbytes; /* of the arguments */
    size_t nuses;
    /* Behind it: the arguments as they were passed, the same with other
     * addresses, and the words that differ. */
};

static size_t round16(size_t n)
{
    return (n + 15) & ~(size_t)15;
}

static char *passed(struct kernel_op *k)
{
    return (char *)k + round16(sizeof(*k));
}

static char *changed(struct kernel_op *k)
{
    return passed(k) + round16(k->nbytes);
}

static struct use *uses(struct kernel_op *k)
{
    return (struct use *)(void *)(changed(k) + round16(k->nbytes));
}

static size_t op_size(size_t nbytes)
{
    return round16(sizeof(struct kernel_op)) + 2 * round16(nbytes) +
           nbytes / 8 * sizeof(struct use);
}

size_t sim_launch_offsets(const struct simgpu_kernel *k, size_t *offsets)
{
    size_t at = 0;
    for (unsigned i = 0; i < k->nparams; i++) {
        const struct simgpu_param *p = &k->params[i];
        at = (at + p->align - 1) / p->align * p->align;
        offsets[i] = at;
        at += p->size;
    }
    return at;
}

/* The allocation that a pointer is into, or just behind: loops end there. */
static struct sim_alloc *target(uintptr_t addr)
{
    struct sim_alloc *a = sim_mem_find(addr);
    return a != NULL || addr == 0 ? a : sim_mem_find(addr - 1);
}

static void add_use(struct kernel_op *k, size_t at, uintptr_t addr,
                    const struct sim_alloc *a, unsigned access)
{
    uses(k)[k->nuses++] = (struct use){
        .at = at,
        .addr = addr,
        .base = a->base,
        .size = a->size,
        .mem = a->mem,
        .read_only = access == CU_MEM_ACCESS_FLAGS_PROT_READ,
        /* Here a kernel may go from one mapping to the next. */
        .in_place = a->kind == SIM_VMM,
        .life = a->life,
    };
}

/* One word of the arguments, which may be an address. */
static void bind_word(struct kernel_op *k, size_t at, bool is_pointer)
{
    uint64_t word;
    memcpy(&word, passed(k) + at, sizeof(word));
    const struct sim_alloc *a = target((uintptr_t)word);
    if (a != NULL && sim_mem_is_device(a)) {
        unsigned access = sim_mem_reach(a, k->ctx);
        if (access != 0)
            add_use(k, at, (uintptr_t)word, a, access);
        return;
    }
    if (!is_pointer || word == 0 || a != NULL ||
        sim_mem_is_device_space((uintptr_t)word))
        return;
    word = (word & UINT64_C(0xffffffffffff)) | NOWHERE;
    memcpy(changed(k) + at, &word, sizeof(word));
}

static CUresult bind(struct sim_op *op)
{
    struct kernel_op *k = (struct kernel_op *)op;
    size_t offsets[PARAMS_MAX];
    if (sim_function_find(k->function, k->ctx) == NULL)
        return CUDA_ERROR_INVALID_HANDLE; /* its module is gone */
    const struct simgpu_kernel *kernel = k->function->kernel;
    k->nuses = 0;
    memcpy(changed(k), passed(k), k->nbytes);
    sim_launch_offsets(kernel, offsets);
    for (unsigned i = 0; i < kernel->nparams; i++) {
        const struct simgpu_param *p = &kernel->params[i];
        if (p->align % 8 != 0)
            continue;
        for (size_t at = 0; at + 8 <= p->size; at += 8)
            bind_word(k, offsets[i] + at, p->pointer != 0);
    }
    return CUDA_SUCCESS;
}

/* A second mapping of the bytes of a use, between guards; where its first byte
 * is, NULL when it cannot be made. Bytes that cannot be mapped twice, such as a
 * variable of the module, are used where they are. */
struct view {
    char *map;
    size_t size;
    char *mem;
};

static bool view_make(const struct use *u, struct view *v)
{
    v->mem = u->mem;
    if (u->in_place)
        return true;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)u->mem & ~(page - 1);
    uintptr_t to = ((uintptr_t)u->mem + u->size + page - 1) & ~(page - 1);
    v->size = to - from + 2 * GUARD;
    v->map = mmap(NULL, v->size, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (v->map == MAP_FAILED)
        return false;
    /* An old size of 0 copies a shared mapping and keeps the first. */
    void *map = mremap((void *)from, 0, to - from,
                       MREMAP_MAYMOVE | MREMAP_FIXED, v->map + GUARD);
    if (map == MAP_FAILED)
        return true;
    if (u->read_only)
        mprotect(map, to - from, PROT_READ);
    v->mem = (char *)map + ((uintptr_t)u->mem - from);
    return true;
}

/* Makes the views and changes the arguments; the number of views. */
static size_t views_make(struct kernel_op *k, struct view *views)
{
    size_t n = 0;
    for (size_t i = 0; i < k->nuses; i++) {
        const struct use *u = &uses(k)[i];
        const struct view *v = NULL;
        for (size_t j = 0; j < i && v == NULL; j++)
            if (uses(k)[j].base == u->base)
                v = &views[j];
        if (v != NULL)
            views[i] = (struct view){.mem = v->mem};
        else if (!view_make(u, &views[i]))
            return n;
        n++;
        uint64_t word = (uintptr_t)views[i].mem + (u->addr - u->base);
        memcpy(changed(k) + u->at, &word, sizeof(word));
    }
    return n;
}

static void views_free(struct view *views, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (views[i].map != NULL)
            munmap(views[i].map, views[i].size);
    free(views);
}

/* The program's address for one that a kernel used, near a view. */
static uintptr_t untranslate(struct kernel_op *k, const struct view *views,
                             uintptr_t addr)
{
    for (size_t i = 0; i < k->nuses; i++) {
        const struct view *v = &views[i];
        if (v->map != NULL && addr - (uintptr_t)v->map < v->size)
            return addr - (uintptr_t)v->mem + uses(k)[i].base;
    }
    return addr;
}

static CUresult say_fault(struct kernel_op *k, const struct view *views,
                          const struct sim_grid_end *end)
{
    const char *name = k->function->kernel->name;
    sim_count(&sim_counters->kernel_faults, 1);
    if (end->signal == SIGSEGV || end->signal == SIGBUS) {
        fprintf(stderr, "simgpu: kernel %s used an illegal address: 0x%llx%s\n",
                name, (unsigned long long)untranslate(k, views, end->addr),
                end->addr == 0 ? ", or one of pageable host memory" : "");
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    fprintf(stderr, "simgpu: kernel %s was ended by signal %d\n", name,
            end->signal);
    return CUDA_ERROR_LAUNCH_FAILED;
}

static void run_with(struct kernel_op *k, struct view *views)
{
    size_t offsets[PARAMS_MAX];
    void *args[PARAMS_MAX];
    struct sim_grid_end end;
    const struct simgpu_kernel *kernel = k->function->kernel;
    sim_launch_offsets(kernel, offsets);
    for (unsigned i = 0; i < kernel->nparams; i++)
        args[i] = changed(k) + offsets[i];
    sim_grid_run(&(struct sim_grid){.kernel = kernel,
                                    .twin = k->function->twin,
                                    .args = args,
                                    .grid = k->grid,
                                    .block = k->block,
                                    .shared_size = k->shared},
                 &end);
    if (!end.done)
        k->op.fault = say_fault(k, views, &end);
}

static void run(struct sim_op *op)
{
    struct kernel_op *k = (struct kernel_op *)op;
    struct view *views = calloc(k->nuses + 1, sizeof(views[0]));
    for (size_t i = 0; i < k->nuses && op->fault == CUDA_SUCCESS; i++)
        if (!sim_life_check(uses(k)[i].life))
            op->fault = CUDA_ERROR_ILLEGAL_ADDRESS;
    size_t n = 0;
    if (op->fault == CUDA_SUCCESS && views != NULL)
        n = views_make(k, views);
    if (op->fault == CUDA_SUCCESS && (views == NULL || n < k->nuses))
        op->fault = CUDA_ERROR_LAUNCH_FAILED;
    if (op->fault == CUDA_SUCCESS)
        run_with(k, views);
    views_free(views, n);
}

static void done(struct sim_op *op)
{
    free(op);
}

static bool fits(struct simgpu_dim3 d, unsigned x, unsigned y, unsigned z)
{
    return d.x > 0 && d.y > 0 && d.z > 0 && d.x <= x && d.y <= y && d.z <= z;
}

static CUresult check(const struct sim_launch *l, CUfunction f)
{
    uint64_t threads = (uint64_t)l->block.x * l->block.y * l->block.z;
    if (!fits(l->grid, 2147483647, 65535, 65535) ||
        !fits(l->block, 1024, 1024, 64) || threads > 1024 ||
        l->shared > (size_t)f->max_dynamic)
        return CUDA_ERROR_INVALID_VALUE;
    if (f->kernel->nparams > PARAMS_MAX ||
        (f->kernel->nparams > 0 && l->params == NULL && l->args == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static void copy_args(const struct sim_launch *l, const struct simgpu_kernel *k,
                      const size_t *offsets, char *to)
{
    if (l->params == NULL) {
        memcpy(to, l->args, l->nbytes);
        return;
    }
    for (unsigned i = 0; i < k->nparams; i++)
        memcpy(to + offsets[i], l->params[i], k->params[i].size);
}

CUresult sim_launch(const struct sim_launch *l, CUstream s)
{
    size_t offsets[PARAMS_MAX];
    uint64_t seq;
    CUfunction f = sim_function_find(l->function, s->ctx);
    if (f == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult rc = check(l, f);
    if (rc != CUDA_SUCCESS)
        return rc;
    size_t nbytes = sim_launch_offsets(f->kernel, offsets);
    if (nbytes > PARAM_BYTES_MAX || (l->params == NULL && l->nbytes < nbytes))
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_launch exact = *l;
    exact.nbytes = nbytes;
    size_t size = op_size(nbytes);
    struct kernel_op *k = calloc(1, size);
    if (k == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    k->op = (struct sim_op){.run = run,
                            .done = done,
                            .bind = bind,
                            .size = size,
                            .work = SIM_DELAY_KERNEL,
                            .delayed = true};
    k->function = f;
    k->ctx = s->ctx;
    k->grid = l->grid;
    k->block = l->block;
    k->shared = l->shared;
    k->nbytes = nbytes;
    copy_args(&exact, f->kernel, offsets, passed(k));
    rc = bind(&k->op);
    if (rc == CUDA_SUCCESS)
        rc = sim_stream_submit(s, &k->op, NULL, &seq);
    if (rc == CUDA_SUCCESS)
        sim_count(&sim_counters->kernels, 1);
    else
        free(k);
    return rc;
}
