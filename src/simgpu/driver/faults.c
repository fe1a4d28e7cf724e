/* SPDX-License-Identifier: BSD-3-Clause */
/* faults.c - makes the n-th call of a function fail.
 *
 * Syntax: FUNCTION:CALL=ERROR, several with commas. CALL counts from 1 and a
 * trailing + means that call and all later ones. ERROR is a number. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAULTS_MAX 64

struct fault {
    int fn;
    unsigned long call;
    bool onwards;
    int error;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fault faults[FAULTS_MAX];
int sim_nfaults;
static unsigned long seen[SIM_FN_COUNT];

/* Parses one entry; returns where the next one begins, NULL if it is bad. */
static const char *parse_fault(const char *s, struct fault *f)
{
    const char *colon = strchr(s, ':');
    if (colon == NULL)
        return NULL;
    f->fn = sim_fn_find(s, (size_t)(colon - s));
    char *end;
    f->call = strtoul(colon + 1, &end, 10);
    f->onwards = *end == '+';
    if (f->onwards)
        end++;
    if (f->fn < 0 || f->call == 0 || end == colon + 1 || *end != '=')
        return NULL;
    const char *number = end + 1;
    long error = strtol(number, &end, 10);
    if (end == number || error <= 0 || error > 9999)
        return NULL;
    f->error = (int)error;
    if (*end == ',')
        return end[1] != '\0' ? end + 1 : NULL;
    return *end == '\0' ? end : NULL;
}

/* Replaces all faults and counts calls from now; -1 leaves all as it was. */
int sim_faults_set(const char *spec)
{
    struct fault parsed[FAULTS_MAX];
    int n = 0;
    const char *s = spec;
    while (s != NULL && *s != '\0') {
        s = n < FAULTS_MAX ? parse_fault(s, &parsed[n]) : NULL;
        if (s == NULL) {
            fprintf(stderr,
                    "simgpu: SIMGPU_FAIL=%s: expected FUNCTION:CALL=ERROR,... "
                    "as in cuMemcpyAsync:3=700 or cudaMalloc:1+=2\n",
                    spec);
            return -1;
        }
        n++;
    }
    pthread_mutex_lock(&lock);
    memcpy(faults, parsed, (size_t)n * sizeof(parsed[0]));
    memset(seen, 0, sizeof(seen));
    __atomic_store_n(&sim_nfaults, n, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return 0;
}

/* One more call of fn: the error it must fail with, or 0. */
int sim_faults_hit(int fn)
{
    int error = 0;
    pthread_mutex_lock(&lock);
    seen[fn]++;
    for (int i = 0; i < sim_nfaults && error == 0; i++) {
        const struct fault *f = &faults[i];
        if (f->fn == fn &&
            (seen[fn] == f->call || (f->onwards && seen[fn] > f->call)))
            error = f->error;
    }
    pthread_mutex_unlock(&lock);
    return error;
}
