/* SPDX-License-Identifier: BSD-3-Clause */
/* rtypes.c - the table of types, and their inputs. */
#include "rtypes.h"

#include <stdint.h>
#include <string.h>

#include "mt.h"

__extension__ typedef _Float128 quad;

#define SIGNED(type, size)                                                     \
    {                                                                          \
        type, RT_C_INT,                                                        \
        {                                                                      \
#type, OR_NUMBER, {OR_SIGNED, size }, {0 }, 0, size                \
        }                                                                      \
    }
#define UNSIGNED(type, size)                                                   \
    {                                                                          \
        type, RT_C_INT,                                                        \
        {                                                                      \
#type, OR_NUMBER, {OR_UNSIGNED, size }, {0 }, 0, size              \
        }                                                                      \
    }
#define INTEGER(type, size)                                                    \
    {                                                                          \
        type, RT_F_INT,                                                        \
        {                                                                      \
#type, OR_NUMBER, {OR_SIGNED, size }, {0 }, 0, size                \
        }                                                                      \
    }
#define REAL(type, class, size)                                                \
    {                                                                          \
        type, RT_REAL,                                                         \
        {                                                                      \
#type, OR_NUMBER, {class, size }, {0 }, 0, size                    \
        }                                                                      \
    }
#define COMPLEX(type, class, size)                                             \
    {                                                                          \
        type, RT_COMPLEX,                                                      \
        {                                                                      \
#type, OR_COMPLEX, {class, size }, {0 }, 0, 2 * (size)             \
        }                                                                      \
    }
#define TRUTH(type, size)                                                      \
    {                                                                          \
        type, RT_TRUTH,                                                        \
        {                                                                      \
#type, OR_LOGICAL, {OR_UNSIGNED, size }, {0 }, 0, size             \
        }                                                                      \
    }
#define PAIR(type, class, size, iclass, isize, at, extent)                     \
    {                                                                          \
        type, RT_PAIR,                                                         \
        {                                                                      \
#type, OR_PAIR, {class, size }, {iclass, isize }, at, extent       \
        }                                                                      \
    }

static const struct rtype named[] = {
    SIGNED(MPI_SIGNED_CHAR, 1),
    SIGNED(MPI_SHORT, 2),
    SIGNED(MPI_INT, 4),
    SIGNED(MPI_LONG, 8),
    SIGNED(MPI_LONG_LONG, 8),
    SIGNED(MPI_INT8_T, 1),
    SIGNED(MPI_INT16_T, 2),
    SIGNED(MPI_INT32_T, 4),
    SIGNED(MPI_INT64_T, 8),
    SIGNED(MPI_AINT, 8),
    SIGNED(MPI_OFFSET, 8),
    SIGNED(MPI_COUNT, 8),
    UNSIGNED(MPI_UNSIGNED_CHAR, 1),
    UNSIGNED(MPI_UNSIGNED_SHORT, 2),
    UNSIGNED(MPI_UNSIGNED, 4),
    UNSIGNED(MPI_UNSIGNED_LONG, 8),
    UNSIGNED(MPI_UNSIGNED_LONG_LONG, 8),
    UNSIGNED(MPI_UINT8_T, 1),
    UNSIGNED(MPI_UINT16_T, 2),
    UNSIGNED(MPI_UINT32_T, 4),
    UNSIGNED(MPI_UINT64_T, 8),
    INTEGER(MPI_INTEGER, 4),
    INTEGER(MPI_INTEGER1, 1),
    INTEGER(MPI_INTEGER2, 2),
    INTEGER(MPI_INTEGER4, 4),
    INTEGER(MPI_INTEGER8, 8),
    REAL(MPIX_C_FLOAT16, OR_FLOAT, 2),
    REAL(MPI_FLOAT, OR_FLOAT, 4),
    REAL(MPI_DOUBLE, OR_FLOAT, 8),
    REAL(MPI_LONG_DOUBLE, OR_X87, 16),
    REAL(MPI_REAL, OR_FLOAT, 4),
    REAL(MPI_DOUBLE_PRECISION, OR_FLOAT, 8),
    REAL(MPI_REAL4, OR_FLOAT, 4),
    REAL(MPI_REAL8, OR_FLOAT, 8),
    REAL(MPI_REAL16, OR_FLOAT, 16),
    COMPLEX(MPI_C_FLOAT_COMPLEX, OR_FLOAT, 4),
    COMPLEX(MPI_C_DOUBLE_COMPLEX, OR_FLOAT, 8),
    COMPLEX(MPI_C_LONG_DOUBLE_COMPLEX, OR_X87, 16),
    COMPLEX(MPI_CXX_FLOAT_COMPLEX, OR_FLOAT, 4),
    COMPLEX(MPI_CXX_DOUBLE_COMPLEX, OR_FLOAT, 8),
    COMPLEX(MPI_CXX_LONG_DOUBLE_COMPLEX, OR_X87, 16),
    COMPLEX(MPI_COMPLEX, OR_FLOAT, 4),
    COMPLEX(MPI_DOUBLE_COMPLEX, OR_FLOAT, 8),
    COMPLEX(MPI_COMPLEX8, OR_FLOAT, 4),
    COMPLEX(MPI_COMPLEX16, OR_FLOAT, 8),
    COMPLEX(MPI_COMPLEX32, OR_FLOAT, 16),
    TRUTH(MPI_C_BOOL, 1),
    TRUTH(MPI_CXX_BOOL, 1),
    TRUTH(MPI_LOGICAL, 4),
    {MPI_BYTE, RT_BYTES, {"MPI_BYTE", OR_NUMBER, {OR_UNSIGNED, 1}, {0}, 0, 1}},
    PAIR(MPI_FLOAT_INT, OR_FLOAT, 4, OR_SIGNED, 4, 4, 8),
    PAIR(MPI_DOUBLE_INT, OR_FLOAT, 8, OR_SIGNED, 4, 8, 16),
    PAIR(MPI_LONG_DOUBLE_INT, OR_X87, 16, OR_SIGNED, 4, 16, 32),
    PAIR(MPI_SHORT_INT, OR_SIGNED, 2, OR_SIGNED, 4, 4, 8),
    PAIR(MPI_2INT, OR_SIGNED, 4, OR_SIGNED, 4, 4, 8),
    PAIR(MPI_LONG_INT, OR_SIGNED, 8, OR_SIGNED, 4, 8, 16),
    PAIR(MPI_2INTEGER, OR_SIGNED, 4, OR_SIGNED, 4, 4, 8),
    PAIR(MPI_2REAL, OR_FLOAT, 4, OR_FLOAT, 4, 4, 8),
    PAIR(MPI_2DOUBLE_PRECISION, OR_FLOAT, 8, OR_FLOAT, 8, 8, 16),
};

