/* SPDX-License-Identifier: BSD-3-Clause */
/* info.h - the parts of `coax info`. */
#ifndef CX_CLI_INFO_H
#define CX_CLI_INFO_H

#include <stddef.h>

#include "cli/cli.h"

enum info_format { INFO_TEXT, INFO_JSON, INFO_MARKDOWN };

#define INFO_TEXT_SIZE 8192
#define INFO_MAX_NICS 64

/* What asking a library gave: its file, and its words or the reason why there
 * are none. */
struct info_library {
    int found;
    char path[PATH_MAX];
    char text[INFO_TEXT_SIZE];
    char problem[512]; /* the engine: what is wrong with COAX_ALGO, or "" */
};

struct info_nic {
    char name[64];  /* "mlx5_0 port 1", "eth0" */
    char kind[32];  /* "InfiniBand", "Ethernet", ... */
    char state[32]; /* the kernel's word */
    char speed[64]; /* "" when unknown */
};

/* Libraries are asked in a child process each: one that crashes or hangs costs
 * its own line only. */
void info_ask_mpi(const char *soname, struct info_library *out);
void info_ask_engine(const char *path, struct info_library *out);

/* Network devices of the machine, RDMA devices first; returns their number. */
int info_list_nics(struct info_nic *nics, int max);

/* Every setting: its row of the table; with `values` also what is in force. */
void info_print_settings(enum info_format format);
void info_print_values(enum info_format format);

/* A JSON string with its quotes. */
void info_print_json_string(const char *text);

#endif
