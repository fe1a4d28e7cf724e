/* SPDX-License-Identifier: BSD-3-Clause */
/* vmm.h - what the tests of virtual memory share. */
#ifndef SIMGPU_VMM_H
#define SIMGPU_VMM_H

#include "t.h"

#define CHUNK ((size_t)2 << 20)

/* Memory of a device, CHUNK bytes, that can be shared by a descriptor. */
static inline CUmemGenericAllocationHandle t_block(int device)
{
    CUmemGenericAllocationHandle h;
    CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    size_t least;
    OK(cuMemGetAllocationGranularity(&least, &prop,
                                     CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CHECK(CHUNK % least == 0);
    OK(cuMemCreate(&h, CHUNK, &prop, 0));
    return h;
}

static inline CUresult t_access(CUdeviceptr d, size_t size, int device,
                                CUmemAccess_flags flags)
{
    CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_DEVICE, device}, flags};
    return cuMemSetAccess(d, size, &desc, 1);
}

/* A reserved range of n chunks. */
static inline CUdeviceptr t_reserve(int n)
{
    CUdeviceptr d;
    OK(cuMemAddressReserve(&d, (size_t)n * CHUNK, 0, 0, 0));
    CHECK(d % CHUNK == 0);
    return d;
}

#endif
