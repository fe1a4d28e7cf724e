/* SPDX-License-Identifier: BSD-3-Clause */
/* memwire.c - the in-process wire of the tests.
 *
 * A message goes from its sender's outbox to the receiver's inbox, is matched
 * with a posted receive, and completes there; each step takes a random number
 * of progress calls of the side that must make it. One lock for all. */
#include "memwire.h"

#include <pthread.h>
#include <string.h>

#include "unit.h"

/* Above the signature: messages that agree in this keep their order. */
#define ORDER_SHIFT 14

struct message {
    struct message *next;
    struct cx_peer *via;
    uint64_t tag;
    const char *data;
    char *copy; /* owned: a buffered message's data */
    size_t nbytes;
    struct cx_req *send; /* unbuffered: the sender's, still in progress */
    struct cx_req *recv; /* once matched */
    char *to;
    size_t room;
    int delay;
};

struct posted {
    struct posted *next;
    uint64_t tag, mask;
    char *buf;
    size_t nbytes;
    struct cx_req *req;
};

struct ack {
    struct ack *next;
    struct cx_req *req;
    enum cx_status status;
    struct cx_peer *via;
    int flush;
};

struct cx_peer {
    struct cx_wire *from, *to;
    long inside;    /* buffered messages that still need the sender */
    long unflushed; /* messages since the last flush */
};

struct cx_wire {
    struct memnet *net;
    int rank;
    struct cx_peer *peers; /* by rank */
    struct message *outbox, *inbox, *matched;
    struct posted *posted;
    struct ack *acks; /* requests of this wire to complete */
    enum cx_status fail_next;
    int keeps_buffers;
    struct cx_wire_counters counters;
};

struct memnet {
    pthread_mutex_t lock;
    struct memnet_params params;
    struct rng rng;
    int nranks;
    struct cx_wire *wires;
};

static void lock(struct cx_wire *wire)
{
    pthread_mutex_lock(&wire->net->lock);
}

static void unlock(struct cx_wire *wire)
{
    pthread_mutex_unlock(&wire->net->lock);
}

static int random_delay(struct memnet *net)
{
    return (int)rng_below(&net->rng, (uint32_t)net->params.max_delay + 1);
}

static void add_message(struct message **list, struct message *msg)
{
    while (*list)
        list = &(*list)->next;
    msg->next = NULL;
    *list = msg;
}

static void add_ack(struct cx_wire *wire, struct cx_req *req,
                    enum cx_status status, struct cx_peer *via, int flush)
{
    struct ack *ack = must_alloc(sizeof(*ack));

    ack->req = req;
    ack->status = status;
    ack->via = via;
    ack->flush = flush;
    ack->next = wire->acks;
    wire->acks = ack;
}

static const void *wire_address(struct cx_wire *wire, size_t *nbytes)
{
    *nbytes = sizeof(wire->rank);
    return &wire->rank;
}

static enum cx_status peer_get(struct cx_wire *wire, const void *addr,
                               size_t nbytes, struct cx_peer **peer)
{
    int rank;

    if (nbytes != sizeof(rank))
        return CX_ERR_ARG;
    memcpy(&rank, addr, sizeof(rank));
    *peer = &wire->peers[rank];
    return CX_OK;
}

static void peer_put(struct cx_wire *wire, struct cx_peer *peer)
{
    (void)wire;
    (void)peer;
}

static enum cx_status wire_connect(struct cx_wire *wire, struct cx_peer *peer)
{
    (void)wire;
    (void)peer;
    return CX_OK;
}

static int fails(struct cx_wire *wire, struct cx_req *req)
{
    if (wire->fail_next == CX_OK)
        return 0;
    req->status = wire->fail_next;
    wire->fail_next = CX_OK;
    return 1;
}

static void wire_send(struct cx_wire *wire, struct cx_peer *peer, uint64_t tag,
                      const void *buf, size_t nbytes, struct cx_req *req)
{
    struct memnet *net = wire->net;
    struct message *msg;

    lock(wire);
    CHECK(peer->from == wire, "rank %d", wire->rank);
    if (fails(wire, req)) {
        unlock(wire);
        return;
    }
    msg = must_alloc(sizeof(*msg));
    msg->via = peer;
    msg->tag = tag;
    msg->data = buf;
    msg->nbytes = nbytes;
    msg->delay = random_delay(net);
    if (nbytes <= net->params.eager_limit) {
        msg->copy = must_alloc(nbytes);
        memcpy(msg->copy, buf, nbytes);
        msg->data = msg->copy;
        req->status = CX_OK;
        peer->inside++;
    } else {
        msg->send = req;
        req->status = CX_INPROGRESS;
    }
    peer->unflushed++;
    wire->counters.sends++;
    wire->counters.send_bytes += nbytes;
    add_message(&wire->outbox, msg);
    unlock(wire);
}

