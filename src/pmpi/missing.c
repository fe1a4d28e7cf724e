/* SPDX-License-Identifier: BSD-3-Clause */
/* missing.c - who of this job runs on this node without libcoax.so?
 *
 * Asked only when an agreement has waited for COAX_TIMEOUT. A process of the
 * job has a rank in its environment and descends from the same launcher; one
 * that maps an MPI library and no libcoax.so is a culprit. */
#include "pmpi/front.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The rank that the launcher gave to `pid`, or -1. */
static int rank_of(pid_t pid)
{
    static const char *const names[] = {
        "PMI_RANK=", "PMIX_RANK=", "SLURM_PROCID="};
    char path[64], entry[4096];
    int rank = -1;
    size_t i, used;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    file = fopen(path, "re");
    if (file == NULL)
        return -1;
    for (used = 0; rank < 0;) {
        int c = getc(file);

        if (c == EOF)
            break;
        if (used < sizeof(entry) - 1)
            entry[used++] = (char)c;
        if (c != '\0')
            continue;
        entry[used] = '\0';
        for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            if (strncmp(entry, names[i], strlen(names[i])) == 0)
                rank = atoi(entry + strlen(names[i]));
        }
        used = 0;
    }
    fclose(file);
    return rank;
}

static pid_t parent_of(pid_t pid)
{
    char path[64], line[512], *end;
    int parent = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    if (fgets(line, sizeof(line), file) != NULL) {
        end = strrchr(line, ')'); /* the name may hold anything */
        if (end == NULL || sscanf(end + 1, " %*c %d", &parent) != 1)
            parent = 0;
    }
    fclose(file);
    return parent;
}

/* The nearest ancestor without a rank: the launcher's process. */
static pid_t launcher_of(pid_t pid)
{
    int depth;

    for (depth = 0; depth < 16 && pid > 1 && rank_of(pid) >= 0; depth++)
        pid = parent_of(pid);
    return pid;
}

/* Bits: 1 maps an MPI library, 2 maps libcoax.so. */
static int maps_of(pid_t pid)
{
    char path[64], line[4096];
    FILE *file;
    int bits = 0;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strstr(line, "/libmpi") != NULL)
            bits |= 1;
        if (strstr(line, "/libcoax") != NULL)
            bits |= 2;
    }
    fclose(file);
    return bits;
}

enum cx_missing cx_missing_describe(char *out, size_t n)
{
    pid_t launcher = launcher_of(getpid());
    int mine = rank_of(getpid()), culprit = -1, speaker = mine;
    pid_t culprit_pid = 0;
    struct dirent *entry;
    DIR *proc = opendir("/proc");

    if (proc == NULL)
        return CX_MISSING_NONE;
    while ((entry = readdir(proc)) != NULL) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        int rank, bits;

        if (pid <= 0 || (rank = rank_of(pid)) < 0 ||
            launcher_of(pid) != launcher)
            continue;
        bits = maps_of(pid);
        if (bits == 1 && (culprit < 0 || rank < culprit)) {
            culprit = rank;
            culprit_pid = pid;
        }
        if (bits == 3 && rank < speaker)
            speaker = rank;
    }
    closedir(proc);
    if (culprit < 0)
        return CX_MISSING_NONE;
    if (speaker != mine)
        return CX_MISSING_OTHER_SPEAKS;
    snprintf(out, n, "rank %d (pid %d, which has no libcoax.so mapped)",
             culprit, (int)culprit_pid);
    return CX_MISSING_FOUND;
}
