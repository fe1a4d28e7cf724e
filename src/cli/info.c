/* SPDX-License-Identifier: BSD-3-Clause */
/* info.c - `coax info`: what this machine has and what is set. */
#include <getopt.h>
#include <string.h>

#include "base/settings.h"
#include "cli/info.h"

static const char help[] =
    "NAME\n"
    "    coax info - show what Coax finds on this machine and what is set\n"
    "\n"
    "SYNOPSIS\n"
    "    coax info [--json]\n"
    "    coax info --env [--json | --markdown]\n"
    "\n"
    "DESCRIPTION\n"
    "    Shows the version, the libraries of this installation, the MPI\n"
    "    libraries that the loader finds, UCX and the GPUs as the engine sees\n"
    "    them, the network devices, the settings in force, and what is wrong\n"
    "    with them. To see what the ranks of a job find, run it in the job:\n"
    "    mpirun -n 1 coax info.\n"
    "\n"
    "OPTIONS\n"
    "    --env\n"
    "        Describe every setting instead: name, type, default, values,\n"
    "        meaning.\n"
    "    --json\n"
    "        Print JSON.\n"
    "    --markdown\n"
    "        With --env: print the table that the README has.\n"
    "    -h, --help\n"
    "        Print this text.\n"
    "\n"
    "EXIT STATUS\n"
    "    0; 1 when there are problems: a library of the installation is\n"
    "    missing, the network cannot be started, or a COAX_ variable is\n"
    "    unknown or malformed; 2 for a wrong option.\n";

static const char *const mpi_names[] = {"libmpich.so.12", "libmpi.so.12",
                                        "libmpi.so.40"};

enum { NMPI = sizeof mpi_names / sizeof mpi_names[0] };

struct info {
    struct cli_paths paths;
    struct info_library mpi[NMPI], front, engine;
    struct info_nic nics[INFO_MAX_NICS];
    int nnics;
    struct cx_settings settings;
};

static int collect(struct info *out)
{
    FILE *file;

    if (cli_find_paths(&out->paths))
        return cli_fail(CLI_FAILED, "cannot read /proc/self/exe; is /proc "
                                    "mounted?");
    file = fopen(out->paths.front, "r");
    out->front.found = file != NULL;
    (void)cli_join(out->front.path, sizeof out->front.path, out->paths.front,
                   "");
    if (file)
        fclose(file);
    else
        strcpy(out->front.text, "it is missing: reinstall Coax");
    info_ask_engine(out->paths.engine, &out->engine);
    for (int i = 0; i < NMPI; i++)
        info_ask_mpi(mpi_names[i], &out->mpi[i]);
    out->nnics = info_list_nics(out->nics, INFO_MAX_NICS);
    cx_settings_load(&out->settings);
    /* What only the engine can judge: the names of algorithms. */
    if (out->engine.problem[0])
        cx_settings_problem(&out->settings, out->engine.problem);
    return 0;
}

