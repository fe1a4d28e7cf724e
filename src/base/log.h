/* SPDX-License-Identifier: BSD-3-Clause */
/* log.h - messages to the user: silent by default, one line each, lower case:
 * what was observed, its value, what to do.
 *
 * Lines go to stderr or to COAX_DEBUG_FILE, as
 *   coax: error: [host:pid rank 3] text
 * An error is logged once, by the function that first detects it. */
#ifndef CX_LOG_H
#define CX_LOG_H

#include <stddef.h>

enum cx_log_level {
    CX_LOG_ERROR,
    CX_LOG_WARN,
    CX_LOG_INFO,
    CX_LOG_DEBUG,
    CX_LOG_TRACE
};

/* `path` may be NULL (stderr) and may hold %h, %p and %r. Called again when
 * the rank becomes known; -1 while it is not. Returns -1 when the file cannot
 * be opened (then stderr is used), else 0. */
int cx_log_init(enum cx_log_level level, const char *path, int rank);
int cx_log_on(enum cx_log_level level);
void cx_log(enum cx_log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* From now on this thread's errors and warnings are added to the text in `buf`
 * instead, without their prefix, the first ones that fit; NULL ends it. For
 * causes that somebody else reports: one of several ranks, or a caller who
 * knows what failed by them. */
void cx_log_hold(char *buf, size_t n);
/* Lines at level error that this thread has logged so far. */
unsigned cx_log_errors(void);
/* Closes the file, if any. */
void cx_log_fini(void);

#define cx_error(...) cx_log(CX_LOG_ERROR, __VA_ARGS__)
#define cx_warn(...) cx_log(CX_LOG_WARN, __VA_ARGS__)
#define cx_info(...) cx_log(CX_LOG_INFO, __VA_ARGS__)
#define cx_debug(...) cx_log(CX_LOG_DEBUG, __VA_ARGS__)

#endif
