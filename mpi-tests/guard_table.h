/* SPDX-License-Identifier: BSD-3-Clause */
/* guard_table.h - the functions of guard.c, written down from the MPI standard
 * and not from Coax's tables. */
#ifndef GUARD_TABLE_H
#define GUARD_TABLE_H

/* A letter for each argument: b buffer, n count, t type, r rank (MPI_PROC_NULL
 * where no data are wanted), g tag, C communicator, N one with a topology, q
 * request, s status, w window, D dynamic one, f file, o operation, i info, d
 * offset, z size in bytes, u unit, p partitions, P position, e data
 * representation, m message, R root, a counts, v and V displacements (V:
 * always MPI_Aint), T types, W new window. */
struct guarded {
    const char *name, *letters, *buffers;
    int plain_only; /* no form with _c */
};

extern const struct guarded guarded[];
extern const int nguarded;

#endif
