/* SPDX-License-Identifier: BSD-3-Clause */
/* alloc.c - zeroed, counted allocation with fault injection for tests.
 *
 * Where the C library has no memory the kernel is asked: a rank that cannot
 * take part in a collective costs the whole job, so it is worth a second way.
 */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static atomic_long live;
static atomic_ulong fail_countdown;

static int must_fail(void)
{
    unsigned long left = atomic_load(&fail_countdown);

    while (left > 0) {
        if (atomic_compare_exchange_weak(&fail_countdown, &left, left - 1))
            return left == 1;
    }
    return 0;
}

#define ALIGN 64

/* In front of every block, ALIGN bytes long. */
struct head {
    size_t mapped; /* bytes to unmap; 0: from the heap */
};

/* `nbytes` with the head, zeroed. */
static struct head *get(size_t nbytes)
{
    struct head *head = aligned_alloc(ALIGN, nbytes);

    if (head != NULL)
        return memset(head, 0, nbytes);
    head = mmap(NULL, nbytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (head == MAP_FAILED)
        return NULL;
    head->mapped = nbytes;
    return head;
}

void *cx_alloc(size_t n, size_t size)
{
    size_t nbytes;
    struct head *head;

    if (cx_mul(n, size, &nbytes) != CX_OK || nbytes > SIZE_MAX - 2 * ALIGN ||
        must_fail())
        return NULL;
    nbytes = (nbytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    head = get((nbytes > 0 ? nbytes : ALIGN) + ALIGN);
    if (head == NULL)
        return NULL;
    atomic_fetch_add(&live, 1);
    return (char *)head + ALIGN;
}

void cx_free(void *ptr)
{
    struct head *head;

    if (ptr == NULL)
        return;
    head = (struct head *)(void *)((char *)ptr - ALIGN);
    atomic_fetch_sub(&live, 1);
    if (head->mapped > 0)
        munmap(head, head->mapped);
    else
        free(head);
}

size_t cx_alloc_class(size_t nbytes)
{
    const size_t large = (size_t)1 << 20;
    size_t size = 4096;

    if (nbytes > large)
        return nbytes <= SIZE_MAX - large ? (nbytes + large - 1) / large * large
                                          : nbytes;
    while (size < nbytes)
        size *= 2;
    return size;
}

void cx_alloc_fail_at(unsigned long nth)
{
    atomic_store(&fail_countdown, nth);
}

long cx_alloc_live(void)
{
    return atomic_load(&live);
}

enum cx_status cx_mul(size_t a, size_t b, size_t *out)
{
    size_t product;

    if (__builtin_mul_overflow(a, b, &product))
        return CX_ERR_ARG;
    *out = product;
    return CX_OK;
}