enum { NNAMED = sizeof(named) / sizeof(named[0]) };

static struct rtype f90(MPI_Datatype mpi, enum rt_group group, const char *name,
                        size_t size)
{
    struct rtype t = {.mpi = mpi, .group = group};

    t.o.name = name;
    t.o.kind = group == RT_COMPLEX ? OR_COMPLEX : OR_NUMBER;
    t.o.value.class = group == RT_F_INT ? OR_SIGNED : OR_FLOAT;
    t.o.value.size = size;
    t.o.extent = group == RT_COMPLEX ? 2 * size : size;
    return t;
}

int rt_types(struct rtype *out)
{
    MPI_Datatype type;
    int n = NNAMED;

    memcpy(out, named, sizeof(named));
    MPI_Type_create_f90_integer(2, &type);
    out[n++] = f90(type, RT_F_INT, "selected_int_kind(2)", 1);
    MPI_Type_create_f90_integer(9, &type);
    out[n++] = f90(type, RT_F_INT, "selected_int_kind(9)", 4);
    MPI_Type_create_f90_integer(18, &type);
    out[n++] = f90(type, RT_F_INT, "selected_int_kind(18)", 8);
    MPI_Type_create_f90_real(6, 30, &type);
    out[n++] = f90(type, RT_REAL, "selected_real_kind(6)", 4);
    MPI_Type_create_f90_real(15, 300, &type);
    out[n++] = f90(type, RT_REAL, "selected_real_kind(15)", 8);
    MPI_Type_create_f90_complex(6, 30, &type);
    out[n++] = f90(type, RT_COMPLEX, "complex of 6 digits", 4);
    MPI_Type_create_f90_complex(15, 300, &type);
    out[n++] = f90(type, RT_COMPLEX, "complex of 15 digits", 8);
    return n;
}

const enum or_op *rt_ops(enum rt_group group)
{
    static const enum or_op ops[RT_NGROUPS][OR_NOPS] = {
        [RT_C_INT] = {OR_SUM, OR_PROD, OR_MIN, OR_MAX, OR_LAND, OR_LOR, OR_LXOR,
                      OR_BAND, OR_BOR, OR_BXOR, OR_NOPS},
        [RT_F_INT] = {OR_SUM, OR_PROD, OR_MIN, OR_MAX, OR_BAND, OR_BOR, OR_BXOR,
                      OR_NOPS},
        [RT_REAL] = {OR_SUM, OR_PROD, OR_MIN, OR_MAX, OR_NOPS},
        [RT_COMPLEX] = {OR_SUM, OR_PROD, OR_NOPS},
        [RT_TRUTH] = {OR_LAND, OR_LOR, OR_LXOR, OR_NOPS},
        [RT_BYTES] = {OR_BAND, OR_BOR, OR_BXOR, OR_NOPS},
        [RT_PAIR] = {OR_MINLOC, OR_MAXLOC, OR_NOPS},
    };

    return ops[group];
}

