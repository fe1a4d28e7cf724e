/* SPDX-License-Identifier: BSD-3-Clause */
/* counts.h - what the two counting preloads have seen in this process.
 *
 * shim_ucp.c counts UCX sends that come from the engine library, shim_mpi.c
 * counts collectives that reach the MPI library. Both stand outside Coax. */
#ifndef COUNTS_H
#define COUNTS_H

#include <stdint.h>

enum { MT_ALLREDUCE, MT_BCAST, MT_ALLGATHER, MT_NFUNCS };

struct mt_ucp_counts {
    uint64_t sends, bytes; /* ucp_tag_send_nbx called by libcoax-engine.so */
    uint64_t others;       /* the same call from anywhere else */
    uint64_t endpoints;    /* opened by the engine and not closed by it */
};

struct mt_mpi_counts {
    uint64_t calls[MT_NFUNCS]; /* that reached MPI, plain and _c forms */
};

typedef void (*mt_ucp_counts_fn)(struct mt_ucp_counts *out);
typedef void (*mt_mpi_counts_fn)(struct mt_mpi_counts *out);

/* Both since the start of the process; end the job when the preload is not
 * there. */
void mt_counts_ucp(struct mt_ucp_counts *out);
void mt_counts_mpi(struct mt_mpi_counts *out);
/* 1 when both preloads are there. */
int mt_counts_present(void);

#endif
