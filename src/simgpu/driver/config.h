/* SPDX-License-Identifier: BSD-3-Clause */
/* config.h - the SIMGPU_ settings of this process.
 *
 * Read once, at the first call into the library. A value that is not
 * understood prints one line on stderr and makes cuInit fail, so that a typing
 * error in a test never turns into a test of something else. */
#ifndef SIM_CONFIG_H
#define SIM_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_MAX_DEVICES 16
#define SIM_PATH_MAX 512
#define SIM_DELAY_MAX_US 10000000
#define SIM_NVLINKS_MAX 18

/* What a delay is for: kinds of work first, then kinds of streams. */
enum sim_delay {
    SIM_DELAY_COPY,
    SIM_DELAY_MEMSET,
    SIM_DELAY_KERNEL,
    SIM_DELAY_GRAPH,
    SIM_DELAY_LEGACY,
    SIM_DELAY_THREAD,
    SIM_DELAY_BLOCKING,
    SIM_DELAY_NONBLOCKING,
    SIM_DELAYS
};

struct sim_config {
    bool ok;                      /* all settings were understood */
    int ndevices;                 /* devices of the machine */
    int nvisible;                 /* of these, shown to the program */
    int visible[SIM_MAX_DEVICES]; /* ordinal -> device of the machine */
    size_t mem;                   /* bytes of memory a device */
    bool peer_copy; /* copies need no peer access: they are staged */
    bool p2p[SIM_MAX_DEVICES][SIM_MAX_DEVICES]; /* by device of the machine */
    bool ipc_export;                            /* cuIpcGetMemHandle works */
    bool ipc_open;                              /* cuIpcOpenMemHandle works */
    bool ipc_counted; /* a second open of a mapping is counted, not refused */
    bool reuse;       /* freed addresses are given out again */
    unsigned delay_us[SIM_DELAYS]; /* before asynchronous work */
    const char *faults;            /* borrowed from the environment or NULL */
    bool nvml;                     /* there is a management library */
    bool nvswitch;                 /* all devices are joined by NVSwitch */
    /* NVLinks between two devices of the machine */
    unsigned char links[SIM_MAX_DEVICES][SIM_MAX_DEVICES];
    char kernels[SIM_PATH_MAX];  /* libraries of kernels, with colons */
    char counters[SIM_PATH_MAX]; /* live counter file, "" for none */
    char share[SIM_PATH_MAX];    /* table of used memory, "" for none */
    char report[SIM_PATH_MAX];   /* text at exit, "" for none */
};

/* Fills *c from the environment; c->ok says whether all of it was good. */
void sim_config_read(struct sim_config *c);
/* visible.c: CUDA_VISIBLE_DEVICES. */
void sim_visible_read(struct sim_config *c);
/* delay_spec.c: microseconds for all work, or "kernel:500,legacy:20"; what is
 * not named is 0. false: bad. */
bool sim_delay_parse(const char *spec, unsigned us[SIM_DELAYS]);

#endif
