/* SPDX-License-Identifier: BSD-3-Clause */
/* run_env.c - the environment of a program started by `coax run`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run.h"

#define SIMGPU_DIR "/coax/simgpu"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int set(const char *name, const char *value)
{
    if (setenv(name, value, 1) == 0)
        return 0;
    return cli_fail(CLI_FAILED, "cannot set %s: %s", name, strerror(errno));
}

/* `old` without entries of the front's name, then the front; owned by the
 * caller. The loader separates entries by spaces and colons. */
static char *preload_list(const char *old, const char *front)
{
    size_t size = strlen(old) + strlen(front) + 2;
    char *copy = strdup(old), *list = calloc(1, size), *rest = copy, *entry;

    if (!copy || !list) {
        free(copy);
        free(list);
        return NULL;
    }
    while ((entry = strsep(&rest, " :"))) {
        if (*entry == '\0' || strcmp(base_name(entry), base_name(front)) == 0)
            continue;
        strcat(list, entry);
        strcat(list, ":");
    }
    strcat(list, front);
    free(copy);
    return list;
}

int run_set_preload(const struct cli_paths *paths)
{
    const char *old = getenv("LD_PRELOAD");
    char *list;
    int code;

    if (access(paths->front, R_OK)) {
        cli_warn("%s is missing: running without Coax; reinstall it",
                 paths->front);
        return 0;
    }
    if (access(paths->engine, R_OK))
        cli_warn("%s is missing: MPI runs the collectives alone; reinstall it",
                 paths->engine);
    if (strpbrk(paths->front, " :"))
        return cli_fail(CLI_FAILED,
                        "%s cannot be preloaded: its path has a space or a "
                        "colon; move it",
                        paths->front);
    list = preload_list(old ? old : "", paths->front);
    if (!list)
        return cli_fail(CLI_FAILED, "out of memory");
    code = set("LD_PRELOAD", list);
    free(list);
    return code;
}

int run_set_simgpu(const struct cli_paths *paths, int ndevices)
{
    const char *old = getenv("LD_LIBRARY_PATH");
    char dir[PATH_MAX], number[16], *list;
    struct stat st;
    int code;

    if (cli_join(dir, sizeof dir, paths->libdir, SIMGPU_DIR) ||
        stat(dir, &st) || !S_ISDIR(st.st_mode))
        return cli_fail(CLI_FAILED,
                        "no simulated GPU in %s%s: build or install it, or "
                        "leave out --simgpu",
                        paths->libdir, SIMGPU_DIR);
    list = calloc(1, strlen(dir) + strlen(old ? old : "") + 2);
    if (!list)
        return cli_fail(CLI_FAILED, "out of memory");
    strcpy(list, dir);
    if (old && *old) {
        strcat(list, ":");
        strcat(list, old);
    }
    code = set("LD_LIBRARY_PATH", list);
    free(list);
    if (code || (code = set("COAX_GPU", "yes")) || ndevices == 0)
        return code;
    snprintf(number, sizeof number, "%d", ndevices);
    return set("SIMGPU_DEVICES", number);
}
