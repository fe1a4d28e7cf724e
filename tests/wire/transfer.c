/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.c - two and four wires in one process: matching, sizes, ends. */
#include "wire_test.h"

#define MAX_BYTES ((size_t)8 << 20)

static char *src, *dst;

/* Two wires, and what each needs to send to the other. */
struct pair {
    struct cx_wire *wire[2];
    struct cx_peer *to[2]; /* to[0] is used by wire[0] and is wire[1] */
};

static void pair_init(struct pair *p)
{
    p->wire[0] = wire_new();
    p->wire[1] = wire_new();
    p->to[0] = peer_of(p->wire[0], p->wire[1]);
    p->to[1] = peer_of(p->wire[1], p->wire[0]);
}

static void pair_fini(struct pair *p)
{
    OPS->peer_put(p->wire[0], p->to[0]);
    OPS->peer_put(p->wire[1], p->to[1]);
    cx_ucx_destroy(p->wire[0]);
    cx_ucx_destroy(p->wire[1]);
}

static void one_size(struct pair *p, size_t n, int early, unsigned seed)
{
    struct cx_req sreq, rreq;

    fill(src, n, seed);
    memset(dst, 0x5a, n + 1);
    if (early)
        OPS->recv(p->wire[1], seed, ALL_BITS, dst, n, &rreq);
    OPS->send(p->wire[0], p->to[0], seed, src, n, &sreq);
    if (!early) {
        idle(p->wire, 2, 200);
        OPS->recv(p->wire[1], seed, ALL_BITS, dst, n, &rreq);
    }
    CHECK(drive(p->wire, 2, &rreq) == CX_OK);
    CHECK(drive(p->wire, 2, &sreq) == CX_OK);
    CHECK(rreq.tag == seed && rreq.nbytes == n);
    CHECK(is_filled(dst, n, seed) && dst[n] == 0x5a);
}

/* Posted before and after the message has come, around every power of two. */
static void sizes(struct pair *p)
{
    unsigned seed = 1;

    one_size(p, 0, 1, seed++);
    one_size(p, 0, 0, seed++);
    for (size_t n = 1; n <= MAX_BYTES; n *= 2) {
        for (size_t m = n > 1 ? n - 1 : n; m <= n + 1 && m <= MAX_BYTES; m++) {
            one_size(p, m, 1, seed++);
            one_size(p, m, 0, seed++);
        }
    }
}

/* Unmasked bits are ignored by the match and reported. */
static void masks(struct pair *p)
{
    uint64_t high = (uint64_t)0xabcd << 48;
    struct cx_req sreq[2], rreq[2];
    int out[2] = {1, 2}, in[2] = {0, 0};

    OPS->recv(p->wire[1], high, (uint64_t)0xffff << 48, &in[0], sizeof(int),
              &rreq[0]);
    OPS->recv(p->wire[1], 7, 0xff, &in[1], sizeof(int), &rreq[1]);
    OPS->send(p->wire[0], p->to[0], 0x1100000000000007u, &out[1], sizeof(int),
              &sreq[1]);
    OPS->send(p->wire[0], p->to[0], high | 0x1234567, &out[0], sizeof(int),
              &sreq[0]);
    for (int i = 0; i < 2; i++) {
        CHECK(drive(p->wire, 2, &rreq[i]) == CX_OK);
        CHECK(drive(p->wire, 2, &sreq[i]) == CX_OK);
        CHECK(in[i] == out[i]);
    }
    CHECK(rreq[0].tag == (high | 0x1234567));
    CHECK(rreq[1].tag == 0x1100000000000007u);
}

