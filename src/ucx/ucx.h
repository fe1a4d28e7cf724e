/* SPDX-License-Identifier: BSD-3-Clause */
/* ucx.h - the network wire over UCP, as the engine sees it.
 *
 * One UCP context and one worker per wire, of our own beside those of the MPI
 * library. Implements struct cx_wire_ops (base/wire.h); what it adds to that
 * contract:
 *
 * - The address blob names its own length, so blobs may be padded to a common
 *   size for an exchange.
 * - A peer whose count falls to 0 keeps its endpoint until the wire ends:
 *   opening one costs a connection, and teams come and go.
 * - A receive is bound to no peer, so the death of a peer does not end it. It
 *   shows in `send` and `flush` to that peer: CX_ERR_WIRE, where the transport
 *   can tell (between nodes; shared memory cannot).
 * - A transfer that is cancelled half way closes the endpoint: later sends to
 *   that peer fail. */
#ifndef CX_UCX_H
#define CX_UCX_H

#include "base/wire.h"

/* `net_devices`: exact names, comma-separated; NULL or empty leaves the choice
 * to UCX and its environment. A name that does not exist is CX_ERR_CONFIG and
 * is logged with those that do. The caller's signal handlers are kept. */
CX_MUST enum cx_status cx_ucx_create(const char *net_devices,
                                     struct cx_wire **wire);

/* Local: waits for no peer, at most about a second for the network. Requests
 * still in progress are forgotten, not written to. NULL is allowed. */
void cx_ucx_destroy(struct cx_wire *wire);

extern const struct cx_wire_ops cx_ucx_ops;

/* "ucx 1.13.1: posix, cma, tcp/eth0" into `out`, at most `n` bytes with the
 * NUL. */
void cx_ucx_describe(struct cx_wire *wire, char *out, size_t n);

#endif
