/* SPDX-License-Identifier: BSD-3-Clause */
/* shim_buffers.h - what shim_buffers.c has seen in this process. */
#ifndef SHIM_BUFFERS_H
#define SHIM_BUFFERS_H

#include <stdint.h>

struct mt_buffer_counts {
    uint64_t calls;   /* of collectives with two buffers that reached MPI */
    uint64_t devices; /* buffers of these in device memory */
};

typedef void (*mt_buffer_counts_fn)(struct mt_buffer_counts *out);

#endif
