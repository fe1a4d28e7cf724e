/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.c - sends, receives, flushes and their end.
 *
 * A transfer that UCX finishes at once costs nothing beyond UCX. Others keep
 * one op from the wire's pool until UCX calls back. */
#include "ucx/internal.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

#include <string.h>

#define OPS_PER_CHUNK 64

/* How long cancel lets a transfer that has begun run on before it breaks the
 * endpoint: an error is being handled, nobody needs it to be quick. */
#define CANCEL_LIMIT_US 1e5

struct op_chunk {
    struct op_chunk *next;
    struct op op[OPS_PER_CHUNK];
};

static struct op *op_get(struct cx_wire *wire)
{
    struct op_chunk *chunk;
    struct op *op;

    if (!wire->free) {
        chunk = cx_alloc(1, sizeof(*chunk));
        if (!chunk)
            return NULL;
        chunk->next = wire->chunks;
        wire->chunks = chunk;
        for (int i = 0; i < OPS_PER_CHUNK; i++) {
            chunk->op[i].next = wire->free;
            wire->free = &chunk->op[i];
        }
    }
    op = wire->free;
    wire->free = op->next;
    *op = (struct op){.wire = wire};
    return op;
}

static void op_put(struct op *op)
{
    op->next = op->wire->free;
    op->wire->free = op;
}

static void op_link(struct op *op)
{
    op->prev = NULL;
    op->next = op->wire->live;
    if (op->next)
        op->next->prev = op;
    op->wire->live = op;
}

static void op_unlink(struct op *op)
{
    if (op->prev)
        op->prev->next = op->next;
    else
        op->wire->live = op->next;
    if (op->next)
        op->next->prev = op->prev;
}

/* The outcome of an op. Nothing is logged for one that was given up. */
static enum cx_status outcome(const struct op *op, ucs_status_t st,
                              const ucp_tag_recv_info_t *info)
{
    if (op->kind == OP_FLUSH && st == UCS_OK)
        st = op->peer->bad;
    if (st == UCS_OK)
        return CX_OK;
    if (!op->req || st == UCS_ERR_CANCELED)
        return CX_ERR_WIRE;
    if (st == UCS_ERR_MESSAGE_TRUNCATED) {
        cx_error("message with tag %#llx is longer than the receive of %zu "
                 "bytes: the ranks called different things",
                 info ? (unsigned long long)info->sender_tag : 0ull,
                 op->nbytes);
        return CX_ERR_MISMATCH;
    }
    if (op->peer)
        cx_ucx_peer_report(op->peer, st);
    else
        cx_error("receive failed: %s", ucs_status_string(st));
    return CX_ERR_WIRE;
}

static void finish(struct op *op, ucs_status_t st,
                   const ucp_tag_recv_info_t *info)
{
    enum cx_status rc = outcome(op, st, info);
    struct cx_req *req = op->req;

    if (!req)
        return;
    if (info && rc == CX_OK) {
        req->tag = info->sender_tag;
        req->nbytes = info->length;
    }
    req->impl = NULL;
    req->status = rc;
}

static void end(struct op *op, void *request, ucs_status_t st,
                const ucp_tag_recv_info_t *info)
{
    finish(op, st, info);
    /* A receive that finds its message waiting can end inside the call that
     * posts it; that call then cleans up. */
    if (!op->ucx) {
        op->ended = 1;
        return;
    }
    op_unlink(op);
    op_put(op);
    ucp_request_free(request);
}

static void on_send(void *request, ucs_status_t st, void *user_data)
{
    end(user_data, request, st, NULL);
}

static void on_recv(void *request, ucs_status_t st,
                    const ucp_tag_recv_info_t *info, void *user_data)
{
    end(user_data, request, st, info);
}

/* Takes what a UCX call returned: NULL (done), an error, or its request. */
static void posted(struct op *op, ucs_status_ptr_t ptr)
{
    if (!UCS_PTR_IS_PTR(ptr)) {
        finish(op, UCS_PTR_STATUS(ptr), NULL);
        op_put(op);
        return;
    }
    if (op->ended) {
        ucp_request_free(ptr);
        op_put(op);
        return;
    }
    op->ucx = ptr;
    op->req->impl = op;
    op_link(op);
}

/* An op in progress, or NULL with the outcome in `req`. */
static struct op *begin(struct cx_wire *wire, int kind, struct cx_peer *peer,
                        struct cx_req *req)
{
    struct op *op = NULL;

    req->impl = NULL;
    req->status = peer ? cx_ucx_peer_ready(peer) : CX_OK;
    if (req->status != CX_OK)
        return NULL;
    op = op_get(wire);
    if (!op) {
        cx_error("no memory for a network transfer");
        req->status = CX_ERR_NOMEM;
        return NULL;
    }
    req->status = CX_INPROGRESS;
    op->kind = kind;
    op->peer = peer;
    op->req = req;
    return op;
}

void cx_ucx_send(struct cx_wire *wire, struct cx_peer *peer, uint64_t tag,
                 const void *buf, size_t nbytes, struct cx_req *req)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                 UCP_OP_ATTR_FIELD_USER_DATA |
                                                 UCP_OP_ATTR_FIELD_MEMORY_TYPE,
                                 .cb.send = on_send,
                                 .memory_type = UCS_MEMORY_TYPE_HOST};
    struct op *op = begin(wire, OP_SEND, peer, req);

    if (!op)
        return;
    op->nbytes = nbytes;
    param.user_data = op;
    wire->count.sends++;
    wire->count.send_bytes += nbytes;
    posted(op, ucp_tag_send_nbx(peer->ep, buf, nbytes, tag, &param));
}