static void match(struct cx_wire *wire, struct message *msg,
                  const struct posted *want)
{
    msg->recv = want->req;
    msg->to = want->buf;
    msg->room = want->nbytes;
    msg->delay = random_delay(wire->net);
    add_message(&wire->matched, msg);
}

static void wire_recv(struct cx_wire *wire, uint64_t tag, uint64_t mask,
                      void *buf, size_t nbytes, struct cx_req *req)
{
    struct posted want = {NULL, tag, mask, buf, nbytes, req}, *kept, **end;

    lock(wire);
    if (fails(wire, req)) {
        unlock(wire);
        return;
    }
    req->status = CX_INPROGRESS;
    memset(buf, 0xee, nbytes);
    wire->counters.recvs++;
    for (struct message **at = &wire->inbox; *at; at = &(*at)->next) {
        struct message *msg = *at;

        if ((msg->tag & mask) != (tag & mask))
            continue;
        *at = msg->next;
        match(wire, msg, &want);
        unlock(wire);
        return;
    }
    kept = must_alloc(sizeof(*kept));
    *kept = want;
    for (end = &wire->posted; *end; end = &(*end)->next)
        ;
    *end = kept;
    unlock(wire);
}

static void wire_flush(struct cx_wire *wire, struct cx_peer *peer,
                       struct cx_req *req)
{
    lock(wire);
    req->status = CX_INPROGRESS;
    wire->counters.flushes++;
    add_ack(wire, req, CX_OK, peer, 1);
    unlock(wire);
}

/* A message with the same order must leave first. */
static int held_back(const struct message *first, const struct message *msg)
{
    for (; first != msg; first = first->next)
        if (first->via == msg->via &&
            first->tag >> ORDER_SHIFT == msg->tag >> ORDER_SHIFT)
            return 1;
    return 0;
}

static void arrive(struct cx_wire *wire, struct message *msg)
{
    for (struct posted **at = &wire->posted; *at; at = &(*at)->next) {
        struct posted *want = *at;

        if ((msg->tag & want->mask) != (want->tag & want->mask))
            continue;
        *at = want->next;
        match(wire, msg, want);
        free(want);
        return;
    }
    add_message(&wire->inbox, msg);
}

static unsigned progress_outbox(struct cx_wire *wire)
{
    struct message **at = &wire->outbox;
    unsigned n = 0;

    while (*at) {
        struct message *msg = *at;

        if (msg->delay > 0)
            msg->delay--;
        if (msg->delay > 0 || held_back(wire->outbox, msg)) {
            at = &msg->next;
            continue;
        }
        *at = msg->next;
        if (!msg->send)
            msg->via->inside--;
        arrive(msg->via->to, msg);
        n++;
    }
    return n;
}

static void free_message(struct message *msg)
{
    free(msg->copy);
    free(msg);
}

static void complete(struct message *msg)
{
    struct cx_req *req = msg->recv;
    int fits = msg->nbytes <= msg->room;

    if (req && fits)
        memcpy(msg->to, msg->data, msg->nbytes);
    if (req) {
        req->tag = msg->tag;
        req->nbytes = msg->nbytes;
        req->status = fits ? CX_OK : CX_ERR_MISMATCH;
    }
    if (msg->send)
        add_ack(msg->via->from, msg->send, CX_OK, msg->via, 0);
    free_message(msg);
}

static unsigned progress_matched(struct cx_wire *wire)
{
    struct message **at = &wire->matched;
    unsigned n = 0;

    while (*at) {
        struct message *msg = *at;

        if (msg->delay-- > 0) {
            at = &msg->next;
            continue;
        }
        *at = msg->next;
        complete(msg);
        n++;
    }
    return n;
}

static unsigned progress_acks(struct cx_wire *wire)
{
    struct ack **at = &wire->acks;
    unsigned n = 0;

    while (*at) {
        struct ack *ack = *at;

        if (ack->flush && ack->via->inside > 0) {
            at = &ack->next;
            continue;
        }
        *at = ack->next;
        if (ack->flush)
            ack->via->unflushed = 0;
        if (ack->req)
            ack->req->status = ack->status;
        free(ack);
        n++;
    }
    return n;
}

static unsigned wire_progress(struct cx_wire *wire)
{
    unsigned n;

    lock(wire);
    n = progress_outbox(wire);
    n += progress_matched(wire);
    n += progress_acks(wire);
    unlock(wire);
    return n;
}

/* Forgets `req` in one list of messages; its data is not touched again. */
static void cancel_in(struct message **list, struct cx_req *req)
{
    while (*list) {
        struct message *msg = *list;

        if (msg->recv == req)
            msg->recv = NULL;
        if (msg->send != req) {
            list = &msg->next;
            continue;
        }
        *list = msg->next;
        if (msg->recv)
            msg->recv->status = CX_ERR_WIRE;
        free_message(msg);
    }
}

