/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.c - must this process look at the buffers of calls that the engine
 * does not serve? Only where MPI cannot take GPU memory and the program may
 * have some: on a node with a GPU, once the driver is loaded.
 *
 * Without a GPU the wrappers pay one load and a branch. With one, but before
 * the driver is loaded, whether it has been loaded is asked at most every tenth
 * of a millisecond: less than it takes to load it and to get memory, so nothing
 * slips through. */
#include "pmpi/sparse.h"

#include <dlfcn.h>
#include <stdlib.h>

_Atomic int cx_watch = CX_WATCH_NEW;

/* MPIs of the ABI that take GPU memory but have no function that says so. */
static int switched_on(void)
{
    static const char *const names[] = {"MPICH_GPU_SUPPORT_ENABLED",
                                        "MV2_USE_CUDA", "MVP_USE_CUDA",
                                        "I_MPI_OFFLOAD"};
    const char *value;
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        value = getenv(names[i]);
        if (value != NULL && atoi(value) > 0)
            return 1;
    }
    return 0;
}

/* MPICH answers the one by calling the other, by its exported name. */
_Thread_local int cx_asking_mpi __attribute__((tls_model("initial-exec")));

static int takes_device(void)
{
    int yes = 0;

    if (cx_mpi.gpu_aware == NULL && cx_mpi.gpu_query == NULL)
        return switched_on();
    cx_asking_mpi = 1;
    if (cx_mpi.gpu_aware != NULL)
        yes = cx_mpi.gpu_aware() == 1;
    else if (cx_mpi.gpu_query(CX_GPU_CUDA, &yes) != MPI_SUCCESS)
        yes = 0;
    cx_asking_mpi = 0;
    return yes;
}

int cx_mpi_takes_device(void)
{
    static _Atomic int answer = -1; /* does not change while MPI runs */

    if (atomic_load_explicit(&answer, memory_order_relaxed) < 0)
        atomic_store(&answer, takes_device());
    return atomic_load_explicit(&answer, memory_order_relaxed);
}

void cx_watch_begin(void)
{
    atomic_store(&cx_watch, cx_front.node_has_gpu && !cx_mpi_takes_device()
                                ? CX_WATCH_ON
                                : CX_WATCH_OFF);
}

void cx_watch_end(void)
{
    atomic_store(&cx_watch, CX_WATCH_OFF);
}

_Atomic uint64_t cx_watch_looked;

static int driver_loaded(void)
{
    int loaded = cx_front_libcuda(), on = CX_WATCH_ON;

    if (loaded) /* unless it has come to its end meanwhile */
        atomic_compare_exchange_strong(&cx_watch, &on, CX_WATCH_LOADED);
    atomic_store_explicit(&cx_watch_looked, loaded ? 0 : cx_watch_ticks(),
                          memory_order_relaxed);
    return loaded;
}

int cx_watching(void)
{
    int watch;

    if (cx_front_begin()) {
        watch = atomic_load_explicit(&cx_watch, memory_order_relaxed);
        return watch == CX_WATCH_LOADED ||
               (watch == CX_WATCH_ON && driver_loaded());
    }
    if (cx_resolve() == CX_FRONT_INERT)
        cx_watch_end();
    return 0;
}

/* --- what memory an address is --------------------------------------------
 *
 * A question of its own to the driver that the program has loaded: the engine
 * is not loaded for a program that only sends messages. */

enum { TYPE = 2, IS_MANAGED = 8, DEVICE_ORDINAL = 9, TYPE_DEVICE = 2 };
enum { INVALID_VALUE = 1, NOT_INITIALIZED = 3, DEINITIALIZED = 4 };

typedef int (*get_attributes_fn)(unsigned n, int *attributes, void **data,
                                 unsigned long long pointer);