MPI_Op rt_mpi_op(enum or_op op)
{
    const MPI_Op mpi[OR_NOPS] = {
        [OR_SUM] = MPI_SUM,       [OR_PROD] = MPI_PROD,
        [OR_MIN] = MPI_MIN,       [OR_MAX] = MPI_MAX,
        [OR_LAND] = MPI_LAND,     [OR_LOR] = MPI_LOR,
        [OR_LXOR] = MPI_LXOR,     [OR_BAND] = MPI_BAND,
        [OR_BOR] = MPI_BOR,       [OR_BXOR] = MPI_BXOR,
        [OR_MINLOC] = MPI_MINLOC, [OR_MAXLOC] = MPI_MAXLOC,
    };

    return mpi[op];
}

/* --- integers --------------------------------------------------------------
 */

/* No bit, all bits, the top bit, all others, small, anything. */
static void put_int(size_t size, uint64_t h, void *at)
{
    uint64_t v = h >> 8, top = (uint64_t)1 << (8 * size - 1);

    switch (h % 8) {
    case 0:
    case 1:
        v = 0;
        break;
    case 2:
        v = ~(uint64_t)0;
        break;
    case 3:
        v = top;
        break;
    case 4:
        v = top - 1;
        break;
    case 5:
        v = v % 5;
        break;
    default:
        break;
    }
    memcpy(at, &v, size);
}

/* --- floats ----------------------------------------------------------------
 */

/* What is written in the bytes of a format: sign and exponent at the top, the
 * rest of the significand below. */
static void put_bits(const struct or_part *part, int negative, int ones,
                     uint64_t fraction, void *at)
{
    static const int exponent_bits[17] = {
        [2] = 5, [4] = 8, [8] = 11, [10] = 15, [16] = 15};
    unsigned char bytes[16] = {0};
    size_t size = part->class == OR_X87 ? 10 : part->size;
    int e = exponent_bits[size];

    memcpy(bytes, &fraction, size < 8 ? size : 8);
    for (int k = 0; ones && k < e; k++) /* an exponent of ones */
        bytes[size - 1 - (size_t)(k + 1) / 8] |=
            (unsigned char)(0x80 >> (k + 1) % 8);
    bytes[size - 1] |= negative ? 0x80 : 0;
    if (part->class == OR_X87 && ones) /* the leading bit, stored */
        bytes[7] |= 0x80;
    memcpy(at, bytes, size);
}

static void put_number(const struct or_part *part, double v, void *at)
{
    long double x = v;
    quad q = v;
    float f = (float)v;
    uint16_t sign = v < 0 ? 0x8000 : 0, h = sign;

    if (v < 0)
        v = -v;
    if (part->class == OR_X87) {
        memcpy(at, &x, 10);
    } else if (part->size == 16) {
        memcpy(at, &q, 16);
    } else if (part->size == 8) {
        v = sign ? -v : v;
        memcpy(at, &v, 8);
    } else if (part->size == 4) {
        memcpy(at, &f, 4);
    } else { /* a whole number below 2048, or 0 */
        int e = 0;

        while (v > 0 && v < 1024) {
            v *= 2;
            e++;
        }
        if (v > 0)
            h |= (uint16_t)((25 - e) << 10 | ((int)v & 1023));
        memcpy(at, &h, 2);
    }
}

/* A quiet or signalling NaN of either sign with a payload, an infinity, a zero
 * or, last, a subnormal number. */
static void put_special(const struct or_part *part, uint64_t h, int kinds,
                        void *at)
{
    int negative = (int)(h >> 8 & 1);
    size_t size = part->class == OR_X87 ? 10 : part->size;
    uint64_t payload = 1 + (h >> 9) % 7;

    switch (h % (uint64_t)kinds) {
    case 0:
        put_bits(part, negative, 1, payload, at);
        break;
    case 1:
        put_bits(part, negative, 1, payload, at);
        /* The quiet bit: below the exponent, or the stored leading bit. */
        ((unsigned char *)at)[size == 2    ? 1
                              : size == 10 ? 7
                              : size == 16 ? 13
                                           : size - 2] |=
            size == 2                 ? 0x02
            : size == 10 || size == 4 ? 0x40
            : size == 16              ? 0x80
                                      : 0x08;
        break;
    case 2:
        put_bits(part, negative, 1, 0, at);
        break;
    case 3:
        put_bits(part, negative, 0, 0, at);
        break;
    default:
        put_bits(part, negative, 0, payload, at);
    }
}

