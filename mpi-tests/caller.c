/* SPDX-License-Identifier: BSD-3-Clause */
/* caller.c - the lookup, and a table of the objects found so far. */
#include "caller.h"

#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define MAX_OBJECTS 16

struct object {
    uintptr_t low, high;
    enum mt_caller caller;
};

static struct object objects[MAX_OBJECTS];
static _Atomic int nobjects;

static enum mt_caller name_of(const char *path)
{
    if (strstr(path, "libcoax-engine"))
        return MT_CALLER_ENGINE;
    return strstr(path, "libcoax.so") ? MT_CALLER_FRONT : MT_CALLER_OTHER;
}

static int match_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct object *obj = arg;
    uintptr_t at = obj->low, low = UINTPTR_MAX, high = 0;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + ph->p_vaddr;

        if (ph->p_type != PT_LOAD)
            continue;
        low = start < low ? start : low;
        high = start + ph->p_memsz > high ? start + ph->p_memsz : high;
    }
    if (at < low || at >= high)
        return 0;
    obj->low = low;
    obj->high = high;
    obj->caller = name_of(info->dlpi_name);
    return 1;
}

enum mt_caller mt_caller_of(const void *address)
{
    uintptr_t at = (uintptr_t)address;
    struct object obj = {.low = at};
    int n = atomic_load(&nobjects);

    for (int i = 0; i < n; i++)
        if (at >= objects[i].low && at < objects[i].high)
            return objects[i].caller;
    if (!dl_iterate_phdr(match_object, &obj))
        return MT_CALLER_OTHER;
    if (n < MAX_OBJECTS) { /* a lost race costs one more lookup */
        objects[n] = obj;
        atomic_store(&nobjects, n + 1);
    }
    return obj.caller;
}
