/* SPDX-License-Identifier: BSD-3-Clause */
/* status.c - texts of enum cx_status. */
#include "base/status.h"

const char *cx_status_str(enum cx_status status)
{
    switch (status) {
    case CX_OK:
        return "ok";
    case CX_INPROGRESS:
        return "in progress";
    case CX_DECLINED:
        return "declined";
    case CX_ERR_NOMEM:
        return "out of memory";
    case CX_ERR_ARG:
        return "invalid argument";
    case CX_ERR_WIRE:
        return "network error";
    case CX_ERR_GPU:
        return "gpu error";
    case CX_ERR_MISMATCH:
        return "ranks called different things";
    case CX_ERR_TIMEOUT:
        return "timed out";
    case CX_ERR_MPI:
        return "mpi error";
    case CX_ERR_CONFIG:
        return "bad setting";
    case CX_ERR_INTERNAL:
        return "internal error";
    case CX_ERR_PEER:
        return "another rank failed";
    }
    return "unknown status";
}
