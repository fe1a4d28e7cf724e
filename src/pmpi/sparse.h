/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse.h - a buffer that lies in several memories, block by block.
 *
 * An image of the buffer's span in host memory, of which only the pages exist
 * that the type describes, and a list of the described sparse, each in one
 * memory. Cost: one MPI_Unpack of the buffer's size, a few system calls and the
 * touched pages; one question to the driver per allocation, and per 2 MiB of
 * host memory; one copy per run of equal blocks at one distance. */
#ifndef CX_SPARSE_H
#define CX_SPARSE_H

#include "pmpi/front.h"

struct cx_sparse_run {
    size_t at; /* in the span */
    size_t width, pitch, rows;
    struct cx_mem mem;
};

struct cx_sparse {
    char *image; /* owned: mapping of buf->span bytes */
    int fd;      /* owned: the file behind it */
    size_t span;
    struct cx_sparse_run *block; /* owned */
    size_t n, room;
    /* The answer of the last question holds in [known, known_end). */
    struct cx_mem mem;
    size_t known, known_end;
};

/* Errors have been logged. Nothing is open after one. */
CX_MUST enum cx_status cx_sparse_open(struct cx_sparse *sparse,
                                      const struct cx_buffer *buf);
void cx_sparse_close(struct cx_sparse *sparse);
/* All described bytes, between the buffer and an image of its span: this one or
 * another. */
CX_MUST enum cx_status cx_sparse_copy(const struct cx_sparse *sparse,
                                      const struct cx_buffer *buf, char *image,
                                      int to_host);

/* `*mixed`: does a buffer whose first and last byte are host memory, with
 * holes, lie on a GPU in between? Or cannot be told: then 1. */
CX_MUST enum cx_status cx_pieces_mixed(const struct cx_buffer *buf, int *mixed);

#endif