/* NO_IMM_CMPL: UCX 1.13 does not fill recv_info when a receive ends at once,
 * so even that one is to call back. */
void cx_ucx_recv(struct cx_wire *wire, uint64_t tag, uint64_t mask, void *buf,
                 size_t nbytes, struct cx_req *req)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                 UCP_OP_ATTR_FIELD_USER_DATA |
                                                 UCP_OP_ATTR_FIELD_MEMORY_TYPE |
                                                 UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
                                 .cb.recv = on_recv,
                                 .memory_type = UCS_MEMORY_TYPE_HOST};
    struct op *op = begin(wire, OP_RECV, NULL, req);

    if (!op)
        return;
    op->nbytes = nbytes;
    param.user_data = op;
    wire->count.recvs++;
    posted(op, ucp_tag_recv_nbx(wire->worker, buf, nbytes, tag, mask, &param));
}

/* UCX's flush of an endpoint would be the obvious tool, but over TCP it asks
 * the peer for an answer [UCX 1.13], and the peer may have received all it
 * needs and be busy elsewhere. A send that has ended has given its bytes to the
 * transport (one that waits for the connection has not ended), and a flush of
 * the worker waits only until the transports have passed all on to the kernel,
 * the NIC or the peer's memory. */
void cx_ucx_flush(struct cx_wire *wire, struct cx_peer *peer,
                  struct cx_req *req)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                 UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.send = on_send};
    struct op *op;

    wire->count.flushes++;
    if (!peer->ep && peer->bad == UCS_OK) {
        req->impl = NULL;
        req->status = CX_OK;
        return;
    }
    op = begin(wire, OP_FLUSH, peer, req);
    if (!op)
        return;
    param.user_data = op;
    posted(op, ucp_worker_flush_nbx(wire->worker, &param));
}

int cx_ucx_probe(struct cx_wire *wire, uint64_t tag, uint64_t mask,
                 uint64_t *found)
{
    ucp_tag_recv_info_t info;

    if (!ucp_tag_probe_nb(wire->worker, tag, mask, 0, &info))
        return 0;
    *found = info.sender_tag;
    return 1;
}

unsigned cx_ucx_progress(struct cx_wire *wire)
{
    return ucp_worker_progress(wire->worker);
}

static int runs_on(struct cx_wire *wire, const struct cx_req *req,
                   double limit_us)
{
    double until = cx_now_us() + limit_us;

    while (req->status == CX_INPROGRESS && cx_now_us() < until)
        ucp_worker_progress(wire->worker);
    return req->status == CX_INPROGRESS;
}

static void let_go(struct op *op)
{
    op->req->impl = NULL;
    op->req->status = CX_ERR_WIRE;
    op->req = NULL;
}

/* A receive without a message goes at once, and so do a flush and an empty
 * message, which hold no memory. Anything else has begun: it gets a moment to
 * end by itself, then its endpoint is broken, which ends it unless the
 * transport cannot (shared memory) or it is a half-arrived receive; those are
 * left to UCX, and their buffer with them. */
int cx_ucx_cancel(struct cx_wire *wire, struct cx_req *req)
{
    struct op *op = req->impl;

    if (req->status != CX_INPROGRESS || !op)
        return 1;
    if (op->kind == OP_FLUSH || (op->kind == OP_SEND && op->nbytes == 0)) {
        let_go(op);
        return 1;
    }
    if (op->kind == OP_RECV)
        ucp_request_cancel(wire->worker, op->ucx);
    if (!runs_on(wire, req, CANCEL_LIMIT_US))
        return 1;
    if (op->kind == OP_SEND) {
        cx_ucx_peer_break(op->peer, UCS_ERR_CANCELED);
        if (op->peer->detects && !runs_on(wire, req, CANCEL_LIMIT_US))
            return 1;
    }
    cx_warn("a %s of %zu bytes cannot be stopped: its buffer stays in use "
            "until the wire ends",
            op->kind == OP_SEND ? "send" : "receive", op->nbytes);
    let_go(op);
    return 0;
}

void cx_ucx_ops_forget(struct cx_wire *wire)
{
    struct op *next;

    for (struct op *op = wire->live; op; op = op->next)
        op->req = NULL;
    for (struct op *op = wire->live; op; op = next) {
        next = op->next;
        if (op->kind == OP_RECV)
            ucp_request_cancel(wire->worker, op->ucx);
    }
}

/* Receives into nothing. That frees what arrived and tells the sender of a
 * rendezvous, which otherwise waits until it notices that we are gone. */
unsigned cx_ucx_discard(struct cx_wire *wire, uint64_t tag, uint64_t mask)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE,
                                 .memory_type = UCS_MEMORY_TYPE_HOST};
    ucp_tag_recv_info_t info;
    ucp_tag_message_h message;
    ucs_status_ptr_t ptr;
    unsigned n = 0;

    while ((message = ucp_tag_probe_nb(wire->worker, tag, mask, 1, &info))) {
        ptr = ucp_tag_msg_recv_nbx(wire->worker, NULL, 0, message, &param);
        if (UCS_PTR_IS_PTR(ptr))
            ucp_request_free(ptr);
        n++;
    }
    return n;
}

void cx_ucx_drain(struct cx_wire *wire)
{
    (void)cx_ucx_discard(wire, 0, 0);
}

void cx_ucx_ops_free(struct cx_wire *wire)
{
    struct op_chunk *next;

    for (struct op_chunk *chunk = wire->chunks; chunk; chunk = next) {
        next = chunk->next;
        cx_free(chunk);
    }
}
