/* SPDX-License-Identifier: BSD-3-Clause */
/* types.c - names, sizes and legal combinations of types and operations. */
#include "base/types.h"

enum dtype_class {
    CLASS_OTHER,
    CLASS_BYTE,
    CLASS_INT,
    CLASS_FLOAT,
    CLASS_COMPLEX,
    CLASS_LOGICAL,
    CLASS_PAIR
};

static const struct {
    const char *name;
    size_t size;
    enum dtype_class class;
} dtypes[CX_NDTYPES] = {
    [CX_DT_NONE] = {"none", 0, CLASS_OTHER},
    [CX_DT_BYTE] = {"byte", 1, CLASS_BYTE},
    [CX_DT_I8] = {"i8", 1, CLASS_INT},
    [CX_DT_I16] = {"i16", 2, CLASS_INT},
    [CX_DT_I32] = {"i32", 4, CLASS_INT},
    [CX_DT_I64] = {"i64", 8, CLASS_INT},
    [CX_DT_U8] = {"u8", 1, CLASS_INT},
    [CX_DT_U16] = {"u16", 2, CLASS_INT},
    [CX_DT_U32] = {"u32", 4, CLASS_INT},
    [CX_DT_U64] = {"u64", 8, CLASS_INT},
    [CX_DT_F32] = {"f32", 4, CLASS_FLOAT},
    [CX_DT_F64] = {"f64", 8, CLASS_FLOAT},
    [CX_DT_C64] = {"c64", 8, CLASS_COMPLEX},
    [CX_DT_C128] = {"c128", 16, CLASS_COMPLEX},
    [CX_DT_F16] = {"f16", 2, CLASS_FLOAT},
    [CX_DT_F80] = {"f80", 16, CX_HAVE_F80 ? CLASS_FLOAT : CLASS_OTHER},
    [CX_DT_F128] = {"f128", 16, CLASS_FLOAT},
    [CX_DT_CF80] = {"cf80", 32, CX_HAVE_F80 ? CLASS_COMPLEX : CLASS_OTHER},
    [CX_DT_CF128] = {"cf128", 32, CLASS_COMPLEX},
    [CX_DT_BOOL] = {"bool", 1, CLASS_LOGICAL},
    [CX_DT_LOGICAL] = {"logical", 4, CLASS_LOGICAL},
    [CX_DT_F32_I32] = {"f32_i32", 8, CLASS_PAIR},
    [CX_DT_F64_I32] = {"f64_i32", 12, CLASS_PAIR},
    [CX_DT_F80_I32] = {"f80_i32", 20, CX_HAVE_F80 ? CLASS_PAIR : CLASS_OTHER},
    [CX_DT_I16_I32] = {"i16_i32", 6, CLASS_PAIR},
    [CX_DT_I32_I32] = {"i32_i32", 8, CLASS_PAIR},
    [CX_DT_I64_I32] = {"i64_i32", 12, CLASS_PAIR},
    [CX_DT_F32_F32] = {"f32_f32", 8, CLASS_PAIR},
    [CX_DT_F64_F64] = {"f64_f64", 16, CLASS_PAIR},
};

static const char *const funcs[CX_NFUNCS] = {
    [CX_ALLREDUCE] = "allreduce",
    [CX_BCAST] = "bcast",
    [CX_ALLGATHER] = "allgather",
};

static const char *const redops[CX_NREDOPS] = {
    [CX_REDOP_NONE] = "none", [CX_SUM] = "sum",   [CX_PROD] = "prod",
    [CX_MIN] = "min",         [CX_MAX] = "max",   [CX_LAND] = "land",
    [CX_LOR] = "lor",         [CX_LXOR] = "lxor", [CX_BAND] = "band",
    [CX_BOR] = "bor",         [CX_BXOR] = "bxor", [CX_MINLOC] = "minloc",
    [CX_MAXLOC] = "maxloc",
};

const char *cx_func_str(enum cx_func func)
{
    return (unsigned)func < CX_NFUNCS ? funcs[func] : "?";
}

const char *cx_dtype_str(enum cx_dtype dtype)
{
    return (unsigned)dtype < CX_NDTYPES ? dtypes[dtype].name : "?";
}

const char *cx_redop_str(enum cx_redop op)
{
    return (unsigned)op < CX_NREDOPS ? redops[op] : "?";
}

size_t cx_dtype_size(enum cx_dtype dtype)
{
    return (unsigned)dtype < CX_NDTYPES ? dtypes[dtype].size : 0;
}

int cx_redop_valid(enum cx_redop op, enum cx_dtype dtype)
{
    enum dtype_class class;

    if ((unsigned)dtype >= CX_NDTYPES)
        return 0;
    class = dtypes[dtype].class;
    switch (op) {
    case CX_SUM:
    case CX_PROD:
        return class == CLASS_INT || class == CLASS_FLOAT ||
               class == CLASS_COMPLEX;
    case CX_MIN:
    case CX_MAX:
        return class == CLASS_INT || class == CLASS_FLOAT;
    case CX_LAND:
    case CX_LOR:
    case CX_LXOR:
        return class == CLASS_INT || class == CLASS_LOGICAL;
    case CX_BAND:
    case CX_BOR:
    case CX_BXOR:
        return class == CLASS_INT || class == CLASS_BYTE;
    case CX_MINLOC:
    case CX_MAXLOC:
        return class == CLASS_PAIR;
    default:
        return 0;
    }
}
