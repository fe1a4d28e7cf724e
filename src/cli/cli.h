/* SPDX-License-Identifier: BSD-3-Clause */
/* cli.h - what the parts of the `coax` command share. */
#ifndef CX_CLI_H
#define CX_CLI_H

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* Exit codes; the last two as env(1) has them. */
enum {
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_CANNOT_EXECUTE = 126,
    CLI_NOT_FOUND = 127
};

#define CLI_FRONT_LIBRARY "libcoax.so"

/* A subcommand. `main` gets its own name as argv[0]. */
struct cli_command {
    const char *name, *summary, *help;
    int (*main)(int argc, char **argv);
};

extern const struct cli_command cli_run, cli_info;

/* Called for a wrong command line: one line and a hint; returns CLI_USAGE. */
int cli_usage_error(const char *command, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

struct option;

/* getopt_long without its abbreviations: "--stat" would change its meaning
 * with the next option that begins so. No option has its value in the next
 * word. */
int cli_getopt(int argc, char **argv, const char *letters,
               const struct option *names);

/* The one that shows errors of a job of many ranks: rank 0, or a process that
 * is no rank of a job. */
int cli_speaks(void);

/* One line, from the speaking rank only. */
void cli_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* One line for a job even when the speaking rank does not fail: the first of
 * the failing processes of a launcher on this node. Returns `code`. */
int cli_fail(int code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Where the libraries are: the folder that belongs to this executable. */
struct cli_paths {
    char libdir[PATH_MAX];
    char front[PATH_MAX];  /* CLI_FRONT_LIBRARY, existing or not */
    char engine[PATH_MAX]; /* the engine library, existing or not */
};

/* Returns 0, or -1 when the executable's own path cannot be read. */
int cli_find_paths(struct cli_paths *out);

/* Joins two strings; 0, or -1 when they do not fit into `size`. */
int cli_join(char *out, size_t size, const char *a, const char *b);

#endif
