/* SPDX-License-Identifier: BSD-3-Clause */
/* handles.c - MPI types and operations of the MPICH ABI as engine enums.
 *
 * Several handles name one type (MPI_LONG, MPI_INT64_T, MPI_INTEGER8): the
 * class comes from the table, the size from the handle itself, where the ABI
 * keeps it. A type that is not listed (MPI_CHAR is no number) is moved as bytes
 * and reduced by MPI, or refused by it. */
#include "pmpi/contents.h"
#include "pmpi/front.h"

enum { BUILTIN = 1 }; /* the ABI's handle kind in the two top bits */

enum class {
    UNKNOWN,
    BYTES,
    SIGNED,
    UNSIGNED,
    FLOATING,
    LONG_FLOATING, /* C's long double */
    COMPLEX,
    LONG_COMPLEX,
    BOOL,
    LOGICAL,
    INTEGERS, /* value and index of one type */
    FLOATINGS,
    NCLASSES
};

/* At the number of the handle, its low byte. */
#define ROW(type, class) [(uint32_t)(type)&0xff] = {type, class}

static const struct {
    MPI_Datatype type;
    enum class class;
} builtin[256] = {
    ROW(MPI_BYTE, BYTES),
    ROW(MPI_SIGNED_CHAR, SIGNED),
    ROW(MPI_SHORT, SIGNED),
    ROW(MPI_INT, SIGNED),
    ROW(MPI_LONG, SIGNED),
    ROW(MPI_LONG_LONG, SIGNED),
    ROW(MPI_INT8_T, SIGNED),
    ROW(MPI_INT16_T, SIGNED),
    ROW(MPI_INT32_T, SIGNED),
    ROW(MPI_INT64_T, SIGNED),
    ROW(MPI_AINT, SIGNED),
    ROW(MPI_OFFSET, SIGNED),
    ROW(MPI_COUNT, SIGNED),
    ROW(MPI_INTEGER, SIGNED),
    ROW(MPI_INTEGER1, SIGNED),
    ROW(MPI_INTEGER2, SIGNED),
    ROW(MPI_INTEGER4, SIGNED),
    ROW(MPI_INTEGER8, SIGNED),
    ROW(MPI_UNSIGNED_CHAR, UNSIGNED),
    ROW(MPI_UNSIGNED_SHORT, UNSIGNED),
    ROW(MPI_UNSIGNED, UNSIGNED),
    ROW(MPI_UNSIGNED_LONG, UNSIGNED),
    ROW(MPI_UNSIGNED_LONG_LONG, UNSIGNED),
    ROW(MPI_UINT8_T, UNSIGNED),
    ROW(MPI_UINT16_T, UNSIGNED),
    ROW(MPI_UINT32_T, UNSIGNED),
    ROW(MPI_UINT64_T, UNSIGNED),
    ROW(MPIX_C_FLOAT16, FLOATING),
    ROW(MPI_FLOAT, FLOATING),
    ROW(MPI_DOUBLE, FLOATING),
    ROW(MPI_LONG_DOUBLE, LONG_FLOATING),
    ROW(MPI_REAL, FLOATING),
    ROW(MPI_DOUBLE_PRECISION, FLOATING),
    ROW(MPI_REAL4, FLOATING),
    ROW(MPI_REAL8, FLOATING),
    ROW(MPI_REAL16, FLOATING),
    ROW(MPI_C_FLOAT_COMPLEX, COMPLEX),
    ROW(MPI_C_DOUBLE_COMPLEX, COMPLEX),
    ROW(MPI_C_LONG_DOUBLE_COMPLEX, LONG_COMPLEX),
    ROW(MPI_CXX_FLOAT_COMPLEX, COMPLEX),
    ROW(MPI_CXX_DOUBLE_COMPLEX, COMPLEX),
    ROW(MPI_CXX_LONG_DOUBLE_COMPLEX, LONG_COMPLEX),
    ROW(MPI_COMPLEX, COMPLEX),
    ROW(MPI_DOUBLE_COMPLEX, COMPLEX),
    ROW(MPI_COMPLEX8, COMPLEX),
    ROW(MPI_COMPLEX16, COMPLEX),
    ROW(MPI_COMPLEX32, COMPLEX),
    ROW(MPI_C_BOOL, BOOL),
    ROW(MPI_CXX_BOOL, BOOL),
    ROW(MPI_LOGICAL, LOGICAL),
    ROW(MPI_2INT, INTEGERS),
    ROW(MPI_2INTEGER, INTEGERS),
    ROW(MPI_2REAL, FLOATINGS),
    ROW(MPI_2DOUBLE_PRECISION, FLOATINGS),
};

/* Predefined, with handles of another kind. */
static const struct {
    MPI_Datatype type;
    enum cx_dtype dtype;
} pairs[] = {
    {MPI_FLOAT_INT, CX_DT_F32_I32},
    {MPI_DOUBLE_INT, CX_DT_F64_I32},
    {MPI_LONG_INT, sizeof(long) == 8 ? CX_DT_I64_I32 : CX_DT_I32_I32},
    {MPI_SHORT_INT, CX_DT_I16_I32},
    {MPI_LONG_DOUBLE_INT, CX_HAVE_F80 ? CX_DT_F80_I32 : CX_DT_NONE},
};

static const struct {
    MPI_Op mpi;
    enum cx_redop op;
} ops[] = {
    {MPI_SUM, CX_SUM},   {MPI_PROD, CX_PROD},     {MPI_MIN, CX_MIN},
    {MPI_MAX, CX_MAX},   {MPI_LAND, CX_LAND},     {MPI_LOR, CX_LOR},
    {MPI_LXOR, CX_LXOR}, {MPI_BAND, CX_BAND},     {MPI_BOR, CX_BOR},
    {MPI_BXOR, CX_BXOR}, {MPI_MINLOC, CX_MINLOC}, {MPI_MAXLOC, CX_MAXLOC},
};

