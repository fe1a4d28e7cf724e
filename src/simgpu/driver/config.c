/* SPDX-License-Identifier: BSD-3-Clause */
/* config.c - reads the SIMGPU_ variables, strictly. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

#define KIB ((size_t)1024)

/* Each reader returns false when the value is not one of those accepted. */
typedef bool (*read_fn)(struct sim_config *c, const char *value);

/* A decimal number in [lo, hi]; *end is where it stopped. */
static bool parse_number(const char *s, long lo, long hi, long *out,
                         const char **end)
{
    char *stop;
    if (*s < '0' || *s > '9')
        return false;
    long v = strtol(s, &stop, 10);
    if (v < lo || v > hi)
        return false;
    *out = v;
    *end = stop;
    return true;
}

static bool read_devices(struct sim_config *c, const char *value)
{
    long n;
    const char *end;
    if (!parse_number(value, 0, SIM_MAX_DEVICES, &n, &end) || *end != '\0')
        return false;
    c->ndevices = (int)n;
    return true;
}

static bool read_mem(struct sim_config *c, const char *value)
{
    long n;
    const char *end;
    size_t unit = 1;
    if (!parse_number(value, 1, 1L << 40, &n, &end))
        return false;
    if (*end == 'K')
        unit = KIB;
    else if (*end == 'M')
        unit = KIB * KIB;
    else if (*end == 'G')
        unit = KIB * KIB * KIB;
    else if (*end != '\0')
        return false;
    if (*end != '\0' && end[1] != '\0')
        return false;
    if ((size_t)n > (KIB << 30) / unit || (size_t)n * unit < KIB * KIB)
        return false;
    c->mem = (size_t)n * unit;
    return true;
}

/* "0-1,2-3": only these pairs reach each other. */
static bool read_pairs(struct sim_config *c, const char *value)
{
    const char *s = value;
    for (;;) {
        long a, b;
        if (!parse_number(s, 0, SIM_MAX_DEVICES - 1, &a, &s) || *s++ != '-' ||
            !parse_number(s, 0, SIM_MAX_DEVICES - 1, &b, &s))
            return false;
        c->p2p[a][b] = c->p2p[b][a] = true;
        if (*s == '\0')
            return true;
        if (*s++ != ',')
            return false;
    }
}

static bool read_p2p(struct sim_config *c, const char *value)
{
    bool on = strcmp(value, "on") == 0;
    for (int a = 0; a < SIM_MAX_DEVICES; a++)
        for (int b = 0; b < SIM_MAX_DEVICES; b++)
            c->p2p[a][b] = on;
    return on || strcmp(value, "off") == 0 || read_pairs(c, value);
}

static bool read_ipc(struct sim_config *c, const char *value)
{
    bool off = strcmp(value, "off") == 0;
    bool no_export = strcmp(value, "no-export") == 0;
    bool no_open = strcmp(value, "no-open") == 0;
    c->ipc_export = !off && !no_export;
    c->ipc_open = !off && !no_open;
    return off || no_export || no_open || strcmp(value, "on") == 0;
}

static bool read_ipc_reopen(struct sim_config *c, const char *value)
{
    c->ipc_counted = strcmp(value, "counted") == 0;
    return c->ipc_counted || strcmp(value, "refused") == 0;
}

static bool read_reuse(struct sim_config *c, const char *value)
{
    c->reuse = strcmp(value, "on") == 0;
    return c->reuse || strcmp(value, "off") == 0;
}

static bool read_delay(struct sim_config *c, const char *value)
{
    return sim_delay_parse(value, c->delay_us);
}

/* Checked where the faults are parsed. */
static bool read_fail(struct sim_config *c, const char *value)
{
    c->faults = value;
    return true;
}

/* Copies a path, with %p replaced by the process id. */
static bool expand_path(char *path, const char *value)
{
    char out[SIM_PATH_MAX];
    size_t n = 0;
    for (const char *s = value; *s != '\0'; s++) {
        if (*s != '%') {
            out[n++] = *s;
        } else if (s[1] == 'p') {
            n += (size_t)snprintf(out + n, 16, "%ld", (long)getpid());
            s++;
        } else {
            return false;
        }
        if (n > SIM_PATH_MAX - 20)
            return false;
    }
    out[n] = '\0';
    memcpy(path, out, n + 1);
    return n > 0;
}

static unsigned links_of(const struct sim_config *c, long dev)
{
    unsigned n = 0;
    for (int i = 0; i < SIM_MAX_DEVICES; i++)
        n += c->links[dev][i];
    return n;
}