/* Lines of `text` under each other, indented. */
static void print_lines(const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");

        if (n > 0)
            printf("  %.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

static void print_mpi(const struct info *info)
{
    int found = 0;

    printf("MPI\n");
    for (int i = 0; i < NMPI; i++) {
        const struct info_library *mpi = &info->mpi[i];

        if (mpi->found)
            printf("  %s  (%s)\n", mpi->text, mpi->path);
        found += mpi->found;
    }
    if (found == 0)
        printf("  none that the loader finds (looked for %s, %s, %s)\n",
               mpi_names[0], mpi_names[1], mpi_names[2]);
}

static void print_text(const struct info *info)
{
    printf("coax %s, build %s, compiler %s\n", COAX_VERSION, COAX_BUILD_ID,
           __VERSION__);
    printf("libraries\n  %s%s%s\n", info->front.path,
           info->front.found ? "" : ": ", info->front.text);
    printf("  %s%s\n", info->paths.engine,
           info->engine.found ? "" : ": cannot be used");
    printf("engine, network and GPUs\n");
    print_lines(info->engine.text);
    print_mpi(info);
    printf("network devices\n");
    for (int i = 0; i < info->nnics; i++) {
        const struct info_nic *nic = &info->nics[i];

        printf("  %-16s %-10s %-8s %s\n", nic->name, nic->kind, nic->state,
               nic->speed);
    }
    if (info->nnics == 0)
        printf("  none but the loopback\n");
    printf("settings\n");
    info_print_values(INFO_TEXT);
    printf("problems\n  %s\n", info->settings.nproblems
                                   ? info->settings.problem
                                   : "none in the settings");
}

void info_print_json_string(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void print_pair(const char *before, const char *name, const char *value)
{
    printf("%s\"%s\": ", before, name);
    info_print_json_string(value);
}

static void print_library_json(const char *name, const char *path,
                               const struct info_library *library)
{
    print_pair("    {", "name", name);
    print_pair(", ", "path", path);
    printf(", \"found\": %s", library->found ? "true" : "false");
    print_pair(", ", "text", library->text);
    printf("}");
}

static void print_json(const struct info *info)
{
    print_pair("{\n  ", "version", COAX_VERSION);
    print_pair(",\n  ", "build", COAX_BUILD_ID);
    print_pair(",\n  ", "compiler", __VERSION__);
    printf(",\n  \"libraries\": [\n");
    print_library_json("front", info->front.path, &info->front);
    printf(",\n");
    print_library_json("engine", info->paths.engine, &info->engine);
    printf("\n  ],\n  \"mpi\": [\n");
    for (int i = 0; i < NMPI; i++) {
        print_library_json(mpi_names[i], info->mpi[i].path, &info->mpi[i]);
        printf("%s\n", i + 1 < NMPI ? "," : "");
    }
    printf("  ],\n  \"network\": [\n");
    for (int i = 0; i < info->nnics; i++) {
        print_pair("    {", "name", info->nics[i].name);
        print_pair(", ", "kind", info->nics[i].kind);
        print_pair(", ", "state", info->nics[i].state);
        print_pair(", ", "speed", info->nics[i].speed);
        printf("}%s\n", i + 1 < info->nnics ? "," : "");
    }
    printf("  ],\n  \"settings\": [\n");
    info_print_values(INFO_JSON);
    print_pair("  ],\n  ", "problems", info->settings.problem);
    printf("\n}\n");
}

static int show(enum info_format format)
{
    static struct info info;
    int code = collect(&info);

    if (code)
        return code;
    if (format == INFO_JSON)
        print_json(&info);
    else
        print_text(&info);
    code = info.front.found && info.engine.found && !info.settings.nproblems
               ? 0
               : CLI_FAILED;
    cx_settings_fini(&info.settings);
    return code;
}

static int info_main(int argc, char **argv)
{
    enum { ENV = 256, JSON, MARKDOWN };
    static const struct option names[] = {
        {"env", no_argument, NULL, ENV},
        {"json", no_argument, NULL, JSON},
        {"markdown", no_argument, NULL, MARKDOWN},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    enum info_format format = INFO_TEXT;
    int which, env = 0;

    opterr = 0;
    while ((which = cli_getopt(argc, argv, "h", names)) != -1) {
        if (which == ENV)
            env = 1;
        else if (which == JSON)
            format = INFO_JSON;
        else if (which == MARKDOWN)
            format = INFO_MARKDOWN;
        else if (which == 'h')
            return fputs(help, stdout) < 0;
        else
            return cli_usage_error("info", "info has no option '%s'",
                                   argv[optind - 1]);
    }
    if (optind < argc)
        return cli_usage_error("info", "info takes no argument '%s'",
                               argv[optind]);
    if (format == INFO_MARKDOWN && !env)
        return cli_usage_error("info", "--markdown needs --env");
    if (!env)
        return show(format);
    info_print_settings(format);
    return 0;
}

const struct cli_command cli_info = {
    "info", "show what Coax finds on this machine and what is set", help,
    info_main};
