/* SPDX-License-Identifier: BSD-3-Clause */
/* quick.c - small collectives on host buffers in a job that uses GPUs: most of
 * the calls of most programs, and none of our business.
 *
 * That a call of these facts is left to MPI is remembered in the state of its
 * communicator; the facts are equal on all ranks, or lead to the same decision
 * on all (a broadcast of as many bytes by another type). Where the buffers lie
 * is found out at every call: only when all are on the host does it pass here;
 * else it goes the long way, which decides again. */
#include "pmpi/front.h"

static struct cx_quick *slot_of(struct cx_comm *c, const struct cx_quick *call)
{
    uint64_t mix = (uint64_t)call->count * 0x9e3779b97f4a7c15ull;
    unsigned i = (unsigned)(mix >> 32) + (unsigned)call->type + call->func;

    return &c->quick[i % CX_NQUICK];
}

static int matches(const struct cx_quick *slot, const struct cx_quick *call)
{
    return slot->recv_bytes > 0 && slot->count == call->count &&
           slot->func == call->func && slot->type == call->type &&
           slot->op == call->op;
}

static int is_host(const void *addr, size_t nbytes)
{
    return cx_is_host((uintptr_t)addr, nbytes);
}

int cx_quick_pass(MPI_Comm comm, const struct cx_quick *call, const void *send,
                  const void *recv)
{
    struct cx_comm *c = cx_comm_recent(comm);
    const struct cx_quick *slot;

    if (c == NULL || atomic_load_explicit(&cx_behind, memory_order_relaxed))
        return 0;
    slot = slot_of(c, call);
    if (!matches(slot, call) || !is_host(recv, slot->recv_bytes))
        return 0;
    return slot->send_bytes == 0 || send == MPI_IN_PLACE ||
           is_host(send, slot->send_bytes);
}

/* Not asleep, where calls are counted, nor with statistics, where they are
 * recorded. */
void cx_quick_learn(const struct cx_entry *entry, const struct cx_quick *call,
                    size_t send_bytes, size_t recv_bytes)
{
    struct cx_comm *c = entry->c;
    struct cx_quick *slot = slot_of(c, call);

    if (c->state == CX_COMM_ASLEEP || entry->start_us > 0 ||
        !cx_front_libcuda())
        return;
    *slot = *call;
    slot->send_bytes = send_bytes;
    slot->recv_bytes = recv_bytes;
}
