/* SPDX-License-Identifier: BSD-3-Clause */
/* delay_spec.c - the syntax of SIMGPU_DELAY_US. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[SIM_DELAYS] = {
    [SIM_DELAY_COPY] = "copy",         [SIM_DELAY_MEMSET] = "memset",
    [SIM_DELAY_KERNEL] = "kernel",     [SIM_DELAY_GRAPH] = "graph",
    [SIM_DELAY_LEGACY] = "legacy",     [SIM_DELAY_THREAD] = "thread",
    [SIM_DELAY_BLOCKING] = "blocking", [SIM_DELAY_NONBLOCKING] = "nonblocking",
};

static bool parse_us(const char *s, unsigned *us, const char **end)
{
    char *stop;
    if (*s < '0' || *s > '9')
        return false;
    unsigned long v = strtoul(s, &stop, 10);
    *us = (unsigned)v;
    *end = stop;
    return v <= SIM_DELAY_MAX_US;
}

/* One "what:us"; returns what follows it, NULL if it is bad. */
static const char *parse_one(const char *s, unsigned us[SIM_DELAYS])
{
    const char *colon = strchr(s, ':');
    int i = 0;
    while (colon != NULL && i < SIM_DELAYS &&
           (strlen(names[i]) != (size_t)(colon - s) ||
            strncmp(names[i], s, strlen(names[i])) != 0))
        i++;
    if (colon == NULL || i == SIM_DELAYS || !parse_us(colon + 1, &us[i], &s))
        return NULL;
    if (*s == ',')
        return s[1] != '\0' ? s + 1 : NULL;
    return *s == '\0' ? s : NULL;
}

bool sim_delay_parse(const char *spec, unsigned us[SIM_DELAYS])
{
    const char *s;
    unsigned all;
    memset(us, 0, SIM_DELAYS * sizeof(us[0]));
    if (parse_us(spec, &all, &s) && *s == '\0') {
        for (int i = 0; i <= SIM_DELAY_GRAPH; i++)
            us[i] = all;
        return true;
    }
    s = spec;
    do {
        s = parse_one(s, us);
    } while (s != NULL && *s != '\0');
    return s != NULL;
}
