/* SPDX-License-Identifier: BSD-3-Clause */
/* peer.c - addresses, and the table of processes that can be sent to.
 *
 * The table is a hash by process id that grows with the peers really used;
 * nothing here has the size of the job. */
#include "ucx/internal.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ADDRESS_MAGIC 0x31585743u /* "CWX1" */
#define FLAG_SHM 1u
#define MIN_BUCKETS 16
#define QUIET_ROUNDS 16

/* What stands before the UCX address in our blob. Native byte order: a blob
 * of a machine with the other order fails the magic. */
struct header {
    uint32_t magic, check; /* check: hash of the blob with check = 0 */
    uint32_t address_nbytes, flags;
    uint64_t uid, host;
    uint32_t major, minor; /* of the UCX that made the address */
    uint32_t pid;
    char name[28]; /* host name, cut */
};

static uint32_t blob_hash(struct header head, const void *address)
{
    const unsigned char *part[2] = {(void *)&head, address};
    size_t n[2] = {sizeof(head), head.address_nbytes};
    uint32_t hash = 2166136261u;

    head.check = 0;
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < n[i]; k++)
            hash = (hash ^ part[i][k]) * 16777619u;
    }
    return hash;
}

enum cx_status cx_ucx_address_make(struct cx_wire *wire)
{
    struct header head;
    unsigned release;
    ucp_address_t *address;
    ucs_status_t st;
    size_t n;

    st = ucp_worker_get_address(wire->worker, &address, &n);
    if (st != UCS_OK) {
        cx_error("ucx gives no address: %s", ucs_status_string(st));
        return CX_ERR_WIRE;
    }
    wire->address_nbytes = sizeof(head) + n;
    wire->address = cx_alloc(1, wire->address_nbytes);
    if (!wire->address) {
        ucp_worker_release_address(wire->worker, address);
        cx_error("no memory for the network address");
        return CX_ERR_NOMEM;
    }
    memset(&head, 0, sizeof(head));
    head.magic = ADDRESS_MAGIC;
    head.address_nbytes = (uint32_t)n;
    head.flags = wire->res.shm ? FLAG_SHM : 0;
    head.uid = wire->uid;
    head.host = wire->host;
    ucp_get_version(&head.major, &head.minor, &release);
    head.pid = (uint32_t)getpid();
    gethostname(head.name, sizeof(head.name) - 1);
    head.check = blob_hash(head, address);
    memcpy(wire->address, &head, sizeof(head));
    memcpy((char *)wire->address + sizeof(head), address, n);
    ucp_worker_release_address(wire->worker, address);
    return CX_OK;
}

/* Reads and checks a blob; `*head` is a copy. */
static enum cx_status header_read(const void *addr, size_t nbytes,
                                  struct header *head)
{
    unsigned major, minor, release;
    int ok;

    ok = nbytes >= sizeof(*head);
    if (ok) {
        memcpy(head, addr, sizeof(*head));
        ok =
            head->magic == ADDRESS_MAGIC &&
            head->address_nbytes <= nbytes - sizeof(*head) &&
            head->check == blob_hash(*head, (const char *)addr + sizeof(*head));
    }
    if (!ok) {
        cx_error("network address of %zu bytes is damaged or of another "
                 "version of coax: install the same one on all nodes",
                 nbytes);
        return CX_ERR_ARG;
    }
    head->name[sizeof(head->name) - 1] = '\0';
    ucp_get_version(&major, &minor, &release);
    if (head->major == major && head->minor == minor)
        return CX_OK;
    cx_error("ucx %u.%u on %s (pid %u) cannot talk to ucx %u.%u here: use one "
             "version on all nodes",
             head->major, head->minor, head->name, head->pid, major, minor);
    return CX_ERR_CONFIG;
}

static struct cx_peer **slot_of(struct cx_wire *wire, uint64_t uid)
{
    return &wire->bucket[uid & (wire->nbuckets - 1)];
}

static enum cx_status table_grow(struct cx_wire *wire)
{
    size_t old_n = wire->nbuckets, n = old_n ? 2 * old_n : MIN_BUCKETS;
    struct cx_peer **old = wire->bucket, *peer, *next;
    struct cx_peer **bucket = cx_alloc(n, sizeof(struct cx_peer *));