/* "0-1:4,1-2": pairs that NVLink joins, by so many links. */
static bool read_links(struct sim_config *c, const char *s)
{
    for (;;) {
        long a, b, n = 1;
        if (!parse_number(s, 0, SIM_MAX_DEVICES - 1, &a, &s) || *s++ != '-' ||
            !parse_number(s, 0, SIM_MAX_DEVICES - 1, &b, &s) || a == b)
            return false;
        if (*s == ':' && !parse_number(s + 1, 1, SIM_NVLINKS_MAX, &n, &s))
            return false;
        c->links[a][b] = c->links[b][a] = (unsigned char)n;
        if (links_of(c, a) > SIM_NVLINKS_MAX ||
            links_of(c, b) > SIM_NVLINKS_MAX)
            return false;
        if (*s == '\0')
            return true;
        if (*s++ != ',')
            return false;
    }
}

static bool read_topo(struct sim_config *c, const char *value)
{
    c->nvswitch = strcmp(value, "nvswitch") == 0;
    return c->nvswitch || strcmp(value, "pcie") == 0 || read_links(c, value);
}

static bool read_nvml(struct sim_config *c, const char *value)
{
    c->nvml = strcmp(value, "on") == 0;
    return c->nvml || strcmp(value, "off") == 0;
}

static bool read_kernels(struct sim_config *c, const char *value)
{
    return expand_path(c->kernels, value);
}

static bool read_counters(struct sim_config *c, const char *value)
{
    return expand_path(c->counters, value);
}

static bool read_report(struct sim_config *c, const char *value)
{
    return expand_path(c->report, value);
}

static bool read_share(struct sim_config *c, const char *value)
{
    return expand_path(c->share, value);
}

static bool read_peer_copy(struct sim_config *c, const char *value)
{
    c->peer_copy = strcmp(value, "staged") == 0;
    return c->peer_copy || strcmp(value, "refused") == 0;
}

static const struct setting {
    const char *name;
    read_fn read;
    const char *accepted;
} settings[] = {
    {"SIMGPU_DEVICES", read_devices, "a number of devices from 0 to 16"},
    {"SIMGPU_MEM", read_mem, "bytes from 1M to 1024G, as in 512M or 2G"},
    {"SIMGPU_SHARE", read_share, "a short path, %p for the process id"},
    {"SIMGPU_PEER_COPY", read_peer_copy, "staged or refused"},
    {"SIMGPU_P2P", read_p2p, "on, off, or pairs of devices as in 0-1,2-3"},
    {"SIMGPU_IPC", read_ipc, "on, off, no-export or no-open"},
    {"SIMGPU_IPC_REOPEN", read_ipc_reopen, "refused or counted"},
    {"SIMGPU_REUSE", read_reuse, "on or off"},
    {"SIMGPU_DELAY_US", read_delay,
     "microseconds from 0 to 10000000, for all work or as in "
     "kernel:500,legacy:20 for copy, memset, kernel, graph and for streams: "
     "legacy, thread, blocking, nonblocking"},
    {"SIMGPU_FAIL", read_fail, "FUNCTION:CALL=ERROR,..."},
    {"SIMGPU_TOPO", read_topo,
     "pcie, nvswitch, or pairs of devices with NVLinks as in 0-1:4,1-2"},
    {"SIMGPU_NVML", read_nvml, "on or off"},
    {"SIMGPU_KERNELS", read_kernels, "libraries of kernels, with colons"},
    {"SIMGPU_COUNTERS", read_counters, "a short path, %p for the process id"},
    {"SIMGPU_REPORT", read_report, "a short path, %p for the process id"},
};

#define NSETTINGS (sizeof(settings) / sizeof(settings[0]))

static void read_one(struct sim_config *c, const char *entry)
{
    const char *eq = strchr(entry, '=');
    size_t len = eq != NULL ? (size_t)(eq - entry) : strlen(entry);
    for (size_t i = 0; i < NSETTINGS; i++) {
        const struct setting *s = &settings[i];
        if (strlen(s->name) != len || strncmp(s->name, entry, len) != 0)
            continue;
        if (!s->read(c, eq + 1)) {
            fprintf(stderr, "simgpu: %s: expected %s\n", entry, s->accepted);
            c->ok = false;
        }
        return;
    }
    fprintf(stderr, "simgpu: %.*s: no such setting; there are", (int)len,
            entry);
    for (size_t i = 0; i < NSETTINGS; i++)
        fprintf(stderr, " %s", settings[i].name);
    fputc('\n', stderr);
    c->ok = false;
}

void sim_config_read(struct sim_config *c)
{
    memset(c, 0, sizeof(*c));
    c->ok = true;
    c->ndevices = 1;
    c->mem = KIB * KIB * KIB * 2;
    c->reuse = true;
    c->nvml = true;
    c->peer_copy = true;
    read_p2p(c, "on");
    read_ipc(c, "on");
    for (char **e = environ; e != NULL && *e != NULL; e++)
        if (strncmp(*e, "SIMGPU_", strlen("SIMGPU_")) == 0)
            read_one(c, *e);
    sim_visible_read(c);
}
