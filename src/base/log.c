/* SPDX-License-Identifier: BSD-3-Clause */
/* log.c - one write(2) per line, so that lines of many ranks do not mix. */
#include "base/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static enum cx_log_level max_level = CX_LOG_WARN;
static int my_rank = -1;
static int file_fd = -1;
static char host[64];

static const char *const level_names[] = {"error", "warn", "info", "debug",
                                          "trace"};

static void read_host(void)
{
    char *dot;

    if (gethostname(host, sizeof(host) - 1) != 0)
        snprintf(host, sizeof(host), "?");
    dot = strchr(host, '.');
    if (dot != NULL)
        *dot = '\0';
}

/* Expands %h, %p and %r of `path` into `out`. */
static void expand_path(const char *path, char *out, size_t n)
{
    size_t used = 0;

    for (; *path != '\0' && used + 1 < n; path++) {
        int len = 1;

        if (path[0] == '%' && path[1] == 'h')
            len = snprintf(out + used, n - used, "%s", host);
        else if (path[0] == '%' && path[1] == 'p')
            len = snprintf(out + used, n - used, "%d", (int)getpid());
        else if (path[0] == '%' && path[1] == 'r')
            len = snprintf(out + used, n - used, "%d", my_rank);
        else
            out[used] = *path;
        if (path[0] == '%' && path[1] != '\0' && strchr("hpr", path[1]))
            path++;
        used += (size_t)len;
    }
    out[used < n ? used : n - 1] = '\0';
}

int cx_log_init(enum cx_log_level level, const char *path, int rank)
{
    char expanded[4096];

    max_level = level;
    my_rank = rank;
    if (host[0] == '\0')
        read_host();
    /* Opened once: %r of an early message, before MPI_Init, would be -1. */
    if (path == NULL || path[0] == '\0' || rank < 0 || file_fd >= 0)
        return 0;
    expand_path(path, expanded, sizeof(expanded));
    file_fd = open(expanded, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return file_fd < 0 ? -1 : 0;
}

static _Thread_local char *held;
static _Thread_local size_t held_left;
static _Thread_local unsigned errors;

void cx_log_hold(char *buf, size_t n)
{
    held = buf;
    held_left = n;
}

static void hold(const char *fmt, va_list args)
{
    size_t used = strlen(held);
    int len;

    if (used > 0 && used + 2 < held_left)
        used += (size_t)snprintf(held + used, held_left - used, "; ");
    len = vsnprintf(held + used, held_left - used, fmt, args);
    (void)len; /* cut where it does not fit */
}

int cx_log_on(enum cx_log_level level)
{
    return level <= max_level;
}

void cx_log(enum cx_log_level level, const char *fmt, ...)
{
    char line[1024];
    size_t limit = sizeof(line) - 1;
    int len;
    va_list args;

    if (!cx_log_on(level))
        return;
    if (held != NULL && level <= CX_LOG_WARN) {
        va_start(args, fmt);
        hold(fmt, args);
        va_end(args);
        return;
    }
    errors += level == CX_LOG_ERROR;
    if (host[0] == '\0')
        read_host();
    if (my_rank >= 0)
        len = snprintf(line, limit, "coax: %s: [%s:%d rank %d] ",
                       level_names[level], host, (int)getpid(), my_rank);
    else
        len = snprintf(line, limit, "coax: %s: [%s:%d] ", level_names[level],
                       host, (int)getpid());
    va_start(args, fmt);
    len += vsnprintf(line + len, limit - (size_t)len, fmt, args);
    va_end(args);
    if ((size_t)len > limit - 1)
        len = (int)limit - 1;
    line[len++] = '\n';
    if (write(file_fd >= 0 ? file_fd : STDERR_FILENO, line, (size_t)len) < 0)
        return; /* nowhere left to say it */
}

unsigned cx_log_errors(void)
{
    return errors;
}

void cx_log_fini(void)
{
    if (file_fd >= 0)
        close(file_fd);
    file_fd = -1;
}
