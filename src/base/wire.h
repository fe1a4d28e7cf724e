/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.h - contract of a network wire: tagged messages between processes.
 *
 * Implemented by src/ucx (UCP) and, for tests with ranks as threads, by
 * tests/unit (in process). src/coll and src/engine see only this table.
 *
 * Matching: a message matches the first posted receive with
 * (tag & mask) == (want & mask); messages of one sender with equal masked tags
 * match in the order sent. The sender is not part of the match: put it in the
 * tag. Posting never blocks. All calls of one wire come from one thread at a
 * time. */
#ifndef CX_WIRE_H
#define CX_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/req.h"
#include "base/status.h"

struct cx_wire; /* implementation's state, one per process and rail */
struct cx_peer; /* a process that can be sent to; belongs to the wire */

struct cx_wire_counters {
    uint64_t sends, send_bytes, recvs, flushes;
};

struct cx_wire_ops {
    const char *name;

    /* What another process needs to send to this one. Borrowed until the wire
     * is destroyed. */
    const void *(*address)(struct cx_wire *wire, size_t *nbytes);

    /* Counted reference to the process whose address this is; the same process
     * gives the same peer. `*peer` is written on success only. */
    CX_MUST enum cx_status (*peer_get)(struct cx_wire *wire, const void *addr,
                                       size_t nbytes, struct cx_peer **peer);
    void (*peer_put)(struct cx_wire *wire, struct cx_peer *peer);

    /* Makes ready to send to the peer, so that what fails here fails before a
     * call begins; `send` does it otherwise. Waits for nobody. */
    CX_MUST enum cx_status (*connect)(struct cx_wire *wire,
                                      struct cx_peer *peer);

    /* Start a transfer. On return `req->status` is CX_INPROGRESS, CX_OK or an
     * error. A receive that is too small ends in CX_ERR_MISMATCH. */
    void (*send)(struct cx_wire *wire, struct cx_peer *peer, uint64_t tag,
                 const void *buf, size_t nbytes, struct cx_req *req);
    void (*recv)(struct cx_wire *wire, uint64_t tag, uint64_t mask, void *buf,
                 size_t nbytes, struct cx_req *req);

    /* Ends when every message to `peer` whose send has ended will arrive
     * without any further progress on this side (design rule 6). Does not wait
     * for sends in progress: another thread's may need its receiver, and that
     * one may itself wait for a flush. */
    void (*flush)(struct cx_wire *wire, struct cx_peer *peer,
                  struct cx_req *req);

    /* Give up a transfer: on return `req` is no longer referenced. Returns
     * whether that holds for its buffer too; if not, the wire may use it until
     * it is destroyed. */
    int (*cancel)(struct cx_wire *wire, struct cx_req *req);

    /* Has a message come that no receive has taken and whose masked tag is
     * this one? 1, with its tag in `*found`; it stays where it is. */
    int (*probe)(struct cx_wire *wire, uint64_t tag, uint64_t mask,
                 uint64_t *found);

    /* Takes such messages, all that have come, and drops them: who sends one
     * without a buffer between (a rendezvous) is done with it. Returns how
     * many. */
    unsigned (*discard)(struct cx_wire *wire, uint64_t tag, uint64_t mask);

    /* One quantum; returns the number of events handled (0: idle). */
    unsigned (*progress)(struct cx_wire *wire);

    void (*counters)(struct cx_wire *wire, struct cx_wire_counters *out);
};

#endif
