/* SPDX-License-Identifier: BSD-3-Clause */
/* handles.c - MPI types and operations of the MPICH ABI as engine enums.
 *
 * Several handles name one type (MPI_LONG, MPI_INT64_T, MPI_INTEGER8): the
 * class comes from the table, the size from the handle itself, where the ABI
 * keeps it. A type that is not listed is moved as bytes and reduced by MPI. */
#include "pmpi/front.h"

enum { BUILTIN = 1 }; /* the ABI's handle kind in the two top bits */

enum class { SIGNED, UNSIGNED, FLOATING, COMPLEX };

static const struct {
    MPI_Datatype type;
    enum class class;
} known[] = {
    {MPI_SIGNED_CHAR, SIGNED},
    {MPI_SHORT, SIGNED},
    {MPI_INT, SIGNED},
    {MPI_LONG, SIGNED},
    {MPI_LONG_LONG, SIGNED},
    {MPI_INT8_T, SIGNED},
    {MPI_INT16_T, SIGNED},
    {MPI_INT32_T, SIGNED},
    {MPI_INT64_T, SIGNED},
    {MPI_AINT, SIGNED},
    {MPI_OFFSET, SIGNED},
    {MPI_COUNT, SIGNED},
    {MPI_INTEGER, SIGNED},
    {MPI_INTEGER1, SIGNED},
    {MPI_INTEGER2, SIGNED},
    {MPI_INTEGER4, SIGNED},
    {MPI_INTEGER8, SIGNED},
    {MPI_UNSIGNED_CHAR, UNSIGNED},
    {MPI_UNSIGNED_SHORT, UNSIGNED},
    {MPI_UNSIGNED, UNSIGNED},
    {MPI_UNSIGNED_LONG, UNSIGNED},
    {MPI_UNSIGNED_LONG_LONG, UNSIGNED},
    {MPI_UINT8_T, UNSIGNED},
    {MPI_UINT16_T, UNSIGNED},
    {MPI_UINT32_T, UNSIGNED},
    {MPI_UINT64_T, UNSIGNED},
    {MPI_FLOAT, FLOATING},
    {MPI_DOUBLE, FLOATING},
    {MPI_REAL, FLOATING},
    {MPI_DOUBLE_PRECISION, FLOATING},
    {MPI_REAL4, FLOATING},
    {MPI_REAL8, FLOATING},
    {MPI_C_FLOAT_COMPLEX, COMPLEX},
    {MPI_C_DOUBLE_COMPLEX, COMPLEX},
    {MPI_COMPLEX, COMPLEX},
    {MPI_DOUBLE_COMPLEX, COMPLEX},
    {MPI_COMPLEX8, COMPLEX},
    {MPI_COMPLEX16, COMPLEX},
};

static const struct {
    MPI_Op mpi;
    enum cx_redop op;
} ops[] = {
    {MPI_SUM, CX_SUM},   {MPI_PROD, CX_PROD}, {MPI_MIN, CX_MIN},
    {MPI_MAX, CX_MAX},   {MPI_LAND, CX_LAND}, {MPI_LOR, CX_LOR},
    {MPI_LXOR, CX_LXOR}, {MPI_BAND, CX_BAND}, {MPI_BOR, CX_BOR},
    {MPI_BXOR, CX_BXOR},
};

static const struct {
    MPI_Datatype mpi;
    enum cx_dtype dtype;
} by_dtype[] = {
    {MPI_INT8_T, CX_DT_I8},           {MPI_INT16_T, CX_DT_I16},
    {MPI_INT32_T, CX_DT_I32},         {MPI_INT64_T, CX_DT_I64},
    {MPI_UINT8_T, CX_DT_U8},          {MPI_UINT16_T, CX_DT_U16},
    {MPI_UINT32_T, CX_DT_U32},        {MPI_UINT64_T, CX_DT_U64},
    {MPI_FLOAT, CX_DT_F32},           {MPI_DOUBLE, CX_DT_F64},
    {MPI_C_FLOAT_COMPLEX, CX_DT_C64}, {MPI_C_DOUBLE_COMPLEX, CX_DT_C128},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int cx_type_basic(MPI_Datatype type)
{
    return (uint32_t)type >> 30 == BUILTIN;
}

static enum cx_dtype by_size(enum class class, unsigned size)
{
    static const enum cx_dtype table[4][17] = {
        [SIGNED] =
            {[1] = CX_DT_I8, [2] = CX_DT_I16, [4] = CX_DT_I32, [8] = CX_DT_I64},
        [UNSIGNED] =
            {[1] = CX_DT_U8, [2] = CX_DT_U16, [4] = CX_DT_U32, [8] = CX_DT_U64},
        [FLOATING] = {[4] = CX_DT_F32, [8] = CX_DT_F64},
        [COMPLEX] = {[8] = CX_DT_C64, [16] = CX_DT_C128},
    };

    return size <= 16 ? table[class][size] : CX_DT_NONE;
}

enum cx_dtype cx_dtype_of(MPI_Datatype type)
{
    size_t i;

    if (!cx_type_basic(type) || type == MPI_DATATYPE_NULL)
        return CX_DT_NONE;
    for (i = 0; i < COUNT(known); i++) {
        if (known[i].type == type)
            return by_size(known[i].class, ((uint32_t)type >> 8) & 0xff);
    }
    return CX_DT_NONE;
}

enum cx_redop cx_redop_of(MPI_Op op)
{
    size_t i;

    for (i = 0; i < COUNT(ops); i++) {
        if (ops[i].mpi == op)
            return ops[i].op;
    }
    return CX_REDOP_NONE;
}

MPI_Datatype cx_dtype_to_mpi(enum cx_dtype dtype)
{
    size_t i;

    for (i = 0; i < COUNT(by_dtype); i++) {
        if (by_dtype[i].dtype == dtype)
            return by_dtype[i].mpi;
    }
    return MPI_DATATYPE_NULL;
}

MPI_Op cx_redop_to_mpi(enum cx_redop op)
{
    size_t i;

    for (i = 0; i < COUNT(ops); i++) {
        if (ops[i].op == op)
            return ops[i].mpi;
    }
    return MPI_OP_NULL;
}
