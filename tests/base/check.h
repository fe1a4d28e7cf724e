/* SPDX-License-Identifier: BSD-3-Clause */
/* check.h - CHECK prints what was expected and where, and counts failures. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

static int check_failures;

static inline void check_that(int ok, const char *what, const char *file,
                              int line)
{
    if (ok)
        return;
    check_failures++;
    fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
}

#define CHECK(condition)                                                       \
    check_that(!!(condition), #condition, __FILE__, __LINE__)

#endif
