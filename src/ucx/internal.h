/* SPDX-License-Identifier: BSD-3-Clause */
/* internal.h - what the files of this folder share. */
#ifndef CX_UCX_INTERNAL_H
#define CX_UCX_INTERNAL_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "ucx/ucx.h"

#include <ucp/api/ucp.h>

/* One transfer that UCX has not finished. It stands between UCX and the
 * caller's request, so that the caller can walk away (`req` = NULL) while UCX
 * still holds it. */
struct op {
    struct op *prev, *next; /* in the live list, or `next` in a chain */
    struct cx_wire *wire;   /* borrowed: the wire owns its ops */
    enum { OP_SEND, OP_RECV, OP_FLUSH } kind;
    struct cx_peer *peer; /* NULL for receives */
    struct cx_req *req;   /* borrowed; NULL: nobody waits any more */
    void *ucx;            /* UCX's request; NULL while it is being posted */
    size_t nbytes;
    int ended; /* the callback came before the posting call returned */
};

/* A process that can be sent to. Lives until the wire is destroyed. */
struct cx_peer {
    struct cx_peer *chain; /* next in its hash bucket */
    struct cx_wire *wire;
    uint64_t uid;
    long refs;        /* references */
    ucp_ep_h ep;      /* NULL until the first use */
    void *closing;    /* UCX's close request, while the wire ends */
    void *address;    /* UCX address, owned; freed when `ep` opens */
    int detects;      /* endpoint opened with error detection */
    ucs_status_t bad; /* UCS_OK, or why the endpoint is unusable */
    int reported;     /* `bad` has been logged */
    char name[48];    /* "host:pid" for messages */
};

struct op_chunk;

/* What ucp_context_print_info says about a context. */
struct resources {
    char list[1024];    /* "posix, cma, tcp/eth0" */
    char devices[1024]; /* network devices: "eth0, lo" */
    int shm;            /* messages through shared memory possible */
    int rdma;           /* a network transport other than TCP */
};

struct cx_wire {
    ucp_context_h context;
    ucp_worker_h worker;
    struct resources res;

    uint64_t uid, host; /* of this process (random), of this machine */
    void *address;      /* owned: header and UCX address */
    size_t address_nbytes;

    struct cx_peer **bucket; /* owned; nbuckets is a power of two */
    size_t nbuckets, npeers;

    struct op *live, *free;
    struct op_chunk *chunks; /* owned */

    struct cx_wire_counters count;
};

/* context.c */
CX_MUST enum cx_status cx_ucx_context_open(const char *net_devices,
                                           struct cx_wire *wire);

/* resources.c */
CX_MUST enum cx_status cx_ucx_resources(ucp_context_h context,
                                        struct resources *out);
/* Is the comma- or comma-space-separated word of `n` bytes in `list`? */
int cx_ucx_listed(const char *list, const char *word, size_t n);

/* peer.c */
CX_MUST enum cx_status cx_ucx_address_make(struct cx_wire *wire);
CX_MUST enum cx_status cx_ucx_peer_get(struct cx_wire *wire, const void *addr,
                                       size_t nbytes, struct cx_peer **peer);
void cx_ucx_peer_put(struct cx_wire *wire, struct cx_peer *peer);
/* CX_OK with an open endpoint, or an error that has been logged. */
CX_MUST enum cx_status cx_ucx_peer_ready(struct cx_peer *peer);
/* Marks it unusable; ends its transfers without waiting for the process. */
void cx_ucx_peer_break(struct cx_peer *peer, ucs_status_t why);
/* Logs, once, that the peer cannot be reached. */
void cx_ucx_peer_report(struct cx_peer *peer, ucs_status_t why);
/* Closes all endpoints, in at most about `limit_us`. */
void cx_ucx_peers_close(struct cx_wire *wire, double limit_us);
/* After the worker is gone, whose last callbacks name peers. */
void cx_ucx_peers_free(struct cx_wire *wire);

/* transfer.c: base/wire.h says what they do */
void cx_ucx_send(struct cx_wire *wire, struct cx_peer *peer, uint64_t tag,
                 const void *buf, size_t nbytes, struct cx_req *req);
void cx_ucx_recv(struct cx_wire *wire, uint64_t tag, uint64_t mask, void *buf,
                 size_t nbytes, struct cx_req *req);
void cx_ucx_flush(struct cx_wire *wire, struct cx_peer *peer,
                  struct cx_req *req);
int cx_ucx_probe(struct cx_wire *wire, uint64_t tag, uint64_t mask,
                 uint64_t *found);
unsigned cx_ucx_discard(struct cx_wire *wire, uint64_t tag, uint64_t mask);
int cx_ucx_cancel(struct cx_wire *wire, struct cx_req *req);
unsigned cx_ucx_progress(struct cx_wire *wire);
/* Before the wire ends: lets go of all callers' requests. */
void cx_ucx_ops_forget(struct cx_wire *wire);
/* Before the wire ends: drops messages that nobody received. */
void cx_ucx_drain(struct cx_wire *wire);
/* After the worker is gone. */
void cx_ucx_ops_free(struct cx_wire *wire);

#endif
