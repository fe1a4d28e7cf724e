/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.h - memory pools: allocation and freeing in stream order.
 *
 * An allocation has an address at once and lives from the point of its stream
 * where it was made to the point of a stream where it is freed. Work that runs
 * before or after fails (life.c). Freed memory stays with the pool, for the
 * next allocation of that size that may have it: of the same stream, or once
 * the free has been reached. All functions want sim_lock held. */
#ifndef SIM_POOL_H
#define SIM_POOL_H

#include "memory.h"
#include "stream.h"

/* Freed memory that the pool holds. */
struct sim_held {
    struct sim_held *next;
    struct sim_place place;
    CUstream stream; /* shared, counted; NULL: the free has been reached */
    uint64_t seq;
};

/* A pool. Never freed, so that a stale handle is recognised as such. */
struct CUmemPoolHandle_st {
    struct CUmemPoolHandle_st *next;
    struct sim_device *dev;
    CUmemPoolProps props;
    bool destroyed;
    unsigned char access[SIM_MAX_DEVICES]; /* CUmemAccess_flags, by ordinal */
    int reuse[3];       /* the three REUSE attributes, in their order */
    uint64_t threshold; /* bytes held that a synchronisation leaves */
    uint64_t reserved, reserved_high;
    uint64_t used, used_high;
    struct sim_held *held; /* owned; newest first */
};

/* NULL unless the handle is of a pool that exists. */
CUmemoryPool sim_pool_check(CUmemoryPool handle);
/* Made at the first call; NULL: out of memory. */
CUmemoryPool sim_pool_default(struct sim_device *dev);
CUmemoryPool sim_pool_current(struct sim_device *dev);
CUresult sim_pool_create(struct sim_device *dev, const CUmemPoolProps *props,
                         CUmemoryPool *out);
void sim_pool_destroy(CUmemoryPool pool);

CUresult sim_pool_alloc(CUmemoryPool pool, size_t size, CUstream s,
                        CUdeviceptr *out);
/* In stream order; at once for s NULL. The row of the registry goes now. */
CUresult sim_pool_free(struct sim_alloc *a, CUstream s);
/* Gives held memory back to the device until keep bytes are left, or only
 * what is not free yet. */
void sim_pool_trim(CUmemoryPool pool, uint64_t keep);

#endif
