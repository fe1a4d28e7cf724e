/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c - `coax run`: starts a program with Coax preloaded.
 *
 * Sets the environment and becomes the program. Of several preloaded
 * libraries Coax is the last: tools that wrap MPI see the program's calls
 * first, and the calls they pass on arrive at Coax. */
#include "cli/run.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static const char help[] =
    "NAME\n"
    "    coax run - start a program with Coax preloaded\n"
    "\n"
    "SYNOPSIS\n"
    "    mpirun -n RANKS coax run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "\n"
    "DESCRIPTION\n"
    "    Puts libcoax.so behind the libraries already named in LD_PRELOAD and\n"
    "    becomes PROGRAM, a dynamically linked program of this machine's kind\n"
    "    or a script. Put it between mpirun and the program, so that only the\n"
    "    ranks get it and not mpirun itself; mpirun is that of the program's\n"
    "    own MPI (mpirun.mpich on Debian). Children of the program inherit "
    "the\n"
    "    preload and are not affected by it unless they use MPI.\n"
    "\n"
    "OPTIONS\n"
    "    --simgpu[=N]\n"
    "        Run on simulated GPUs, N on each node, on a machine that has no\n"
    "        GPU. The program gets stand-ins for the CUDA libraries: memory\n"
    "        it allocates there cannot be touched by the CPU, as on a real\n"
    "        GPU. Kernels of the program's own run there only as host code,\n"
    "        see src/simgpu/README.md.\n"
    "    --stats\n"
    "        Print a table of calls, bytes, paths and times at the end; the\n"
    "        same as COAX_STATS=on.\n"
    "    -h, --help\n"
    "        Print this text.\n"
    "\n"
    "ENVIRONMENT\n"
    "    COAX_*\n"
    "        Settings of Coax, see `coax info --env'. Set them in front of\n"
    "        mpirun or with its own option (-genv NAME VALUE).\n"
    "    LD_PRELOAD\n"
    "        libcoax.so is put last, once.\n"
    "\n"
    "EXIT STATUS\n"
    "    That of PROGRAM. 126 when PROGRAM cannot be executed or cannot load "
    "a\n"
    "    preloaded library, 127 when it is not found, 2 for a wrong option, 1\n"
    "    when something else failed.\n"
    "\n"
    "EXAMPLES\n"
    "    mpirun -n 8 coax run ./app input.txt\n"
    "    mpirun -n 4 coax run --simgpu ./app\n"
    "    COAX_STATS=on mpirun -n 2 coax run python3 train.py\n"
    "\n"
    "    Without this command:\n"
    "    mpirun -genv LD_PRELOAD /usr/lib/libcoax.so -n 8 ./app\n";

#define MAX_SIMULATED 16 /* what the stand-ins allow on a node */

struct run_options {
    int simgpu, ndevices; /* 0 devices: as many as the stand-ins have */
    int stats;
};

static int parse_devices(const char *text, int *out)
{
    char *end;
    long n = strtol(text, &end, 10);

    if (end == text || *end != '\0' || n < 1 || n > MAX_SIMULATED)
        return cli_usage_error(
            "run", "--simgpu takes a number of 1 to 16, not '%s'", text);
    *out = (int)n;
    return 0;
}

/* Returns 0 with optind at the program, or CLI_USAGE. `*help_wanted` is set
 * when only the help is asked for. */
static int parse(int argc, char **argv, struct run_options *out,
                 int *help_wanted)
{
    enum { SIMGPU = 256, STATS };
    static const struct option names[] = {
        {"simgpu", optional_argument, NULL, SIMGPU},
        {"stats", no_argument, NULL, STATS},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    int which;

    opterr = 0;
    /* '+': options after the program's name are the program's. */
    while ((which = cli_getopt(argc, argv, "+h", names)) != -1) {
        if (which == SIMGPU) {
            out->simgpu = 1;
            if (optarg && parse_devices(optarg, &out->ndevices))
                return CLI_USAGE;
        } else if (which == STATS) {
            out->stats = 1;
        } else if (which == 'h') {
            *help_wanted = 1;
            return 0;
        } else {
            return cli_usage_error("run", "run has no option '%s'",
                                   argv[optind - 1]);
        }
    }
    return 0;
}

static int run_main(int argc, char **argv)
{
    struct run_options opt = {0};
    struct cli_paths paths;
    char program[PATH_MAX];
    int help_wanted = 0;
    int code = parse(argc, argv, &opt, &help_wanted);

    if (help_wanted)
        fputs(help, stdout);
    if (code || help_wanted)
        return code;
    if (optind == argc)
        return cli_usage_error("run", "no program given");
    code = run_find_program(argv[optind], program);
    if (!code)
        code = run_check_program(program);
    if (code)
        return code;
    if (cli_find_paths(&paths))
        return cli_fail(CLI_FAILED,
                        "cannot read /proc/self/exe: %s; "
                        "is /proc mounted?",
                        strerror(errno));
    if (opt.stats)
        setenv("COAX_STATS", "on", 1);
    code = opt.simgpu ? run_set_simgpu(&paths, opt.ndevices) : 0;
    if (!code)
        code = run_set_preload(&paths);
    if (code)
        return code;
    /* Found above, but argv[0] stays as the user wrote it. */
    execvp(program, argv + optind);
    code = errno == ENOENT ? CLI_NOT_FOUND : CLI_CANNOT_EXECUTE;
    return cli_fail(code, "cannot execute %s: %s", program, strerror(errno));
}

const struct cli_command cli_run = {
    "run", "start a program with Coax preloaded", help, run_main};