static double whole(uint64_t h, int most)
{
    int v = 1 + (int)(h % (uint64_t)most);

    return h >> 20 & 1 ? -v : v;
}

/* Sums and products that are the same in any order: whole numbers; zeros; NaN,
 * infinities and whole numbers; subnormal numbers (with whole factors: two of
 * them give a zero). */
static void put_exact(const struct or_part *part, enum or_op op, uint64_t h,
                      size_t i, void *at)
{
    switch (i % 4) {
    case 0:
        put_number(part, whole(h, op == OR_SUM ? 100 : 3), at);
        break;
    case 1:
        put_bits(part, (int)(h >> 8 & 1), 0, 0, at);
        break;
    case 2:
        if (h >> 30 & 1)
            put_special(part, h, 4, at);
        else
            put_number(part, whole(h, 2), at);
        break;
    default:
        if (op == OR_PROD && (h >> 30 & 1))
            put_number(part, whole(h, 2), at);
        else
            put_bits(part, (int)(h >> 8 & 1), 0, 1 + h % 7, at);
    }
}

static void put_real(const struct or_part *part, enum or_op op, uint64_t h,
                     size_t i, void *at)
{
    if (op == OR_SUM || op == OR_PROD)
        put_exact(part, op, h, i, at);
    else if (i % 3 == 0)
        put_special(part, h, 5, at);
    else if (i % 3 == 1)
        put_bits(part, (int)(h & 1), 0, 0, at); /* zeros */
    else
        put_number(part, whole(h, 4), at);
}

/* Products: 2+i times a power of i, no part of whose products is a zero, whose
 * sign would depend on the order; or, with a NaN in it, NaN in both parts. */
static void put_complex(const struct or_part *part, enum or_op op, uint64_t h,
                        size_t i, char *at)
{
    static const double re[] = {2, -1, -2, 1}, im[] = {1, 2, -1, -2};

    if (op == OR_SUM) {
        put_exact(part, op, h, i, at);
        put_exact(part, op, h >> 3, i + 1, at + part->size);
        return;
    }
    put_number(part, re[h & 3], at);
    put_number(part, im[h & 3], at + part->size);
    if (i % 5 == 0 && h % 3 == 0)
        put_special(part, h & ~(uint64_t)0xff, 2, at);
}

void rt_put(const struct rtype *type, enum or_op op, int rank, size_t i,
            void *at)
{
    uint64_t h = mt_hash((uint64_t)rank * 31 + (uint64_t)op, i);
    unsigned char truth = (unsigned char)(h % 3 != 0);
    const struct or_part *part = &type->o.value;
    char *index = (char *)at + type->o.index_at;

    switch (type->group) {
    case RT_REAL:
        put_real(part, op, h, i, at);
        break;
    case RT_COMPLEX:
        put_complex(part, op, h, i, at);
        break;
    case RT_TRUTH:
        memset(at, 0, part->size);
        memcpy(at, &truth, 1);
        break;
    case RT_PAIR:
        if (part->class == OR_SIGNED)
            put_int(part->size, h, at);
        else
            put_real(part, OR_MIN, h, i, at);
        if (type->o.index.class == OR_SIGNED)
            put_int(type->o.index.size, h >> 40, index);
        else
            put_number(&type->o.index, whole(h >> 13, 5), index);
        break;
    default:
        put_int(part->size, h, at);
    }
}

/* --- memory ----------------------------------------------------------------
 */

void rt_pattern(unsigned char *out, size_t nbytes, unsigned seed)
{
    for (size_t i = 0; i < nbytes; i++)
        out[i] = (unsigned char)(0x80 + seed * 16 + i % 13);
}

void rt_paint(const struct or_type *type, const unsigned char *value, size_t n,
              unsigned seed, unsigned char *out)
{
    rt_pattern(out, n * type->extent, seed);
    for (size_t i = 0; i < n * type->extent; i++)
        if (!or_padding(type, i % type->extent))
            out[i] = value[i];
}

int rt_inside_x87(const struct or_type *type, size_t at)
{
    return type->value.class == OR_X87 &&
           at < (type->kind == OR_COMPLEX ? 32 : 16);
}
