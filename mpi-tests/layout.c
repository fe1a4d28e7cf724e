/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.c - derived types of twelve ints. */
#include "layout.h"

#include "mt.h"

#define I ((ptrdiff_t)sizeof(int))

enum {
    INTS,      /* 12 x INT */
    CONTIG12,  /* 1 x contiguous(12) */
    CONTIG4,   /* 3 x contiguous(4) */
    BYTES,     /* 48 x BYTE */
    VECTOR,    /* 4 blocks of 3, stride 5 */
    RESIZED,   /* 12 x an int that is 3 ints wide */
    SUBARRAY,  /* 4 x 3 of 6 x 5 from (1, 1) on: the first bytes are unused */
    BACKWARDS, /* hindexed, the later block first */
    STRUCT,    /* 4 ints, a gap, 8 ints, an extent with a tail */
    NEGATIVE,  /* hindexed that begins before the buffer address */
    NESTED     /* 2 x a wider vector of vectors of two ints */
};

const char *layout_name(int which)
{
    static const char *const name[LAYOUT_N] = {
        "ints",   "contiguous(12)", "contiguous(4)", "bytes",
        "vector", "resized",        "subarray",      "backwards",
        "struct", "negative",       "nested"};

    return name[which];
}

static void make_subarray(MPI_Datatype *type)
{
    const int sizes[2] = {6, 5}, part[2] = {4, 3}, start[2] = {1, 1};

    MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_INT, type);
}

static void make_indexed(MPI_Datatype *type, MPI_Aint first, MPI_Aint second)
{
    const int lengths[2] = {6, 6};
    const MPI_Aint at[2] = {first, second};
    MPI_Datatype bare;

    MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &bare);
    MPI_Type_create_resized(bare, 0, 20 * I, type);
    MPI_Type_free(&bare);
}

static void make_struct(MPI_Datatype *type)
{
    const int lengths[2] = {4, 8};
    const MPI_Aint at[2] = {0, 7 * I};
    const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Datatype bare;

    MPI_Type_create_struct(2, lengths, at, types, &bare);
    MPI_Type_create_resized(bare, 0, 17 * I, type);
    MPI_Type_free(&bare);
}

static void make_nested(MPI_Datatype *type)
{
    MPI_Datatype pairs, bare;

    MPI_Type_vector(3, 2, 3, MPI_INT, &pairs);
    MPI_Type_create_resized(pairs, 0, 11 * I, &bare);
    MPI_Type_free(&pairs);
    MPI_Type_contiguous(1, bare, type);
    MPI_Type_free(&bare);
}

void layout_make(int which, MPI_Datatype *type, int *count)
{
    static const int counts[LAYOUT_N] = {12, 1, 3, 48, 1, 12, 1, 1, 1, 1, 2};

    *count = counts[which];
    if (which == INTS || which == BYTES) {
        MPI_Type_dup(which == INTS ? MPI_INT : MPI_BYTE, type);
        return;
    }
    if (which == CONTIG12 || which == CONTIG4)
        MPI_Type_contiguous(which == CONTIG12 ? 12 : 4, MPI_INT, type);
    else if (which == VECTOR)
        MPI_Type_vector(4, 3, 5, MPI_INT, type);
    else if (which == RESIZED)
        MPI_Type_create_resized(MPI_INT, 0, 3 * I, type);
    else if (which == SUBARRAY)
        make_subarray(type);
    else if (which == BACKWARDS)
        make_indexed(type, 11 * I, 1 * I);
    else if (which == STRUCT)
        make_struct(type);
    else if (which == NEGATIVE)
        make_indexed(type, -4 * I, 8 * I);
    else
        make_nested(type);
    MPI_Type_commit(type);
}

void layout_free(MPI_Datatype *type)
{
    MPI_Type_free(type);
}

/* In ints, inside one unit. */
static ptrdiff_t inside(int which, ptrdiff_t k)
{
    switch (which) {
    case VECTOR:
        return k / 3 * 5 + k % 3;
    case RESIZED:
        return k * 3;
    case SUBARRAY:
        return (k / 3 + 1) * 5 + k % 3 + 1;
    case BACKWARDS:
        return k < 6 ? 11 + k : 1 + (k - 6);
    case STRUCT:
        return k < 4 ? k : 7 + (k - 4);
    case NEGATIVE:
        return k < 6 ? -4 + k : 8 + (k - 6);
    case NESTED:
        return k / 6 * 11 + k % 6 / 2 * 3 + k % 2;
    default:
        return k;
    }
}

static ptrdiff_t unit_extent(int which)
{
    static const ptrdiff_t ints[LAYOUT_N] = {12, 12, 12, 12, 18, 36,
                                             30, 20, 17, 20, 22};

    return ints[which];
}

ptrdiff_t layout_offset(int which, size_t k)
{
    ptrdiff_t unit = (ptrdiff_t)(k / LAYOUT_INTS);

    return I * (unit * unit_extent(which) +
                inside(which, (ptrdiff_t)(k % LAYOUT_INTS)));
}

size_t layout_reach(int which, size_t units)
{
    return (size_t)I * (units * (size_t)unit_extent(which) + 40);
}

int layout_has_holes(int which)
{
    return which >= VECTOR;
}