/* Equal tags arrive in the order sent, small behind large as well. */
static void ordering(struct pair *p)
{
    static const size_t bytes[] = {8, 300000, 1, 65536, 0, 9000, 1 << 20, 4};
    enum { N = sizeof(bytes) / sizeof(bytes[0]) };
    struct cx_req sreq[N], rreq[N];
    size_t at[N + 1] = {0};

    for (int i = 0; i < N; i++)
        at[i + 1] = at[i] + bytes[i];
    for (int i = 0; i < N; i++) {
        fill(src + at[i], bytes[i], 40 + (unsigned)i);
        OPS->send(p->wire[0], p->to[0], 9, src + at[i], bytes[i], &sreq[i]);
        if (i == N / 2)
            idle(p->wire, 2, 500);
    }
    for (int i = 0; i < N; i++)
        OPS->recv(p->wire[1], 9, ALL_BITS, dst + at[i], bytes[i], &rreq[i]);
    for (int i = 0; i < N; i++) {
        CHECK(drive(p->wire, 2, &rreq[i]) == CX_OK);
        CHECK(drive(p->wire, 2, &sreq[i]) == CX_OK);
        CHECK(rreq[i].nbytes == bytes[i]);
        CHECK(is_filled(dst + at[i], bytes[i], 40 + (unsigned)i));
    }
}

static void truncation(struct pair *p)
{
    static const size_t bytes[] = {16, 5000, 100000, 2 << 20};
    struct cx_req sreq, rreq;

    for (int i = 0; i < 8; i++) {
        size_t n = bytes[i / 2];

        memset(dst, 0x5a, n);
        if (i % 2)
            OPS->recv(p->wire[1], 3, ALL_BITS, dst, n / 2, &rreq);
        OPS->send(p->wire[0], p->to[0], 3, src, n, &sreq);
        idle(p->wire, 2, 500);
        if (i % 2 == 0)
            OPS->recv(p->wire[1], 3, ALL_BITS, dst, n / 2, &rreq);
        CHECK(drive(p->wire, 2, &rreq) == CX_ERR_MISMATCH);
        CHECK(drive(p->wire, 2, &sreq) != CX_INPROGRESS);
        for (size_t k = n / 2; k < n; k++)
            CHECK(dst[k] == 0x5a);
    }
    one_size(p, 1000, 1, 77); /* the wire still works */
}

/* A receive without a message, a receive that has ended, a finished send. */
static void cancel(struct pair *p)
{
    struct cx_req req, other, sreq;

    OPS->recv(p->wire[1], 5, ALL_BITS, dst, 64, &req);
    OPS->recv(p->wire[1], 6, ALL_BITS, dst, 64, &other);
    OPS->cancel(p->wire[1], &req);
    CHECK(req.status == CX_ERR_WIRE);
    OPS->cancel(p->wire[1], &req);
    /* The message of the cancelled receive goes to the next one. */
    OPS->send(p->wire[0], p->to[0], 5, src, 64, &sreq);
    CHECK(drive(p->wire, 2, &sreq) == CX_OK);
    OPS->cancel(p->wire[0], &sreq);
    CHECK(sreq.status == CX_OK);
    OPS->recv(p->wire[1], 5, ALL_BITS, dst, 64, &req);
    CHECK(drive(p->wire, 2, &req) == CX_OK);
    CHECK(other.status == CX_INPROGRESS);
    OPS->cancel(p->wire[1], &other);
    CHECK(other.status == CX_ERR_WIRE);
}

static void flush(struct pair *p)
{
    struct cx_req sreq, rreq, freq;

    OPS->send(p->wire[0], p->to[0], 8, src, 100000, &sreq);
    OPS->recv(p->wire[1], 8, ALL_BITS, dst, 100000, &rreq);
    CHECK(drive(p->wire, 2, &sreq) == CX_OK);
    OPS->flush(p->wire[0], p->to[0], &freq);
    CHECK(drive(p->wire, 2, &freq) == CX_OK);
    CHECK(drive(&p->wire[1], 1, &rreq) == CX_OK); /* receiver alone */
}

static void peers(struct pair *p)
{
    struct cx_peer *again[1000];
    char padded[4096];
    const void *addr;
    size_t n;

    for (int i = 0; i < 1000; i++) {
        again[i] = peer_of(p->wire[0], p->wire[1]);
        CHECK(again[i] == p->to[0]);
    }
    for (int i = 0; i < 1000; i++)
        OPS->peer_put(p->wire[0], again[i]);
    addr = OPS->address(p->wire[1], &n);
    CHECK(n < sizeof(padded));
    memset(padded, 0xee, sizeof(padded));
    memcpy(padded, addr, n);
    CHECK(OPS->peer_get(p->wire[0], padded, sizeof(padded), &again[0]) ==
          CX_OK);
    CHECK(again[0] == p->to[0]);
    OPS->peer_put(p->wire[0], again[0]);
}

