/* SPDX-License-Identifier: BSD-3-Clause */
/* context.c - the UCP context of a wire: configuration and start.
 *
 * What is set here, each only where the user has not set the UCX_* variable:
 *
 * - A flush of the worker looks at the transports and not at each endpoint in
 *   turn: an endpoint's flush over TCP waits for an answer of the peer, who may
 *   have left the collective (transfer.c).
 * - No memory-type cache: every transfer states that its buffer is host
 *   memory, and the cache would hook the program's allocations.
 * - No rendezvous. Its sender waits for the receiver's last answer, and a
 *   receiver that has left the collective may still have that answer queued
 *   behind a full shared-memory FIFO: then the sender would hang until the
 *   other rank calls MPI again (design rule 6). Over TCP it is slower besides:
 *   a round trip that both ranks must attend to. Left alone when there is an
 *   RDMA transport, where large eager messages would be copied twice. */
#include "ucx/internal.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum config { CONFIG_PROBE, CONFIG_TCP, CONFIG_RDMA };

static enum cx_status set(ucp_config_t *config, const char *name,
                          const char *value)
{
    ucs_status_t st = ucp_config_modify(config, name, value);

    if (st == UCS_OK)
        return CX_OK;
    cx_error("ucx refuses %s=%s: %s", name, value, ucs_status_string(st));
    return CX_ERR_CONFIG;
}

/* Ours unless the user's environment has it; one that this UCX does not know
 * is no error. */
static void tune(ucp_config_t *config, const char *env, const char *value)
{
    if (!getenv(env))
        (void)ucp_config_modify(config, env + strlen("UCX_"), value);
}

static enum cx_status configure(ucp_config_t *config, enum config kind,
                                const char *net_devices)
{
    tune(config, "UCX_MEMTYPE_CACHE", "n");
    tune(config, "UCX_FLUSH_WORKER_EPS", "n");
    if (kind == CONFIG_TCP)
        tune(config, "UCX_RNDV_THRESH", "inf");
    if (kind == CONFIG_PROBE)
        return set(config, "NET_DEVICES", "all");
    if (net_devices && net_devices[0])
        return set(config, "NET_DEVICES", net_devices);
    return CX_OK;
}

static enum cx_status open_one(enum config kind, const char *net_devices,
                               ucp_context_h *context)
{
    ucp_params_t params = {.field_mask =
                               UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME,
                           .features = UCP_FEATURE_TAG,
                           .name = "coax"};
    ucp_config_t *config;
    enum cx_status rc;
    ucs_status_t st;

    st = ucp_config_read(NULL, NULL, &config);
    if (st != UCS_OK) {
        cx_error("ucx cannot read its configuration: %s; check the UCX_* "
                 "variables",
                 ucs_status_string(st));
        return CX_ERR_CONFIG;
    }
    rc = configure(config, kind, net_devices);
    if (rc == CX_OK) {
        st = ucp_init(&params, config, context);
        if (st != UCS_OK) {
            cx_error("ucx does not start: %s; check UCX_TLS and "
                     "COAX_NET_DEVICES",
                     ucs_status_string(st));
            rc = CX_ERR_WIRE;
        }
    }
    ucp_config_release(config);
    return rc;
}

/* UCX 1.13 only warns about a device that does not exist and goes on without
 * it, on TCP over whatever is there. Asks a context that may use all. */
static enum cx_status check_devices(const char *net_devices)
{
    struct resources all;
    ucp_context_h probe;
    enum cx_status rc;

    rc = open_one(CONFIG_PROBE, NULL, &probe);
    if (rc != CX_OK)
        return rc;
    rc = cx_ucx_resources(probe, &all);
    ucp_cleanup(probe);
    if (rc != CX_OK)
        return rc;
    for (const char *p = net_devices; *p;) {
        size_t n = strcspn(p, ",");

        if (!n || !cx_ucx_listed(all.devices, p, n)) {
            cx_error("COAX_NET_DEVICES: no network device \"%.*s\"; there are: "
                     "%s",
                     (int)n, p, all.devices[0] ? all.devices : "none");
            return CX_ERR_CONFIG;
        }
        p += n + (p[n] == ',');
    }
    return CX_OK;
}

enum cx_status cx_ucx_context_open(const char *net_devices,
                                   struct cx_wire *wire)
{
    enum cx_status rc;

    if (net_devices && net_devices[0]) {
        rc = check_devices(net_devices);
        if (rc != CX_OK)
            return rc;
    }
    rc = open_one(CONFIG_TCP, net_devices, &wire->context);
    if (rc != CX_OK)
        return rc;
    rc = cx_ucx_resources(wire->context, &wire->res);
    if (rc != CX_OK)
        goto err_cleanup;
    if (!wire->res.rdma)
        return CX_OK;

    ucp_cleanup(wire->context);
    return open_one(CONFIG_RDMA, net_devices, &wire->context);

err_cleanup:
    ucp_cleanup(wire->context);
    return rc;
}
