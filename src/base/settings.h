/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.h - the COAX_* environment variables, parsed once.
 *
 * Parsing never fails: a bad value falls back to the default and is kept as a
 * problem that the caller reports once per job. */
#ifndef CX_SETTINGS_H
#define CX_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

enum cx_scope { CX_SCOPE_AUTO, CX_SCOPE_DEVICE, CX_SCOPE_ALL };
enum cx_support { CX_SUPPORT_AUTO, CX_SUPPORT_YES, CX_SUPPORT_NO };
enum cx_gpu_setting { CX_GPU_AUTO, CX_GPU_YES, CX_GPU_NO };

enum cx_setting_type {
    CX_SETTING_BOOL,
    CX_SETTING_CHOICE,
    CX_SETTING_SIZE,
    CX_SETTING_NUMBER,
    CX_SETTING_TEXT
};

/* Values by field name of settings.def. TEXT fields are owned copies. */
struct cx_settings {
    long enabled, scope, timeout_s, gpu, sync, stats, debug, cuda_support;
    size_t small;
    char *algo, *net_devices, *debug_file;
    uint64_t hash;     /* over the rows with agree = 1 */
    int nproblems;     /* bad values and unknown names found */
    char problem[512]; /* the first few, one sentence each, joined by "; " */
};

struct cx_setting_row {
    const char *name;
    enum cx_setting_type type;
    const char *dflt, *range;
    int agree;
    const char *help;
};

/* All rows, in the order of the table; `*n` gets their number. */
const struct cx_setting_row *cx_setting_rows(int *n);

/* Reads the environment into `*out`. cx_settings_fini frees what it owns. */
void cx_settings_load(struct cx_settings *out);
void cx_settings_fini(struct cx_settings *settings);

/* Adds one sentence to the problems. */
void cx_settings_problem(struct cx_settings *settings, const char *text);

/* "64K", "1M", "4096" to bytes; 0 on success, -1 when malformed. */
int cx_parse_size(const char *text, size_t *out);

#endif
