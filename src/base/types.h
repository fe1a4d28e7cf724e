/* SPDX-License-Identifier: BSD-3-Clause */
/* types.h - collectives, element types and operations as the engine sees them.
 *
 * No MPI handle passes below src/pmpi: handles differ between MPIs and between
 * ranks (MPI_LONG on one, MPI_INT64_T on another), class and size do not. */
#ifndef CX_TYPES_H
#define CX_TYPES_H

#include <stddef.h>

enum cx_func { CX_ALLREDUCE, CX_BCAST, CX_ALLGATHER, CX_NFUNCS };

enum cx_dtype {
    CX_DT_NONE, /* not one that the engine reduces */
    CX_DT_BYTE, /* data movement only */
    CX_DT_I8,
    CX_DT_I16,
    CX_DT_I32,
    CX_DT_I64,
    CX_DT_U8,
    CX_DT_U16,
    CX_DT_U32,
    CX_DT_U64,
    CX_DT_F32,
    CX_DT_F64,
    CX_DT_C64,  /* float _Complex */
    CX_DT_C128, /* double _Complex */
    CX_NDTYPES
};

enum cx_redop {
    CX_REDOP_NONE,
    CX_SUM,
    CX_PROD,
    CX_MIN,
    CX_MAX,
    CX_LAND,
    CX_LOR,
    CX_LXOR,
    CX_BAND,
    CX_BOR,
    CX_BXOR,
    CX_NREDOPS
};

const char *cx_func_str(enum cx_func func);    /* "allreduce" */
const char *cx_dtype_str(enum cx_dtype dtype); /* "f64" */
const char *cx_redop_str(enum cx_redop op);    /* "sum" */
size_t cx_dtype_size(enum cx_dtype dtype);     /* bytes, 0 for NONE */

/* Is `op` defined by MPI on `dtype`, and does the engine reduce it? Pure. */
int cx_redop_valid(enum cx_redop op, enum cx_dtype dtype);

#endif
