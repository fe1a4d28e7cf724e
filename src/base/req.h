/* SPDX-License-Identifier: BSD-3-Clause */
/* req.h - one asynchronous transfer, on a wire or on a GPU.
 *
 * The caller owns the storage and must keep it in place until `status` leaves
 * CX_INPROGRESS; the wire or GPU writes the outcome from its progress call, on
 * the thread that called it. No allocation, no lock. */
#ifndef CX_REQ_H
#define CX_REQ_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct cx_req {
    enum cx_status status;
    uint64_t tag;  /* receives: the sender's full tag */
    size_t nbytes; /* receives: bytes that arrived */
    void *impl;    /* the implementation's handle while in progress */
};

#endif
