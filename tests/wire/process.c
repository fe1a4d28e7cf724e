/* SPDX-License-Identifier: BSD-3-Clause */
/* process.c - wires of separate processes: delivery without progress, death.
 *
 * The children are forked before UCX starts in any process; addresses and
 * words between them go through pipes. Each case is one pair: `one` in the
 * first child, `two` in the second. */
#include "wire_test.h"

#include <signal.h>
#include <sys/wait.h>

#define BIG ((size_t)6 << 20)

/* Ends of the two pipes of one child. */
struct link {
    int in, out;
};

static void put(struct link *link, const void *buf, size_t n)
{
    CHECK(write(link->out, buf, n) == (ssize_t)n);
}

/* Blocks in read(2): nobody drives the wire meanwhile. */
static void get(struct link *link, void *buf, size_t n)
{
    size_t at = 0;

    while (at < n) {
        ssize_t k = read(link->in, (char *)buf + at, n - at);

        CHECK(k > 0);
        at += (size_t)k;
    }
}

static void say(struct link *link)
{
    put(link, "!", 1);
}

static void hear(struct link *link)
{
    char c;

    get(link, &c, 1);
}

/* Swaps addresses; the other process can be sent to after this. */
static struct cx_peer *meet(struct link *link, struct cx_wire *wire)
{
    char theirs[4096] = {0};
    struct cx_peer *peer;
    const void *mine;
    size_t n;

    mine = OPS->address(wire, &n);
    put(link, &n, sizeof(n));
    put(link, mine, n);
    get(link, &n, sizeof(n));
    CHECK(n <= sizeof(theirs));
    get(link, theirs, n);
    CHECK(OPS->peer_get(wire, theirs, n, &peer) == CX_OK);
    return peer;
}

static void send_all(struct cx_wire *wire, struct cx_peer *peer, uint64_t tag,
                     void *buf, size_t n)
{
    struct cx_req req;

    OPS->send(wire, peer, tag, buf, n, &req);
    CHECK(drive(&wire, 1, &req) == CX_OK);
}

static void recv_all(struct cx_wire *wire, uint64_t tag, void *buf, size_t n)
{
    struct cx_req req;

    OPS->recv(wire, tag, ALL_BITS, buf, n, &req);
    CHECK(drive(&wire, 1, &req) == CX_OK);
    CHECK(req.nbytes == n);
}

static void flush_all(struct cx_wire *wire, struct cx_peer *peer)
{
    struct cx_req req;

    OPS->flush(wire, peer, &req);
    CHECK(drive(&wire, 1, &req) == CX_OK);
}

/* -- after a flush the sender is gone from the wire; the receiver, who comes
 * to it late, gets everything -- */

static const size_t flushed[] = {0, 8, 1000, 9000, 60000, 300000, 8, BIG, 5};
enum { NFLUSHED = sizeof(flushed) / sizeof(flushed[0]) };

static void flush_one(struct link *link, char *buf)
{
    struct cx_wire *wire = wire_new();
    struct cx_peer *peer = meet(link, wire);

    for (int i = 0; i < NFLUSHED; i++) {
        fill(buf, flushed[i], (unsigned)i);
        say(link); /* large ones need the receiver's attention to be sent */
        send_all(wire, peer, (uint64_t)i, buf, flushed[i]);
        flush_all(wire, peer);
        hear(link);
    }
    OPS->peer_put(wire, peer);
    cx_ucx_destroy(wire);
}

static void flush_two(struct link *link, char *buf)
{
    struct cx_wire *wire = wire_new();
    struct cx_peer *peer = meet(link, wire);

    for (int i = 0; i < NFLUSHED; i++) {
        hear(link);
        recv_all(wire, (uint64_t)i, buf, flushed[i]);
        CHECK(is_filled(buf, flushed[i], (unsigned)i));
        say(link);
    }
    OPS->peer_put(wire, peer);
    cx_ucx_destroy(wire);
}

/* Is there no shared memory between the processes? */
static int over_tcp(void)
{
    const char *tls = getenv("UCX_TLS");

    return tls && !strcmp(tls, "tcp");
}

/* -- sending and flushing need nothing of a receiver who is away; the
 * connection is up, and later the receiver finds the messages. Over TCP this
 * holds for large messages as well: no rendezvous -- */

static size_t away_bytes(void)
{
    return over_tcp() ? 60000 : 2000;
}

