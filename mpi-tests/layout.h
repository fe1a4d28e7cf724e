/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h - derived types of ints together with a second, independent account
 * of where each int lies: tests compare the two.
 *
 * One unit of every layout holds LAYOUT_INTS ints, so that any two of them have
 * the same signature. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <mpi.h>
#include <stddef.h>

#define LAYOUT_INTS 12
enum { LAYOUT_N = 11 };

/* The type and how many of it make up one unit; the caller frees the type with
 * layout_free. */
void layout_make(int which, MPI_Datatype *type, int *count);
void layout_free(MPI_Datatype *type);
const char *layout_name(int which);
/* Byte offset of int k (k may run over many units) from the buffer address;
 * may be negative. */
ptrdiff_t layout_offset(int which, size_t k);
/* A number of bytes that `units` units stay within, on either side of the
 * buffer address. */
size_t layout_reach(int which, size_t units);
/* 1 when there are bytes between the ints that must stay as they are. */
int layout_has_holes(int which);

#endif
