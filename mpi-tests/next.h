/* SPDX-License-Identifier: BSD-3-Clause */
/* next.h - the function behind a test preload: the next one of the global
 * scope, else that of a library which a program has loaded with RTLD_LOCAL. */
#ifndef NEXT_H
#define NEXT_H

#include <dlfcn.h>
#include <stddef.h>

static inline void *mt_next(const char *name, const char *library)
{
    void *found = dlsym(RTLD_NEXT, name), *handle;

    if (found)
        return found;
    handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    return handle ? dlsym(handle, name) : NULL;
}

#endif
