/* SPDX-License-Identifier: BSD-3-Clause */
/* wire_test.h - checks and small helpers of the wire tests.
 *
 * Several wires of one process are driven by turns; a wait that takes longer
 * than LIMIT_US fails the test and never hangs it. */
#ifndef CX_WIRE_TEST_H
#define CX_WIRE_TEST_H

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "ucx/ucx.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_US 2e7
#define ALL_BITS (~(uint64_t)0)

#define CHECK(cond)                                                            \
    do {                                                                       \
        if (!(cond)) {                                                         \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);         \
            _exit(1);                                                          \
        }                                                                      \
    } while (0)

#define OPS (&cx_ucx_ops)

static inline struct cx_wire *wire_new(void)
{
    struct cx_wire *wire = NULL;

    CHECK(cx_ucx_create(NULL, &wire) == CX_OK);
    return wire;
}

/* A reference to the process of `to` for sending from `from`. */
static inline struct cx_peer *peer_of(struct cx_wire *from, struct cx_wire *to)
{
    struct cx_peer *peer = NULL;
    const void *addr;
    size_t n;

    addr = OPS->address(to, &n);
    CHECK(OPS->peer_get(from, addr, n, &peer) == CX_OK);
    return peer;
}

/* Drives `n` wires until the request has ended. */
static inline enum cx_status drive(struct cx_wire **wire, int n,
                                   struct cx_req *req)
{
    double until = cx_now_us() + LIMIT_US;

    while (req->status == CX_INPROGRESS) {
        unsigned events = 0;

        for (int i = 0; i < n; i++)
            events += OPS->progress(wire[i]);
        if (!events)
            sched_yield();
        CHECK(cx_now_us() < until);
    }
    return req->status;
}

static inline void idle(struct cx_wire **wire, int n, double us)
{
    double until = cx_now_us() + us;

    while (cx_now_us() < until) {
        for (int i = 0; i < n; i++)
            OPS->progress(wire[i]);
    }
}

/* Byte `i` of message `seed`. */
static inline unsigned char byte_of(size_t i, unsigned seed)
{
    return (unsigned char)(i * 31 + (i >> 8) * 7 + seed * 101 + 5);
}

static inline void fill(void *buf, size_t n, unsigned seed)
{
    unsigned char *p = buf;

    for (size_t i = 0; i < n; i++)
        p[i] = byte_of(i, seed);
}

static inline int is_filled(const void *buf, size_t n, unsigned seed)
{
    const unsigned char *p = buf;

    for (size_t i = 0; i < n; i++) {
        if (p[i] != byte_of(i, seed))
            return 0;
    }
    return 1;
}

#endif