static const struct {
    MPI_Datatype mpi;
    enum cx_dtype dtype;
} by_dtype[] = {
    {MPI_BYTE, CX_DT_BYTE},
    {MPI_INT8_T, CX_DT_I8},
    {MPI_INT16_T, CX_DT_I16},
    {MPI_INT32_T, CX_DT_I32},
    {MPI_INT64_T, CX_DT_I64},
    {MPI_UINT8_T, CX_DT_U8},
    {MPI_UINT16_T, CX_DT_U16},
    {MPI_UINT32_T, CX_DT_U32},
    {MPI_UINT64_T, CX_DT_U64},
    {MPI_FLOAT, CX_DT_F32},
    {MPI_DOUBLE, CX_DT_F64},
    {MPI_C_FLOAT_COMPLEX, CX_DT_C64},
    {MPI_C_DOUBLE_COMPLEX, CX_DT_C128},
    {MPI_LONG_DOUBLE, CX_DT_F80},
    {MPI_C_LONG_DOUBLE_COMPLEX, CX_DT_CF80},
    {MPI_C_BOOL, CX_DT_BOOL},
    {MPI_LOGICAL, CX_DT_LOGICAL},
    {MPI_FLOAT_INT, CX_DT_F32_I32},
    {MPI_DOUBLE_INT, CX_DT_F64_I32},
    {MPI_LONG_DOUBLE_INT, CX_DT_F80_I32},
    {MPI_SHORT_INT, CX_DT_I16_I32},
    {MPI_2INT, CX_DT_I32_I32},
    {MPI_LONG_INT, CX_DT_I64_I32},
    {MPI_2REAL, CX_DT_F32_F32},
    {MPI_2DOUBLE_PRECISION, CX_DT_F64_F64},
    /* Not those that MPI need not have: MPICH 4.0.2 takes REAL16 for long
     * double, has no operation on COMPLEX32 and ends the job on FLOAT16. What
     * MPI cannot be asked is never left to it. */
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static enum cx_dtype pair_type(MPI_Datatype type)
{
    size_t i;

    for (i = 0; i < COUNT(pairs); i++) {
        if (pairs[i].type == type)
            return pairs[i].dtype;
    }
    return CX_DT_NONE;
}

int cx_type_basic(MPI_Datatype type)
{
    return (uint32_t)type >> 30 == BUILTIN || pair_type(type) != CX_DT_NONE;
}

static enum cx_dtype by_size(enum class class, unsigned size)
{
    static const enum cx_dtype table[NCLASSES][33] = {
        [BYTES] = {[1] = CX_DT_BYTE},
        [SIGNED] =
            {[1] = CX_DT_I8, [2] = CX_DT_I16, [4] = CX_DT_I32, [8] = CX_DT_I64},
        [UNSIGNED] =
            {[1] = CX_DT_U8, [2] = CX_DT_U16, [4] = CX_DT_U32, [8] = CX_DT_U64},
        [FLOATING] = {[2] = CX_DT_F16,
                      [4] = CX_DT_F32,
                      [8] = CX_DT_F64,
                      [16] = CX_DT_F128},
        [LONG_FLOATING] =
            {[8] = CX_DT_F64, [16] = CX_HAVE_F80 ? CX_DT_F80 : CX_DT_F128},
        [COMPLEX] = {[8] = CX_DT_C64, [16] = CX_DT_C128, [32] = CX_DT_CF128},
        [LONG_COMPLEX] =
            {[16] = CX_DT_C128, [32] = CX_HAVE_F80 ? CX_DT_CF80 : CX_DT_CF128},
        [BOOL] = {[1] = CX_DT_BOOL},
        [LOGICAL] = {[4] = CX_DT_LOGICAL},
        [INTEGERS] = {[8] = CX_DT_I32_I32},
        [FLOATINGS] = {[8] = CX_DT_F32_F32, [16] = CX_DT_F64_F64},
    };

    return size <= 32 ? table[class][size] : CX_DT_NONE;
}

/* What MPI_Type_create_f90_real and its kin return: the kind of number that was
 * asked for, under a handle of its own. */
static enum cx_dtype f90_type(MPI_Datatype type)
{
    struct cx_contents made;
    enum class class = UNKNOWN;
    MPI_Count size = 0;

    if (!cx_contents_envelope(type, &made) ||
        cx_mpi.Type_size_x(type, &size) != MPI_SUCCESS)
        return CX_DT_NONE;
    if (made.combiner == MPI_COMBINER_F90_INTEGER)
        class = SIGNED;
    else if (made.combiner == MPI_COMBINER_F90_REAL && size <= 8)
        class = FLOATING;
    else if (made.combiner == MPI_COMBINER_F90_COMPLEX && size <= 16)
        class = COMPLEX;
    return by_size(class, (unsigned)size);
}

enum cx_dtype cx_dtype_of(MPI_Datatype type)
{
    uint32_t handle = (uint32_t)type;
    enum cx_dtype pair;

    if (type == MPI_DATATYPE_NULL)
        return CX_DT_NONE;
    if (handle >> 30 == BUILTIN) {
        if (builtin[handle & 0xff].type != type)
            return CX_DT_NONE;
        return by_size(builtin[handle & 0xff].class, handle >> 8 & 0xff);
    }
    pair = pair_type(type);
    return pair != CX_DT_NONE ? pair : f90_type(type);
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
