/* SPDX-License-Identifier: BSD-3-Clause */
/* lower.h - one call's bytes and addresses: what a plan lacks.
 *
 * Lowering is local: memory kinds, in-place and addresses of this rank shape
 * where its blocks lie and what is copied to and from the GPU, never what goes
 * over the wire. */
#ifndef CX_LOWER_H
#define CX_LOWER_H

#include "coll/plan.h"

/* Where the blocks of one space are, for all tiles of a call. */
struct cx_place {
    char *user;       /* SRC, DST: the caller's buffer; borrowed for the call */
    char *slots;      /* shadow or scratch slots; NULL: used in place */
    size_t slot_size; /* bytes of one slot, 0 where none is needed */
};

struct cx_lowered {
    const struct cx_plan *plan; /* borrowed */
    size_t count, elsize;
    size_t ntiles;
    int depth;            /* slots; at most ntiles */
    int inplace;          /* SRC is DST (ARRAY: block `rank` of DST) */
    int staged[2];        /* SRC, DST pass through shadow slots */
    struct cx_mem mem[2]; /* of SRC, DST */
    struct cx_place place[CX_NSPACES];
};

/* One tile's share of each space. */
struct cx_tile_map {
    size_t first, count;      /* elements of the vector or of each block */
    size_t quot, rem;         /* PARTITION: of count by nblocks */
    char *base[CX_NSPACES];   /* first byte of the space's block 0 */
    size_t pitch[CX_NSPACES]; /* ARRAY: bytes from block to block */
};

/* Checks `run` and sizes the slots; `place[].slots` stay the caller's to set
 * to memory of depth * slot_size bytes. */
CX_MUST enum cx_status cx_lower_init(struct cx_lowered *low,
                                     const struct cx_plan *plan,
                                     const struct cx_run *run);

/* Maps tile `index`, which uses slot index % depth. */
void cx_lower_tile(const struct cx_lowered *low, size_t index,
                   struct cx_tile_map *map);

/* First byte of an operand; `*nbytes` gets its length. */
char *cx_lower_operand(const struct cx_lowered *low,
                       const struct cx_tile_map *map,
                       const struct cx_operand *x, size_t *nbytes);

/* A strided copy between user memory and a shadow slot. */
struct cx_transfer {
    char *user, *shadow;
    size_t width, rows, user_pitch, shadow_pitch;
};

/* The transfer of a run of blocks of SRC or DST of a staged space. */
void cx_lower_transfer(const struct cx_lowered *low,
                       const struct cx_tile_map *map, enum cx_space space,
                       const struct cx_run_of_blocks *run,
                       struct cx_transfer *out);

#endif
