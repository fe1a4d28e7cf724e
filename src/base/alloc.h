/* SPDX-License-Identifier: BSD-3-Clause */
/* alloc.h - all memory of the library, so that tests can make it fail.
 *
 * Memory is zeroed (nothing of one communicator reaches another). */
#ifndef CX_ALLOC_H
#define CX_ALLOC_H

#include <stddef.h>

#include "base/status.h"

/* `n` elements of `size` bytes, zeroed, aligned to 64 bytes; NULL when memory
 * is short or n * size overflows. Owned by the caller until cx_free. */
void *cx_alloc(size_t n, size_t size) __attribute__((malloc));
void cx_free(void *ptr);

/* `nbytes` rounded up to one of a few sizes, for memory that is kept and lent
 * again: powers of two from 4 KiB to 1 MiB, then multiples of 1 MiB. A size
 * that is too large for that comes back as it is. */
size_t cx_alloc_class(size_t nbytes);

/* For tests: the `nth` allocation from now fails, once; 0 turns it off. */
void cx_alloc_fail_at(unsigned long nth);
/* Live blocks; for leak checks in tests. */
long cx_alloc_live(void);

/* `*out = a * b`, or CX_ERR_ARG when it does not fit; then `*out` is kept. */
CX_MUST enum cx_status cx_mul(size_t a, size_t b, size_t *out);

#endif
