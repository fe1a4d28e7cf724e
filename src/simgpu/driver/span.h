/* SPDX-License-Identifier: BSD-3-Clause */
/* span.h - a range of addresses that an operation of a device will use: where
 * its bytes are, and whether the device may. */
#ifndef SIM_SPAN_H
#define SIM_SPAN_H

#include "memory.h"

/* Which side of the bus an address must be on. Managed and pinned memory is
 * on both. */
enum sim_side { SIM_ANY_SIDE, SIM_HOST_SIDE, SIM_DEVICE_SIDE };

/* What is to be found, and for whom. */
struct sim_want {
    uintptr_t addr;
    size_t size;
    enum sim_side side;
    CUcontext by; /* for which its device reads or writes */
    bool write;
};

struct sim_span {
    char *mem;
    bool host; /* plain, pinned or registered */
    bool pageable;
    bool managed;
    bool sync_memops;
    bool foreign; /* the device does not reach it: a copy has to be staged */
    int device;   /* that it belongs to, -1: host */
    struct sim_life life;
};

/* CUDA_ERROR_INVALID_VALUE for what is no memory, is not on this side, or may
 * not be used by this device. A range that begins in one allocation and ends
 * outside of it is refused (a GPU may let it through, to the neighbour), but
 * it may cross from one mapping of a reserved range to the next. */
CUresult sim_span_find(const struct sim_want *want, struct sim_span *out);

#endif
