/* SPDX-License-Identifier: BSD-3-Clause */
/* paths.c - finds the libraries that belong to this executable.
 *
 * Everything is relative to the executable, so that a build tree and an
 * installed tree that was moved both work. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bridge.h"
#include "cli/cli.h"

/* The folder of libraries in an installed tree, e.g. lib/x86_64-linux-gnu. */
#ifndef COAX_LIBDIR
#define COAX_LIBDIR "lib"
#endif

int cli_join(char *out, size_t size, const char *a, const char *b)
{
    int n = snprintf(out, size, "%s%s", a, b);

    return n >= 0 && (size_t)n < size ? 0 : -1;
}

/* The folder above the executable's: PREFIX of PREFIX/bin/coax. */
static int find_prefix(char *out, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", out, size - 1);

    if (n <= 0)
        return -1;
    out[n] = '\0';
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(out, '/');

        if (!slash)
            return -1;
        *slash = '\0';
    }
    return 0;
}

int cli_find_paths(struct cli_paths *out)
{
    static const char *const libdirs[] = {"/lib", "/" COAX_LIBDIR, "/lib64"};
    char prefix[PATH_MAX];

    if (find_prefix(prefix, sizeof prefix))
        return -1;
    for (size_t i = 0; i < sizeof libdirs / sizeof libdirs[0]; i++) {
        if (cli_join(out->libdir, sizeof out->libdir, prefix, libdirs[i]) ||
            cli_join(out->front, sizeof out->front, out->libdir,
                     "/" CLI_FRONT_LIBRARY) ||
            cli_join(out->engine, sizeof out->engine, out->libdir,
                     "/" CX_ENGINE_LIBRARY))
            return -1;
        if (access(out->front, R_OK) == 0)
            return 0;
    }
    /* None there: name the usual place in messages. */
    return cli_join(out->libdir, sizeof out->libdir, prefix, libdirs[0]) ||
           cli_join(out->front, sizeof out->front, out->libdir,
                    "/" CLI_FRONT_LIBRARY) ||
           cli_join(out->engine, sizeof out->engine, out->libdir,
                    "/" CX_ENGINE_LIBRARY);
}
