/* SPDX-License-Identifier: BSD-3-Clause */
/* range.c - memory that can only be the host's, told without the driver.
 *
 * The part of the calling thread's own stack that is in use, the heap of brk
 * and the program's own variables are mapped by the kernel for that purpose
 * alone and stay mapped while a buffer lies in them, so no device memory can
 * be there. What a call costs in a job that uses GPUs is mostly questions to
 * the driver; most small buffers lie here. Nothing is remembered about a
 * buffer: stack and heap are looked at afresh (design rule 12). */
#include "pmpi/front.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* [low, high); empty when unknown. */
struct range {
    uintptr_t low, high;
};

static int contains(const struct range *range, uintptr_t low, size_t nbytes)
{
    return low >= range->low && low < range->high &&
           nbytes <= range->high - low;
}

/* --- once per process: the program's variables, the start of the heap ------
 */

static struct range variables;
/* The C library's end of the heap. Not sbrk(0): UCX puts its own in the place
 * of that, with two system calls. */
extern char *__curbrk __attribute__((weak));
static uintptr_t heap_low; /* UINTPTR_MAX: unknown */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The first object is the program; its last writable segment has the
 * initialised and the zeroed variables in one piece. */
static int find_variables(struct dl_phdr_info *info, size_t size, void *arg)
{
    int i;

    (void)size;
    (void)arg;
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_W))
            continue;
        variables.low = info->dlpi_addr + segment->p_vaddr;
        variables.high = variables.low + segment->p_memsz;
    }
    return 1;
}

/* Field 47 of /proc/self/stat; the name of the program, field 2, may contain
 * anything, so counting starts behind its last parenthesis. */
static uintptr_t find_heap(void)
{
    enum { NAME = 2, START_BRK = 47 };
    FILE *file = fopen("/proc/self/stat", "re");
    char text[1024], *at;
    size_t n;
    int field;

    if (file == NULL)
        return UINTPTR_MAX;
    n = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[n] = '\0';
    at = strrchr(text, ')');
    for (field = NAME; at != NULL && field < START_BRK; field++)
        at = strchr(at + 1, ' ');
    n = at != NULL ? strtoull(at, NULL, 10) : 0;
    return n != 0 ? n : UINTPTR_MAX;
}

static void find_once(void)
{
    dl_iterate_phdr(find_variables, NULL);
    heap_low = find_heap();
}

/* --- once per thread: its stack --------------------------------------------
 */

/* Deeper than this the driver is asked: with an unlimited stack the kernel
 * puts other mappings where a very deep one would go. */
#define DEEPEST ((uintptr_t)64 << 20)

static _Thread_local struct {
    struct range range;
    int known; /* this, and what is found once per process */
} stack __attribute__((tls_model("initial-exec")));

static __attribute__((noinline)) void find_ranges(void)
{
    pthread_attr_t attr;
    void *low;
    size_t size;

    pthread_once(&once, find_once);
    stack.known = 1;
    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return;
    if (pthread_attr_getstack(&attr, &low, &size) == 0) {
        stack.range.high = (uintptr_t)low + size;
        stack.range.low = (uintptr_t)low;
        if (size > DEEPEST)
            stack.range.low = stack.range.high - DEEPEST;
    }
    pthread_attr_destroy(&attr);
}

/* A coroutine runs on a stack of its own, anywhere: only where this very frame
 * is on the thread's stack is what lies above it stack, too. */
static int on_stack(uintptr_t low, size_t nbytes)
{
    struct range used = {(uintptr_t)__builtin_frame_address(0),
                         stack.range.high};

    return used.low >= stack.range.low && contains(&used, low, nbytes);
}

int cx_range_is_host(const void *addr, size_t nbytes)
{
    uintptr_t low = (uintptr_t)addr;
    struct range heap;

    if (!stack.known)
        find_ranges();
    if (on_stack(low, nbytes))
        return 1;
    heap.low = heap_low;
    heap.high = &__curbrk != NULL ? (uintptr_t)__curbrk : 0;
    return contains(&heap, low, nbytes) || contains(&variables, low, nbytes);
}