static void counters(struct pair *p)
{
    struct cx_wire_counters a, b;

    OPS->counters(p->wire[0], &a);
    one_size(p, 123, 1, 90);
    OPS->counters(p->wire[0], &b);
    CHECK(b.sends == a.sends + 1 && b.send_bytes == a.send_bytes + 123);
    CHECK(b.recvs == a.recvs && b.flushes == a.flushes);
    OPS->counters(p->wire[1], &a);
    CHECK(a.sends == 0 && a.recvs > 100);
}

/* A wire sends to itself. */
static void self(struct pair *p)
{
    struct cx_peer *me = peer_of(p->wire[0], p->wire[0]);
    struct cx_req sreq, rreq;

    fill(src, 200000, 11);
    OPS->send(p->wire[0], me, 4, src, 200000, &sreq);
    OPS->recv(p->wire[0], 4, ALL_BITS, dst, 200000, &rreq);
    CHECK(drive(p->wire, 1, &rreq) == CX_OK);
    CHECK(drive(p->wire, 1, &sreq) == CX_OK);
    CHECK(is_filled(dst, 200000, 11));
    OPS->peer_put(p->wire[0], me);
}

/* Destroyed with messages unread, receives posted and sends under way. */
static void unread(void)
{
    struct cx_req req[6];
    struct pair p;

    pair_init(&p);
    OPS->recv(p.wire[1], 1, ALL_BITS, dst, 64, &req[0]);
    OPS->recv(p.wire[0], 1, ALL_BITS, dst, 64, &req[1]);
    OPS->send(p.wire[0], p.to[0], 2, src, 64, &req[2]);
    OPS->send(p.wire[0], p.to[0], 2, src, 30000, &req[3]);
    idle(p.wire, 2, 1000);
    OPS->send(p.wire[0], p.to[0], 2, src, 4 << 20, &req[4]);
    OPS->send(p.wire[1], p.to[1], 2, src, 4 << 20, &req[5]);
    pair_fini(&p);
}

/* Everyone to everyone, all posted at once. */
static void four(void)
{
    enum { N = 4, BYTES = 70000 };
    struct cx_wire *wire[N];
    struct cx_peer *peer[N][N];
    struct cx_req sreq[N][N], rreq[N][N];

    for (int i = 0; i < N; i++)
        wire[i] = wire_new();
    for (unsigned i = 0; i < N; i++) {
        for (unsigned k = 0; k < N; k++) {
            peer[i][k] = peer_of(wire[i], wire[k]);
            fill(src + (i * N + k) * BYTES, BYTES, i * N + k);
            OPS->send(wire[i], peer[i][k], i, src + (i * N + k) * BYTES, BYTES,
                      &sreq[i][k]);
        }
    }
    for (unsigned i = 0; i < N; i++) {
        for (unsigned k = 0; k < N; k++)
            OPS->recv(wire[k], i, ALL_BITS, dst + (i * N + k) * BYTES, BYTES,
                      &rreq[i][k]);
    }
    for (unsigned i = 0; i < N; i++) {
        for (unsigned k = 0; k < N; k++) {
            CHECK(drive(wire, N, &sreq[i][k]) == CX_OK);
            CHECK(drive(wire, N, &rreq[i][k]) == CX_OK);
            CHECK(is_filled(dst + (i * N + k) * BYTES, BYTES, i * N + k));
            OPS->peer_put(wire[i], peer[i][k]);
        }
    }
    for (int i = 0; i < N; i++)
        cx_ucx_destroy(wire[i]);
}

int main(void)
{
    struct pair p;

    cx_log_init(CX_LOG_ERROR, "/dev/null", 0);
    src = malloc(MAX_BYTES + 64);
    dst = malloc(MAX_BYTES + 64);
    CHECK(src && dst);
    memset(src, 1, MAX_BYTES);

    pair_init(&p);
    sizes(&p);
    masks(&p);
    ordering(&p);
    truncation(&p);
    cancel(&p);
    flush(&p);
    peers(&p);
    counters(&p);
    self(&p);
    pair_fini(&p);
    four();
    unread();
    CHECK(cx_alloc_live() == 0);
    free(src);
    free(dst);
    return 0;
}
