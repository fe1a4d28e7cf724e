/* SPDX-License-Identifier: BSD-3-Clause */
/* resources.c - which transports and devices a UCP context may use.
 *
 * UCP 1.13 tells this only in print: a line
 *     resource 2  :  md 1  dev 2  flags -- tcp/lo
 * for each transport on each device. Lines that look different are passed
 * over, so another UCX can shorten the description but not break the wire. */
#include "ucx/internal.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Transports that stay inside a node; all others are network transports. */
static const char *const local[] = {
    "self",     "posix",     "sysv",     "xpmem",    "cma",
    "knem",     "cuda_copy", "cuda_ipc", "gdr_copy", "rocm_copy",
    "rocm_ipc", "rocm_gdr",  "ze_copy",  "ze_ipc",   "ze_gdr"};

static int is_local(const char *tl)
{
    for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++) {
        if (!strcmp(tl, local[i]))
            return 1;
    }
    return 0;
}

int cx_ucx_listed(const char *list, const char *word, size_t n)
{
    while (*list) {
        size_t len = strcspn(list, ", ");

        if (len == n && !memcmp(list, word, n))
            return 1;
        list += len;
        list += strspn(list, ", ");
    }
    return 0;
}

/* Appends `word` once; one that does not fit is left out. */
static void add(char *list, size_t size, const char *word)
{
    size_t used = strlen(list), n = strlen(word);

    if (cx_ucx_listed(list, word, n) || used + n + 3 > size)
        return;
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", word);
}

static void add_resource(struct resources *out, char *text)
{
    char *dev = strchr(text, '/');

    if (!dev)
        return;
    *dev++ = '\0';
    if (is_local(text)) {
        if (strcmp(text, "self"))
            add(out->list, sizeof(out->list), text);
        if (!strcmp(text, "posix") || !strcmp(text, "sysv") ||
            !strcmp(text, "xpmem"))
            out->shm = 1;
        return;
    }
    add(out->devices, sizeof(out->devices), dev);
    if (strcmp(text, "tcp"))
        out->rdma = 1;
    dev[-1] = '/';
    add(out->list, sizeof(out->list), text);
}

static void parse(char *text, struct resources *out)
{
    char *save = NULL;

    for (char *line = strtok_r(text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        char *last = strrchr(line, ' ');

        if (strstr(line, " resource ") && last)
            add_resource(out, last + 1);
    }
}

enum cx_status cx_ucx_resources(ucp_context_h context, struct resources *out)
{
    char *text = NULL;
    size_t n = 0;
    FILE *stream = open_memstream(&text, &n);

    if (!stream) {
        cx_error("no memory to describe the ucx context");
        return CX_ERR_NOMEM;
    }
    ucp_context_print_info(context, stream);
    fclose(stream);
    memset(out, 0, sizeof(*out));
    parse(text, out);
    free(text);
    return CX_OK;
}
