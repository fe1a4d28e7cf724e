/* SPDX-License-Identifier: BSD-3-Clause */
/* memwire.h - a wire inside one process, for tests: base/wire.h without a
 * network.
 *
 * It uses every freedom that the contract leaves: messages wait before they
 * leave and before they complete, overtake each other where their tags differ,
 * complete out of order; a buffered one leaves only while its sender makes
 * progress; an unbuffered one reads the sender's memory at the last moment; a
 * posted receive buffer is full of rubbish until it completes. Thread safe. */
#ifndef CX_MEMWIRE_H
#define CX_MEMWIRE_H

#include "base/wire.h"

struct memnet; /* all wires of a test */

struct memnet_params {
    uint64_t seed;
    size_t eager_limit; /* longer messages are not buffered */
    int max_delay;      /* progress calls that a step may take */
};

extern const struct cx_wire_ops memwire_ops;

struct memnet *memnet_create(int nranks);
void memnet_destroy(struct memnet *net);
/* Only while nothing is in flight. */
void memnet_configure(struct memnet *net, const struct memnet_params *params);
struct cx_wire *memnet_wire(struct memnet *net, int rank);
/* How `from` names `to`; borrowed until the net is destroyed. */
struct cx_peer *memnet_peer(struct memnet *net, int from, int to);

/* Messages that this wire has not flushed. */
long memwire_unflushed(struct cx_wire *wire);
/* Receives posted and messages that nobody received. */
long memwire_leftover(struct cx_wire *wire);
/* The next transfer of this wire fails with `status`. */
void memwire_fail_next(struct cx_wire *wire, enum cx_status status);
/* From here on `cancel` says that it could not free the buffer. */
void memwire_keep_buffers(struct cx_wire *wire, int on);

#endif
