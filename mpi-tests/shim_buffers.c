/* SPDX-License-Identifier: BSD-3-Clause */
/* shim_buffers.c - test preload that looks at the buffers which reach MPI.
 *
 * It stands behind libcoax.so in LD_PRELOAD, knows nothing of MPI but the
 * positions of arguments, and asks the driver about each buffer. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "shim_buffers.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void mt_shim_buffers_counts(struct mt_buffer_counts *out);

static _Atomic uint64_t calls, devices;

typedef uintptr_t reg;
typedef int (*real_fn)(reg, reg, reg, reg, reg, reg, reg, reg, reg, reg, reg,
                       reg, reg);

static int on_device(reg pointer)
{
    static int (*get)(void *, int, unsigned long long);
    unsigned type = 0;
    void *lib;

    if (!get && (lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD)))
        *(void **)&get = dlsym(lib, "cuPointerGetAttribute");
    /* 2: CU_POINTER_ATTRIBUTE_MEMORY_TYPE and CU_MEMORYTYPE_DEVICE */
    return get && pointer && !get(&type, 2, pointer) && type == 2;
}

static real_fn look(const char *name, reg first, reg second)
{
    real_fn next;

    atomic_fetch_add(&calls, 1);
    atomic_fetch_add(&devices,
                     (uint64_t)(on_device(first) + on_device(second)));
    *(void **)&next = dlsym(RTLD_NEXT, name);
    return next;
}

/* The first buffer is argument 0; the second one number `second`. */
#define LOOK(name, second)                                                     \
    EXPORT int name(reg a0, reg a1, reg a2, reg a3, reg a4, reg a5, reg a6,    \
                    reg a7, reg a8, reg a9, reg a10, reg a11, reg a12);        \
    int name(reg a0, reg a1, reg a2, reg a3, reg a4, reg a5, reg a6, reg a7,   \
             reg a8, reg a9, reg a10, reg a11, reg a12)                        \
    {                                                                          \
        return look(#name, a0, second)(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, \
                                       a10, a11, a12);                         \
    }
#define LOOK2(name, second)                                                    \
    LOOK(PMPI_##name, second)                                                  \
    LOOK(PMPI_##name##_c, second)

LOOK2(Reduce, a1)
LOOK2(Reduce_scatter, a1)
LOOK2(Reduce_scatter_block, a1)
LOOK2(Scan, a1)
LOOK2(Exscan, a1)
LOOK2(Reduce_local, a1)
LOOK2(Gather, a3)
LOOK2(Gatherv, a3)
LOOK2(Scatter, a3)
LOOK2(Scatterv, a4)
LOOK2(Allgatherv, a3)
LOOK2(Alltoall, a3)
LOOK2(Alltoallv, a4)
LOOK2(Alltoallw, a4)
LOOK2(Neighbor_allgather, a3)
LOOK2(Neighbor_allgatherv, a3)
LOOK2(Neighbor_alltoall, a3)
LOOK2(Neighbor_alltoallv, a4)
LOOK2(Neighbor_alltoallw, a4)

void mt_shim_buffers_counts(struct mt_buffer_counts *out)
{
    out->calls = atomic_load(&calls);
    out->devices = atomic_load(&devices);
}
