/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.c - life of a wire and its table of functions.
 *
 * Creating one costs 10 to 15 ms, nearly all of it UCX's worker. */
#include "ucx/internal.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/signals.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* For peers that are gone: these are the limits of how long the end of a wire
 * may take. */
#define FLUSH_LIMIT_US 5e5
#define CLOSE_LIMIT_US 5e5

/* UCX decides by the boot id who can share memory; so do we. */
static uint64_t host_id(void)
{
    uint64_t hash = 14695981039346656037u;
    char text[64];
    ssize_t n;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    n = read(fd, text, sizeof(text));
    close(fd);
    for (ssize_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    return n > 0 ? hash : 0;
}

static enum cx_status open_worker(struct cx_wire *wire)
{
    ucp_worker_params_t params = {.field_mask =
                                      UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                  .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucs_status_t st = ucp_worker_create(wire->context, &params, &wire->worker);

    if (st == UCS_OK)
        return CX_OK;
    cx_error("ucx cannot create a worker on %s: %s", wire->res.list,
             ucs_status_string(st));
    return CX_ERR_WIRE;
}

static enum cx_status start(const char *net_devices, struct cx_wire *wire)
{
    struct cx_signals signals;
    enum cx_status rc;

    cx_signals_save(&signals);
    rc = cx_ucx_context_open(net_devices, wire);
    if (rc == CX_OK) {
        rc = open_worker(wire);
        if (rc != CX_OK)
            ucp_cleanup(wire->context);
    }
    cx_signals_restore(&signals);
    return rc;
}

enum cx_status cx_ucx_create(const char *net_devices, struct cx_wire **out)
{
    struct cx_wire *wire = cx_alloc(1, sizeof(*wire));
    enum cx_status rc = CX_ERR_NOMEM;

    if (!wire) {
        cx_error("no memory for the network wire");
        return rc;
    }
    if (getrandom(&wire->uid, sizeof(wire->uid), 0) != sizeof(wire->uid)) {
        cx_error("getrandom gives no process id for the network wire");
        rc = CX_ERR_INTERNAL;
        goto err_free;
    }
    wire->host = host_id();
    rc = start(net_devices, wire);
    if (rc != CX_OK)
        goto err_free;
    rc = cx_ucx_address_make(wire);
    if (rc != CX_OK)
        goto err_stop;
    *out = wire;
    return CX_OK;

err_stop:
    ucp_worker_destroy(wire->worker);
    ucp_cleanup(wire->context);
err_free:
    cx_free(wire);
    return rc;
}

static void worker_flush(struct cx_wire *wire, double limit_us)
{
    double until = cx_now_us() + limit_us;
    ucp_request_param_t param = {.op_attr_mask = 0};
    ucs_status_ptr_t ptr = ucp_worker_flush_nbx(wire->worker, &param);

    if (!UCS_PTR_IS_PTR(ptr))
        return;
    while (ucp_request_check_status(ptr) == UCS_INPROGRESS &&
           cx_now_us() < until)
        ucp_worker_progress(wire->worker);
    ucp_request_free(ptr);
}

void cx_ucx_destroy(struct cx_wire *wire)
{
    struct cx_signals signals;

    if (!wire)
        return;
    cx_signals_save(&signals);
    cx_ucx_ops_forget(wire);
    /* TCP: closing a socket with unread bytes resets it, and the reset can
     * overtake what the peer still has to read from us. */
    for (int i = 0; i < 1000 && ucp_worker_progress(wire->worker); i++)
        ;
    cx_ucx_drain(wire);
    worker_flush(wire, FLUSH_LIMIT_US);
    cx_ucx_peers_close(wire, CLOSE_LIMIT_US);
    cx_ucx_drain(wire); /* what came meanwhile */
    ucp_worker_destroy(wire->worker);
    ucp_cleanup(wire->context);
    cx_signals_restore(&signals);
    cx_ucx_ops_free(wire);
    cx_ucx_peers_free(wire);
    cx_free(wire->address);
    cx_free(wire);
}

void cx_ucx_describe(struct cx_wire *wire, char *out, size_t n)
{
    snprintf(out, n, "ucx %s: %s", ucp_get_version_string(),
             wire->res.list[0] ? wire->res.list : "self");
}

static const void *address(struct cx_wire *wire, size_t *nbytes)
{
    *nbytes = wire->address_nbytes;
    return wire->address;
}

static enum cx_status connect_peer(struct cx_wire *wire, struct cx_peer *peer)
{
    (void)wire;
    return cx_ucx_peer_ready(peer);
}

static void counters(struct cx_wire *wire, struct cx_wire_counters *out)
{
    *out = wire->count;
}

const struct cx_wire_ops cx_ucx_ops = {
    .name = "ucx",
    .address = address,
    .peer_get = cx_ucx_peer_get,
    .peer_put = cx_ucx_peer_put,
    .connect = connect_peer,
    .send = cx_ucx_send,
    .recv = cx_ucx_recv,
    .flush = cx_ucx_flush,
    .cancel = cx_ucx_cancel,
    .probe = cx_ucx_probe,
    .discard = cx_ucx_discard,
    .progress = cx_ucx_progress,
    .counters = counters,
};