    if (!bucket)
        return CX_ERR_NOMEM;
    wire->bucket = bucket;
    wire->nbuckets = n;
    for (size_t i = 0; i < old_n; i++) {
        for (peer = old[i]; peer; peer = next) {
            next = peer->chain;
            peer->chain = *slot_of(wire, peer->uid);
            *slot_of(wire, peer->uid) = peer;
        }
    }
    cx_free(old);
    return CX_OK;
}

static enum cx_status peer_new(struct cx_wire *wire, const struct header *head,
                               const void *address, struct cx_peer **out)
{
    struct cx_peer *peer;

    if (wire->npeers >= wire->nbuckets && table_grow(wire) != CX_OK)
        return CX_ERR_NOMEM;
    peer = cx_alloc(1, sizeof(*peer));
    if (!peer)
        return CX_ERR_NOMEM;
    peer->address = cx_alloc(1, head->address_nbytes);
    if (!peer->address) {
        cx_free(peer);
        return CX_ERR_NOMEM;
    }
    memcpy(peer->address, address, head->address_nbytes);
    peer->wire = wire;
    peer->uid = head->uid;
    peer->bad = UCS_OK;
    /* UCX 1.13 detects failures on network transports only, and with
     * detection asked for would not use shared memory. Both sides see the same
     * facts, so both choose the same. A process sends to itself without. */
    peer->detects =
        head->uid != wire->uid && !(head->host == wire->host && wire->res.shm &&
                                    (head->flags & FLAG_SHM));
    snprintf(peer->name, sizeof(peer->name), "%s:%u", head->name, head->pid);
    peer->chain = *slot_of(wire, peer->uid);
    *slot_of(wire, peer->uid) = peer;
    wire->npeers++;
    *out = peer;
    return CX_OK;
}

enum cx_status cx_ucx_peer_get(struct cx_wire *wire, const void *addr,
                               size_t nbytes, struct cx_peer **out)
{
    struct cx_peer *peer = NULL;
    struct header head;
    enum cx_status rc;

    rc = header_read(addr, nbytes, &head);
    if (rc != CX_OK)
        return rc;
    if (wire->nbuckets)
        peer = *slot_of(wire, head.uid);
    while (peer && peer->uid != head.uid)
        peer = peer->chain;
    if (!peer) {
        rc = peer_new(wire, &head, (const char *)addr + sizeof(head), &peer);
        if (rc != CX_OK) {
            cx_error("no memory for the network peer %s:%u", head.name,
                     head.pid);
            return rc;
        }
    }
    peer->refs++;
    *out = peer;
    return CX_OK;
}

void cx_ucx_peer_put(struct cx_wire *wire, struct cx_peer *peer)
{
    (void)wire;
    if (peer)
        peer->refs--;
}

void cx_ucx_peer_report(struct cx_peer *peer, ucs_status_t why)
{
    if (peer->reported)
        return;
    peer->reported = 1;
    cx_error("network connection to %s failed: %s; is that process alive?",
             peer->name, ucs_status_string(why));
}

/* Nothing is logged here: at the end of a program peers go one by one. It
 * becomes an error when somebody still wants to send. */
static void on_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct cx_peer *peer = arg;

    (void)ep;
    cx_debug("network connection to %s ended: %s", peer->name,
             ucs_status_string(status));
    if (peer->bad == UCS_OK)
        peer->bad = status;
}

static void log_lanes(struct cx_peer *peer)
{
    char *text = NULL, *save = NULL;
    size_t n = 0;
    FILE *stream;

    if (!cx_log_on(CX_LOG_DEBUG))
        return;
    stream = open_memstream(&text, &n);
    if (!stream)
        return;
    ucp_ep_print_info(peer->ep, stream);
    fclose(stream);
    for (char *line = strtok_r(text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        line += strspn(line, "# ");
        if (!strncmp(line, "lane", 4) || !strncmp(line, "tag_send:", 9))
            cx_debug("to %s: %s", peer->name, line);
    }
    free(text);
}

static ucs_status_t peer_open(struct cx_peer *peer)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = peer->address,
        .err_mode = peer->detects ? UCP_ERR_HANDLING_MODE_PEER
                                  : UCP_ERR_HANDLING_MODE_NONE,
        .err_handler = {.cb = on_error, .arg = peer}};
    ucs_status_t st = ucp_ep_create(peer->wire->worker, &params, &peer->ep);

    if (st != UCS_OK) {
        peer->ep = NULL;
        return st;
    }
    cx_free(peer->address);
    peer->address = NULL;
    log_lanes(peer);
    return UCS_OK;
}

