/* SPDX-License-Identifier: BSD-3-Clause */
/* status.h - the one error type of the project.
 *
 * Zero is done, positive is "not an error", negative is failure. The first
 * function to detect a failure logs it; callers only pass it up. */
#ifndef CX_STATUS_H
#define CX_STATUS_H

enum cx_status {
    CX_OK = 0,
    CX_INPROGRESS = 1,
    CX_DECLINED = 2, /* nothing was sent; only on facts equal on all ranks */
    CX_ERR_NOMEM = -1,
    CX_ERR_ARG = -2,
    CX_ERR_WIRE = -3,
    CX_ERR_GPU = -4,
    CX_ERR_MISMATCH = -5, /* ranks called different things */
    CX_ERR_TIMEOUT = -6,
    CX_ERR_MPI = -7,
    CX_ERR_CONFIG = -8,
    CX_ERR_INTERNAL = -9,
    CX_ERR_PEER = -10, /* another rank failed and said so */
    CX_ERR_LAST = CX_ERR_PEER
};

#define CX_MUST __attribute__((warn_unused_result))

/* A short lower-case text for `status`; never NULL, static storage. */
const char *cx_status_str(enum cx_status status);

#endif
