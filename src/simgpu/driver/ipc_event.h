/* SPDX-License-Identifier: BSD-3-Clause */
/* ipc_event.h - events that several processes record and wait for.
 *
 * What is recorded is counted in a page that the processes share: an event is
 * reached when as many records have ended as have begun. All functions want
 * the lock unless they say otherwise. */
#ifndef SIM_IPC_EVENT_H
#define SIM_IPC_EVENT_H

#include "stream.h"

struct sim_shared_event {
    uint64_t id;      /* 0: free */
    uint64_t begun;   /* records */
    uint64_t ended;   /* the last that has been reached */
    int64_t recorder; /* process of the last record */
};

/* The side that an event with CU_EVENT_INTERPROCESS needs. */
CUresult sim_ipc_event_create(CUevent e);
/* Undoes it, or the opening. */
void sim_ipc_event_destroy(CUevent e);
/* CUDA_ERROR_INVALID_HANDLE when the exporter has destroyed it. */
CUresult sim_ipc_event_check(CUevent e);
CUresult sim_ipc_event_record(CUevent e, CUstream s);
bool sim_ipc_event_reached(CUevent e);
/* Releases the lock meanwhile. */
void sim_ipc_event_sync(CUevent e);
/* s waits for what is recorded now. */
CUresult sim_ipc_event_wait(CUevent e, CUstream s);

#endif
