/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c - COAX_STATS: what each call of this rank became, and why. */
#include "pmpi/front.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct row {
    const char *func;
    enum cx_way way;
    int size_class;
    const char *detail;
    uint64_t calls, bytes, device_bytes;
    double time_us;
};

enum { MAX_ROWS = 256 };

static struct row rows[MAX_ROWS];
static int nrows, dropped;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Size classes as users read them. */
static const struct {
    size_t limit;
    const char *name;
} classes[] = {
    {256, "<= 256 B"},       {4096, "<= 4 KiB"},      {65536, "<= 64 KiB"},
    {1 << 20, "<= 1 MiB"},   {16 << 20, "<= 16 MiB"}, {256 << 20, "<= 256 MiB"},
    {SIZE_MAX, "> 256 MiB"},
};

static int class_of(size_t nbytes)
{
    int i = 0;

    while (nbytes > classes[i].limit)
        i++;
    return i;
}

static struct row *find_row(const char *func, enum cx_way way, int size_class,
                            const char *detail)
{
    int i;

    for (i = 0; i < nrows; i++) {
        struct row *row = &rows[i];

        if (strcmp(row->func, func) == 0 && row->way == way &&
            row->size_class == size_class && strcmp(row->detail, detail) == 0)
            return row;
    }
    if (nrows == MAX_ROWS)
        return NULL;
    rows[nrows] = (struct row){
        .func = func, .way = way, .size_class = size_class, .detail = detail};
    return &rows[nrows++];
}

static void record(const char *func, enum cx_way way, const char *detail,
                   size_t nbytes, uint64_t device_bytes, double time_us)
{
    struct row *row;

    pthread_mutex_lock(&lock);
    row = find_row(func, way, class_of(nbytes), detail != NULL ? detail : "");
    if (row != NULL) {
        row->calls++;
        row->bytes += nbytes;
        row->device_bytes += device_bytes;
        row->time_us += time_us;
    } else {
        dropped++;
    }
    pthread_mutex_unlock(&lock);
}

void cx_stats_record(enum cx_func func, enum cx_way way, const char *detail,
                     size_t nbytes, uint64_t device_bytes, double time_us)
{
    record(cx_func_str(func), way, detail, nbytes, device_bytes, time_us);
}

void cx_stats_staged(const char *func, uint64_t device_bytes, double time_us)
{
    record(func, CX_WAY_STAGED, "not served by the engine", device_bytes,
           device_bytes, time_us);
}

static void print_row(FILE *out, const struct row *row)
{
    static const char *const ways[] = {"engine", "staged", "passed"};
    char path[48], time[24] = "-";

    snprintf(path, sizeof(path), "%s%s%s", ways[row->way],
             row->way == CX_WAY_ENGINE ? ":" : "",
             row->way == CX_WAY_ENGINE ? row->detail : "");
    if (row->time_us > 0)
        snprintf(time, sizeof(time), "%.3f", row->time_us * 1e-3);
    fprintf(out, "coax: %-20s %-11s %9llu %14llu %14llu %-16s %12s  %s\n",
            row->func, classes[row->size_class].name,
            (unsigned long long)row->calls, (unsigned long long)row->bytes,
            (unsigned long long)row->device_bytes, path, time,
            row->way == CX_WAY_ENGINE ? "" : row->detail);
}

static int first_of_func(int i)
{
    int j = 0;

    while (strcmp(rows[j].func, rows[i].func) != 0)
        j++;
    return j == i;
}

/* The rows of one function, the first of which is row `i`. */
static void print_func(FILE *out, int i)
{
    int j;

    for (j = i; j < nrows; j++) {
        if (strcmp(rows[j].func, rows[i].func) == 0)
            print_row(out, &rows[j]);
    }
}

static void print_totals(FILE *out)
{
    uint64_t engine = 0, staged = 0;
    int i;

    for (i = 0; i < nrows; i++) {
        if (rows[i].way == CX_WAY_ENGINE)
            engine += rows[i].device_bytes;
        else
            staged += rows[i].device_bytes;
    }
    if (engine + staged > 0)
        fprintf(out,
                "coax: device bytes: %llu by the engine (%.2f %%), %llu staged "
                "through MPI\n",
                (unsigned long long)engine,
                100.0 * (double)engine / (double)(engine + staged),
                (unsigned long long)staged);
    if (dropped > 0)
        fprintf(out, "coax: %d calls are not in the table\n", dropped);
}

/* One write, so that the table stays in one piece. Rank 0 speaks: what a call
 * becomes is the same on all ranks, but for the bytes on a GPU. */
void cx_stats_print(void)
{
    char *text = NULL;
    size_t length = 0, sent = 0;
    ssize_t n;
    FILE *out;
    int i;

    if (cx_front.world_rank != 0)
        return;
    out = open_memstream(&text, &length);
    if (out == NULL)
        return;
    fprintf(out, "coax: what rank 0's collectives became\n");
    fprintf(out, "coax: %-20s %-11s %9s %14s %14s %-16s %12s  %s\n", "function",
            "size", "calls", "bytes", "device bytes", "path", "time/ms",
            "reason");
    for (i = 0; i < nrows; i++) {
        if (first_of_func(i))
            print_func(out, i);
    }
    print_totals(out);
    fprintf(out, "coax: bytes: the call's message; device bytes: send and "
                 "receive buffers on a GPU\n");
    fclose(out);
    while (sent < length &&
           (n = write(STDERR_FILENO, text + sent, length - sent)) > 0)
        sent += (size_t)n;
    free(text);
}