static void away_one(struct link *link, char *buf)
{
    struct cx_wire *wire = wire_new();
    struct cx_peer *peer = meet(link, wire);

    send_all(wire, peer, 1, buf, 100);
    flush_all(wire, peer);
    hear(link);
    for (unsigned i = 0; i < 4; i++) {
        fill(buf, away_bytes(), i);
        send_all(wire, peer, 2, buf, away_bytes());
        flush_all(wire, peer); /* two blocks in read(2) */
    }
    say(link);
    hear(link);
    OPS->peer_put(wire, peer);
    cx_ucx_destroy(wire);
}

static void away_two(struct link *link, char *buf)
{
    struct cx_wire *wire = wire_new();
    struct cx_peer *peer = meet(link, wire);

    recv_all(wire, 1, buf, 100);
    say(link);
    hear(link);
    for (unsigned i = 0; i < 4; i++) {
        recv_all(wire, 2, buf, away_bytes());
        CHECK(is_filled(buf, away_bytes(), i));
    }
    say(link);
    OPS->peer_put(wire, peer);
    cx_ucx_destroy(wire);
}

/* -- a flush waits for no other send: the receiver takes a large message only
 * when it has the small one behind it, as two threads on two communicators
 * may -- */

static void beside_one(struct link *link, char *buf)
{
    struct cx_wire *wire = wire_new();
    struct cx_peer *peer = meet(link, wire);
    struct cx_req large;

    send_all(wire, peer, 1, buf, 100);
    hear(link);
    OPS->send(wire, peer, 2, buf, BIG, &large);
    send_all(wire, peer, 3, buf, 100);
    flush_all(wire, peer);
    CHECK(large.status == CX_INPROGRESS); /* else nothing was shown */
    say(link);
    CHECK(drive(&wire, 1, &large) == CX_OK);
    flush_all(wire, peer);
    OPS->peer_put(wire, peer);
    cx_ucx_destroy(wire);
}

static void beside_two(struct link *link, char *buf)
{
    struct cx_wire *wire = wire_new();
    struct cx_peer *peer = meet(link, wire);

    recv_all(wire, 1, buf, 100);
    say(link);
    recv_all(wire, 3, buf, 100);
    idle(&wire, 1, 3e5); /* over TCP all that was sent must be read */
    hear(link);
    recv_all(wire, 2, buf, BIG);
    OPS->peer_put(wire, peer);
    cx_ucx_destroy(wire);
}

/* -- the sender's wire ends right after its flush, the receiver is late -- */

static void leave_one(struct link *link, char *buf)
{
    struct cx_wire *wire = wire_new();
    struct cx_peer *peer = meet(link, wire);

    send_all(wire, peer, 3, buf, 10); /* brings the connection up */
    hear(link);
    fill(buf, 4000, 9);
    send_all(wire, peer, 4, buf, 4000);
    flush_all(wire, peer);
    OPS->peer_put(wire, peer);
    cx_ucx_destroy(wire);
    say(link);
}

static void leave_two(struct link *link, char *buf)
{
    struct cx_wire *wire = wire_new();
    struct cx_peer *peer = meet(link, wire);

    recv_all(wire, 3, buf, 10);
    say(link);
    hear(link);
    recv_all(wire, 4, buf, 4000);
    CHECK(is_filled(buf, 4000, 9));
    OPS->peer_put(wire, peer);
    cx_ucx_destroy(wire);
}

/* -- both send much at once, then leave at different times -- */

static void both(struct link *link, char *buf, unsigned me)
{
    struct cx_wire *wire = wire_new();
    struct cx_peer *peer = meet(link, wire);
    struct cx_req sreq, rreq;

    for (unsigned i = 0; i < 20; i++) {
        fill(buf, BIG / 2, 2 * i + me);
        OPS->recv(wire, 5, ALL_BITS, buf + BIG / 2, BIG / 2, &rreq);
        OPS->send(wire, peer, 5, buf, BIG / 2, &sreq);
        CHECK(drive(&wire, 1, &rreq) == CX_OK);
        CHECK(drive(&wire, 1, &sreq) == CX_OK);
        CHECK(is_filled(buf + BIG / 2, BIG / 2, 2 * i + 1 - me));
        flush_all(wire, peer);
    }
    OPS->peer_put(wire, peer);
    if (me)
        usleep(20000);
    cx_ucx_destroy(wire);
}

static void both_one(struct link *link, char *buf)
{
    both(link, buf, 0);
}

static void both_two(struct link *link, char *buf)
{
    both(link, buf, 1);
}

/* -- a killed peer: sending ends in an error where the transport can tell, and
 * the wire can always be destroyed -- */

static void die_one(struct link *link, char *buf)
{
    struct cx_wire *wire = wire_new();
    struct cx_peer *peer = meet(link, wire);

    recv_all(wire, 6, buf, 100);
    (void)peer;
    kill(getpid(), SIGKILL);
}