static get_attributes_fn find_query(void)
{
    static _Atomic get_attributes_fn found;
    union {
        void *object; /* what dlsym returns; ISO C has no such conversion */
        get_attributes_fn function;
    } symbol;
    void *library;

    symbol.function = atomic_load_explicit(&found, memory_order_relaxed);
    if (symbol.function != NULL)
        return symbol.function;
    library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return NULL;
    symbol.object = dlsym(library, "cuPointerGetAttributes");
    atomic_store(&found, symbol.function);
    return symbol.function;
}

/* Some drivers fail for memory of a device that is not the current one: the
 * engine knows more ways to ask. */
static enum cx_mem_kind ask_engine(uintptr_t addr, int *device)
{
    struct cx_mem mem;

    if (cx_buffer_mem_query((const void *)addr, 1, &mem) != CX_OK)
        return CX_MEM_HOST;
    *device = mem.device;
    return mem.kind;
}

enum cx_mem_kind cx_pointer_kind(uintptr_t addr, int *device)
{
    int attributes[] = {TYPE, IS_MANAGED, DEVICE_ORDINAL}, rc;
    unsigned type = 0, managed = 0;
    void *data[] = {&type, &managed, device};
    get_attributes_fn query = find_query();

    *device = -1;
    if (query == NULL || addr == 0 || cx_range_is_host((const void *)addr, 1))
        return CX_MEM_HOST;
    rc = query(3, attributes, data, addr);
    if (rc == INVALID_VALUE || rc == NOT_INITIALIZED || rc == DEINITIALIZED)
        return CX_MEM_HOST;
    if (rc != 0)
        return ask_engine(addr, device);
    if (managed != 0)
        return CX_MEM_MANAGED;
    return type == TYPE_DEVICE ? CX_MEM_DEVICE : CX_MEM_HOST;
}

/* What the driver says of host memory, registered or not. The type alone tells
 * what CUDA has never seen, as the most is. */
static inline int says_host(get_attributes_fn query, uintptr_t addr)
{
    static const int attributes[] = {TYPE, IS_MANAGED};
    unsigned type = 0, managed = 0;
    void *data[] = {&type, &managed};
    int *which = (int *)(uintptr_t)attributes; /* only read */

    if (query(1, which, data, addr) != 0 || type == TYPE_DEVICE)
        return 0;
    return type == 0 || (query(2, which, data, addr) == 0 && managed == 0);
}

int cx_driver_says_host(uintptr_t addr, size_t nbytes)
{
    enum { BLOCK = 64 << 10 }; /* CUDA gets address space in such, at least */
    uintptr_t last = addr + nbytes - 1;
    get_attributes_fn query = find_query();

    return query != NULL && says_host(query, addr) &&
           (addr / BLOCK == last / BLOCK || says_host(query, last));
}

/* The ends of one element; one of wide extent is followed in between. */
enum cx_mem_kind cx_pointer_kind_of(uintptr_t addr, MPI_Datatype type,
                                    int *device)
{
    enum { WIDE = 64 << 10 }; /* no GPU memory fits between closer host bytes */
    struct cx_buffer one = {.addr = (void *)addr, .count = 1, .type = type};
    MPI_Count lb = 0, extent = 0;
    enum cx_mem_kind kind;
    int mixed;

    if (cx_type_basic(type) || type == MPI_DATATYPE_NULL ||
        cx_mpi.Type_get_true_extent_x(type, &lb, &extent) != MPI_SUCCESS ||
        extent == 0)
        return cx_pointer_kind(addr, device);
    kind = cx_pointer_kind(addr + (uintptr_t)lb, device);
    if (kind == CX_MEM_HOST)
        kind = cx_pointer_kind(addr + (uintptr_t)(lb + extent - 1), device);
    if (kind != CX_MEM_HOST || extent < WIDE)
        return kind;
    return cx_pieces_mixed(&one, &mixed) == CX_OK && mixed ? CX_MEM_MIXED
                                                           : CX_MEM_HOST;
}
