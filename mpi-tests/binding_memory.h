/* SPDX-License-Identifier: BSD-3-Clause */
/* binding_memory.h - see binding_memory.c. */
#ifndef BINDING_MEMORY_H
#define BINDING_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void *bm_alloc(size_t nbytes);
void bm_write(void *dst, const void *src, size_t nbytes);
void bm_read(void *dst, const void *src, size_t nbytes);

#ifdef __cplusplus
}
#endif

/* All binding programs reduce and broadcast N doubles and gather BLOCK of each
 * rank, so that a call of a function costs as many messages in each. */
#define BINDING_N 3000
#define BINDING_BLOCK 500

#endif
