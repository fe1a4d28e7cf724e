/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - the `coax` command: finds the subcommand, prints help. */
#include <getopt.h>
#include <stdarg.h>
#include <string.h>

#include "cli/cli.h"

static const struct cli_command *const commands[] = {&cli_run, &cli_info};

enum { NCOMMANDS = sizeof commands / sizeof commands[0] };

static const char about[] =
    "NAME\n"
    "    coax - MPI collectives on GPU buffers for unmodified programs\n"
    "\n"
    "SYNOPSIS\n"
    "    mpirun -n RANKS coax run [OPTION]... PROGRAM [ARGUMENT]...\n"
    "    coax COMMAND [ARGUMENT]...\n"
    "    coax help [COMMAND]\n"
    "    coax --version\n"
    "\n"
    "DESCRIPTION\n"
    "    Coax is preloaded into the ranks of an MPI job. There it serves\n"
    "    MPI_Allreduce, MPI_Bcast and MPI_Allgather on GPU buffers with an\n"
    "    engine of its own, runs all other blocking collectives through host\n"
    "    memory, and refuses GPU buffers in messages, nonblocking and\n"
    "    one-sided calls. The program is neither changed nor rebuilt.\n"
    "\n"
    "COMMANDS\n";

static const char after[] =
    "\n"
    "    `coax COMMAND --help' describes a command.\n"
    "\n"
    "ENVIRONMENT\n"
    "    Variables that begin with COAX_ are settings; `coax info --env' "
    "lists\n"
    "    them all.\n"
    "\n"
    "EXIT STATUS\n"
    "    0 on success, 1 when something failed, 2 for a wrong command line.\n"
    "    See also `coax run --help'.\n";

static void print_about(FILE *to)
{
    fputs(about, to);
    for (int i = 0; i < NCOMMANDS; i++)
        fprintf(to, "    %-6s  %s\n", commands[i]->name, commands[i]->summary);
    fputs(after, to);
}

int cli_usage_error(const char *command, const char *fmt, ...)
{
    va_list args;

    if (!cli_speaks())
        return CLI_USAGE;
    fprintf(stderr, "coax: error: ");
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    if (command)
        fprintf(stderr, "; see `coax %s --help'\n", command);
    else
        fprintf(stderr, "; see `coax help'\n");
    return CLI_USAGE;
}

int cli_getopt(int argc, char **argv, const char *letters,
               const struct option *names)
{
    int index = -1, which = getopt_long(argc, argv, letters, names, &index);
    const char *word;
    size_t n;

    if (index < 0 || which == '?')
        return which;
    word = argv[optind - 1] + strlen("--");
    n = strlen(names[index].name);
    return strncmp(word, names[index].name, n) == 0 &&
                   (word[n] == '\0' || word[n] == '=')
               ? which
               : '?';
}

static const struct cli_command *find(const char *name)
{
    for (int i = 0; i < NCOMMANDS; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

static int is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int help(const char *name)
{
    const struct cli_command *command = find(name);

    if (!command)
        return cli_usage_error(NULL, "there is no command '%s'", name);
    fputs(command->help, stdout);
    return 0;
}

int main(int argc, char **argv)
{
    const struct cli_command *command;
    const char *word = argc > 1 ? argv[1] : NULL;

    if (!word) {
        print_about(stderr);
        return CLI_USAGE;
    }
    if (strcmp(word, "--version") == 0) {
        printf("coax %s\n", COAX_VERSION);
        return 0;
    }
    if (is_help(word) || (strcmp(word, "help") == 0 && argc == 2)) {
        print_about(stdout);
        return 0;
    }
    if (strcmp(word, "help") == 0)
        return help(argv[2]);
    command = find(word);
    if (!command)
        return cli_usage_error(NULL, "there is no %s '%s'",
                               word[0] == '-' ? "option" : "command", word);
    return command->main(argc - 1, argv + 1);
}