static int wire_cancel(struct cx_wire *wire, struct cx_req *req)
{
    struct memnet *net = wire->net;

    lock(wire);
    for (int i = 0; i < net->nranks; i++) {
        cancel_in(&net->wires[i].outbox, req);
        cancel_in(&net->wires[i].inbox, req);
        cancel_in(&net->wires[i].matched, req);
    }
    for (struct posted **at = &wire->posted; *at;) {
        struct posted *want = *at;

        if (want->req != req) {
            at = &want->next;
            continue;
        }
        *at = want->next;
        free(want);
    }
    for (struct ack *ack = wire->acks; ack; ack = ack->next)
        if (ack->req == req)
            ack->req = NULL;
    unlock(wire);
    return !wire->keeps_buffers;
}

static int wire_probe(struct cx_wire *wire, uint64_t tag, uint64_t mask,
                      uint64_t *found)
{
    const struct message *msg;

    lock(wire);
    for (msg = wire->inbox; msg; msg = msg->next)
        if ((msg->tag & mask) == (tag & mask))
            break;
    if (msg)
        *found = msg->tag;
    unlock(wire);
    return msg != NULL;
}

static unsigned wire_discard(struct cx_wire *wire, uint64_t tag, uint64_t mask)
{
    struct message **at = &wire->inbox;
    unsigned n = 0;

    lock(wire);
    while (*at) {
        struct message *msg = *at;

        if ((msg->tag & mask) != (tag & mask)) {
            at = &msg->next;
            continue;
        }
        *at = msg->next;
        complete(msg);
        n++;
    }
    unlock(wire);
    return n;
}

static void wire_counters(struct cx_wire *wire, struct cx_wire_counters *out)
{
    lock(wire);
    *out = wire->counters;
    unlock(wire);
}

const struct cx_wire_ops memwire_ops = {
    .name = "memory",
    .address = wire_address,
    .peer_get = peer_get,
    .peer_put = peer_put,
    .connect = wire_connect,
    .send = wire_send,
    .recv = wire_recv,
    .flush = wire_flush,
    .cancel = wire_cancel,
    .probe = wire_probe,
    .discard = wire_discard,
    .progress = wire_progress,
    .counters = wire_counters,
};

struct memnet *memnet_create(int nranks)
{
    struct memnet *net = must_alloc(sizeof(*net));
    size_t n = (size_t)nranks;

    pthread_mutex_init(&net->lock, NULL);
    net->nranks = nranks;
    net->wires = must_alloc(n * sizeof(*net->wires));
    for (int i = 0; i < nranks; i++) {
        struct cx_wire *wire = &net->wires[i];

        wire->net = net;
        wire->rank = i;
        wire->peers = must_alloc(n * sizeof(*wire->peers));
        for (int j = 0; j < nranks; j++) {
            wire->peers[j].from = wire;
            wire->peers[j].to = &net->wires[j];
        }
    }
    return net;
}

static void free_messages(struct message *list)
{
    while (list) {
        struct message *next = list->next;

        free_message(list);
        list = next;
    }
}

static void wire_fini(struct cx_wire *wire)
{
    free_messages(wire->outbox);
    free_messages(wire->inbox);
    free_messages(wire->matched);
    while (wire->posted) {
        struct posted *next = wire->posted->next;

        free(wire->posted);
        wire->posted = next;
    }
    while (wire->acks) {
        struct ack *next = wire->acks->next;

        free(wire->acks);
        wire->acks = next;
    }
    free(wire->peers);
}

void memnet_destroy(struct memnet *net)
{
    for (int i = 0; i < net->nranks; i++)
        wire_fini(&net->wires[i]);
    pthread_mutex_destroy(&net->lock);
    free(net->wires);
    free(net);
}

void memnet_configure(struct memnet *net, const struct memnet_params *params)
{
    pthread_mutex_lock(&net->lock);
    net->params = *params;
    net->rng.state = params->seed;
    pthread_mutex_unlock(&net->lock);
}

struct cx_wire *memnet_wire(struct memnet *net, int rank)
{
    return &net->wires[rank];
}

struct cx_peer *memnet_peer(struct memnet *net, int from, int to)
{
    return &net->wires[from].peers[to];
}

long memwire_unflushed(struct cx_wire *wire)
{
    long n = 0;

    lock(wire);
    for (int i = 0; i < wire->net->nranks; i++)
        n += wire->peers[i].unflushed;
    unlock(wire);
    return n;
}

long memwire_leftover(struct cx_wire *wire)
{
    long n = 0;

    lock(wire);
    for (const struct posted *want = wire->posted; want; want = want->next)
        n++;
    for (const struct message *msg = wire->inbox; msg; msg = msg->next)
        n++;
    unlock(wire);
    return n;
}

void memwire_fail_next(struct cx_wire *wire, enum cx_status status)
{
    lock(wire);
    wire->fail_next = status;
    unlock(wire);
}

void memwire_keep_buffers(struct cx_wire *wire, int on)
{
    wire->keeps_buffers = on;
}
