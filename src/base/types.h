/* SPDX-License-Identifier: BSD-3-Clause */
/* types.h - collectives, element types and operations as the engine sees them.
 *
 * No MPI handle passes below src/pmpi: handles differ between MPIs and between
 * ranks (MPI_LONG on one, MPI_INT64_T on another), class and size do not. */
#ifndef CX_TYPES_H
#define CX_TYPES_H

#include <float.h>
#include <stddef.h>

/* Is long double the 80-bit format of x86? Elsewhere it is a double or a quad,
 * and none of the types below with F80 in them occurs. */
#define CX_HAVE_F80 (LDBL_MANT_DIG == 64)

enum cx_func { CX_ALLREDUCE, CX_BCAST, CX_ALLGATHER, CX_NFUNCS };

enum cx_dtype {
    CX_DT_NONE, /* not one that the engine reduces */
    CX_DT_BYTE, /* no number: data movement, and bitwise operations */
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
    CX_DT_F16,
    CX_DT_F80,     /* 10 bytes of value, 6 of padding */
    CX_DT_F128,    /* IEEE quad: Fortran's REAL*16 */
    CX_DT_CF80,    /* long double _Complex */
    CX_DT_CF128,   /* Fortran's COMPLEX*32 */
    CX_DT_BOOL,    /* a byte, 0 or 1 */
    CX_DT_LOGICAL, /* Fortran's, 4 bytes, true is 1 */
    CX_DT_F32_I32, /* value and index, without a gap between elements or */
    CX_DT_F64_I32, /* parts: the bytes that MPI_Pack makes of the type */
    CX_DT_F80_I32,
    CX_DT_I16_I32,
    CX_DT_I32_I32,
    CX_DT_I64_I32,
    CX_DT_F32_F32,
    CX_DT_F64_F64,
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
    CX_MINLOC,
    CX_MAXLOC,
    CX_NREDOPS
};

const char *cx_func_str(enum cx_func func);    /* "allreduce" */
const char *cx_dtype_str(enum cx_dtype dtype); /* "f64" */
const char *cx_redop_str(enum cx_redop op);    /* "sum" */
size_t cx_dtype_size(enum cx_dtype dtype);     /* bytes, 0 for NONE */

/* Is `op` defined by MPI on `dtype`, and does the engine reduce it? Pure. */
int cx_redop_valid(enum cx_redop op, enum cx_dtype dtype);

#endif