static void die_two(struct link *link, char *buf)
{
    int tells = over_tcp();
    struct cx_wire *wire = wire_new();
    struct cx_peer *peer = meet(link, wire);
    struct cx_req req, rreq;
    double start, until;
    char c;

    send_all(wire, peer, 6, buf, 100);
    OPS->recv(wire, 7, ALL_BITS, buf, 100, &rreq);
    CHECK(read(link->in, &c, 1) == 0); /* the end of its life */
    until = cx_now_us() + (tells ? 1e7 : 3e5);
    do {
        OPS->send(wire, peer, 6, buf + 100, BIG / 2, &req);
        while (req.status == CX_INPROGRESS && cx_now_us() < until)
            OPS->progress(wire);
    } while (req.status == CX_OK && cx_now_us() < until && tells);
    CHECK(!tells || req.status == CX_ERR_WIRE);
    if (tells) {
        OPS->flush(wire, peer, &req);
        CHECK(req.status == CX_ERR_WIRE);
    }
    OPS->cancel(wire, &req);
    CHECK(rreq.status == CX_INPROGRESS);
    OPS->cancel(wire, &rreq);
    OPS->peer_put(wire, peer);
    start = cx_now_us();
    cx_ucx_destroy(wire);
    CHECK(cx_now_us() - start < 5e6);
}

/* -- a stopped peer takes nothing: a send can be cancelled, the wire ends -- */

static void stop_one(struct link *link, char *buf)
{
    struct cx_wire *wire = wire_new();
    struct cx_peer *peer = meet(link, wire);

    recv_all(wire, 8, buf, 100);
    (void)peer;
    say(link);
    hear(link); /* as good as stopped */
    _exit(0);
}

static void stop_two(struct link *link, char *buf)
{
    struct cx_wire *wire = wire_new();
    struct cx_peer *peer = meet(link, wire);
    struct cx_req req[8];
    double start;

    send_all(wire, peer, 8, buf, 100);
    hear(link);
    for (int i = 0; i < 8; i++)
        OPS->send(wire, peer, 9, buf, BIG, &req[i]);
    idle(&wire, 1, 1e5);
    start = cx_now_us();
    for (int i = 0; i < 8; i++) {
        OPS->cancel(wire, &req[i]);
        CHECK(req[i].status != CX_INPROGRESS);
    }
    CHECK(req[7].status == CX_ERR_WIRE);
    OPS->peer_put(wire, peer);
    cx_ucx_destroy(wire);
    CHECK(cx_now_us() - start < 1e7);
    say(link);
}

static const struct {
    const char *name;
    void (*one)(struct link *link, char *buf);
    void (*two)(struct link *link, char *buf);
    int killed;
} cases[] = {
    {"flush", flush_one, flush_two, 0},    {"away", away_one, away_two, 0},
    {"leave", leave_one, leave_two, 0},    {"both", both_one, both_two, 0},
    {"beside", beside_one, beside_two, 0}, {"die", die_one, die_two, 1},
    {"stop", stop_one, stop_two, 0}};

static pid_t child(void (*body)(struct link *, char *), int in, int out,
                   const int other[2])
{
    struct link link = {in, out};
    char *buf;
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid)
        return pid;
    close(other[0]);
    close(other[1]);
    buf = calloc(1, BIG + 4096);
    CHECK(buf);
    body(&link, buf);
    free(buf);
    _exit(cx_alloc_live() != 0);
}

int main(int argc, char **argv)
{
    int up[2], down[2], status[2], which = -1;
    pid_t pid[2];

    for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); i++) {
        if (argc > 1 && !strcmp(argv[1], cases[i].name))
            which = i;
    }
    CHECK(which >= 0);
    cx_log_init(CX_LOG_WARN, NULL, -1);
    signal(SIGPIPE, SIG_IGN);
    CHECK(!pipe(up) && !pipe(down));
    pid[0] = child(cases[which].one, down[0], up[1], (int[2]){down[1], up[0]});
    pid[1] = child(cases[which].two, up[0], down[1], (int[2]){up[1], down[0]});
    close(up[0]);
    close(up[1]);
    close(down[0]);
    close(down[1]);
    for (int i = 0; i < 2; i++)
        CHECK(waitpid(pid[i], &status[i], 0) == pid[i]);
    CHECK(WIFEXITED(status[1]) && !WEXITSTATUS(status[1]));
    if (cases[which].killed)
        CHECK(WIFSIGNALED(status[0]));
    else
        CHECK(WIFEXITED(status[0]) && !WEXITSTATUS(status[0]));
    return 0;
}
