/* SPDX-License-Identifier: BSD-3-Clause */
/* run.h - the parts of `coax run`. All return 0 or an exit code, with the
 * reason printed. */
#ifndef CX_CLI_RUN_H
#define CX_CLI_RUN_H

#include "cli/cli.h"

/* Finds `name` as a shell would; `out` has PATH_MAX bytes. */
int run_find_program(const char *name, char *out);

/* Can the loader preload a library into the program at `path`? */
int run_check_program(const char *path);

/* Puts the front library last into LD_PRELOAD. A missing library is only
 * warned of: the program then runs on its MPI alone. */
int run_set_preload(const struct cli_paths *paths);

/* Puts the stand-ins for the CUDA libraries before the real ones. */
int run_set_simgpu(const struct cli_paths *paths, int ndevices);

#endif
