/* SPDX-License-Identifier: BSD-3-Clause */
/* region.h - a collective's buffer in blocks, and its mirror in host memory. */
#ifndef CX_REGION_H
#define CX_REGION_H

#include "pmpi/coll.h"

struct cx_blocks {
    struct cx_buffer *block; /* owned; those that have bytes */
    size_t n;
};

/* Zeroed before use; ended by cx_region_close. */
struct cx_region {
    struct cx_blocks in;  /* what MPI reads */
    struct cx_blocks out; /* what MPI writes */
    uint64_t device_bytes;
    /* private */
    uintptr_t low, high; /* of all blocks */
    size_t described, size;
    void *room;
    char *host; /* stands for `low` */
    int mapped;
};

/* The blocks of a side, at `base`. CX_DECLINED: MPI must report an error. */
CX_MUST enum cx_status cx_blocks_read(struct cx_blocks *list,
                                      const struct cx_coll_call *call,
                                      const struct cx_side *side, cx_reg base);
/* Asks for the memory of all blocks. */
CX_MUST enum cx_status cx_region_locate(struct cx_region *region);
/* With blocks on a GPU: a mirror that holds what MPI reads, and the address to
 * give MPI in the place of `*base`. */
CX_MUST enum cx_status cx_region_open(struct cx_region *region, cx_reg *base);
/* Brings back what MPI has written, if `copy_out`, and frees everything. */
CX_MUST enum cx_status cx_region_close(struct cx_region *region, int copy_out);

#endif
