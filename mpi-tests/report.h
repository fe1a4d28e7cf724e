/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - for counting preloads under programs that know nothing of them:
 * at the end of a process writes a line into MT_REPORT/NAME.PID. */
#ifndef REPORT_H
#define REPORT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void report(const char *name, const uint64_t *counts, int n)
{
    const char *dir = getenv("MT_REPORT");
    char path[512];
    FILE *file;

    if (!dir)
        return;
    snprintf(path, sizeof path, "%s/%s.%ld", dir, name, (long)getpid());
    file = fopen(path, "w");
    if (!file)
        return;
    for (int i = 0; i < n; i++)
        fprintf(file, "%llu ", (unsigned long long)counts[i]);
    fputs("\n", file);
    fclose(file);
}

#endif