enum cx_status cx_ucx_peer_ready(struct cx_peer *peer)
{
    ucs_status_t st;

    if (peer->ep && peer->bad == UCS_OK)
        return CX_OK;
    if (peer->bad != UCS_OK) {
        cx_ucx_peer_report(peer, peer->bad);
        return CX_ERR_WIRE;
    }
    /* Nothing was sent: the next one who needs it may try again. */
    st = peer_open(peer);
    if (st == UCS_OK)
        return CX_OK;
    cx_error("cannot open a network connection to %s: %s", peer->name,
             ucs_status_string(st));
    return CX_ERR_WIRE;
}

static ucs_status_ptr_t close_start(ucp_ep_h ep, int force)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                 .flags = force ? UCP_EP_CLOSE_FLAG_FORCE : 0};

    return ucp_ep_close_nbx(ep, &param);
}

void cx_ucx_peer_break(struct cx_peer *peer, ucs_status_t why)
{
    ucs_status_ptr_t ptr;

    if (peer->bad == UCS_OK)
        peer->bad = why;
    if (!peer->ep || !peer->detects)
        return;
    ptr = close_start(peer->ep, 1);
    peer->ep = NULL;
    if (UCS_PTR_IS_PTR(ptr))
        ucp_request_free(ptr);
}

static int closing_done(struct cx_peer *peer)
{
    if (UCS_PTR_IS_PTR(peer->closing) &&
        ucp_request_check_status(peer->closing) == UCS_INPROGRESS)
        return 0;
    if (UCS_PTR_IS_PTR(peer->closing))
        ucp_request_free(peer->closing);
    peer->closing = NULL;
    return 1;
}

static size_t count_closing(struct cx_wire *wire)
{
    size_t n = 0;

    for (size_t i = 0; i < wire->nbuckets; i++) {
        for (struct cx_peer *peer = wire->bucket[i]; peer; peer = peer->chain)
            n += !closing_done(peer);
    }
    return n;
}

/* Over the network UCX's polite close waits for an answer of the peer, like
 * its flush. What we sent has been flushed, so the impolite one loses nothing;
 * without error detection UCX has only the polite one. */
void cx_ucx_peers_close(struct cx_wire *wire, double limit_us)
{
    double until = cx_now_us() + limit_us;

    for (size_t i = 0; i < wire->nbuckets; i++) {
        for (struct cx_peer *peer = wire->bucket[i]; peer; peer = peer->chain) {
            if (peer->ep)
                peer->closing = close_start(peer->ep, peer->detects);
            peer->ep = NULL;
        }
    }
    while (count_closing(wire) && cx_now_us() < until)
        ucp_worker_progress(wire->worker);
    /* A forced close goes on behind its return, and UCX 1.13 aborts the
     * program if its worker is destroyed before it has ended. */
    for (int quiet = 0; quiet < QUIET_ROUNDS && cx_now_us() < until;)
        quiet = ucp_worker_progress(wire->worker) ? 0 : quiet + 1;
    for (size_t i = 0; i < wire->nbuckets; i++) {
        for (struct cx_peer *peer = wire->bucket[i]; peer; peer = peer->chain) {
            if (UCS_PTR_IS_PTR(peer->closing))
                ucp_request_free(peer->closing);
        }
    }
}

void cx_ucx_peers_free(struct cx_wire *wire)
{
    struct cx_peer *next;

    for (size_t i = 0; i < wire->nbuckets; i++) {
        for (struct cx_peer *peer = wire->bucket[i]; peer; peer = next) {
            next = peer->chain;
            cx_free(peer->address);
            cx_free(peer);
        }
    }
    cx_free(wire->bucket);
}
