/* SPDX-License-Identifier: BSD-3-Clause */
/* counters.c - the counter block, in a file when asked for, and the report. */
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const fn_names[] = {
#define SIM_FN(name) #name,
#include "simgpu/functions.def"
#undef SIM_FN
};

_Static_assert(SIM_FN_COUNT <= SIMGPU_FN_MAX, "fn[] of the counters is full");

static struct simgpu_counters local_counters;
struct simgpu_counters *sim_counters = &local_counters;
static char report_path[SIM_PATH_MAX];

/* The function with this name, or -1. */
int sim_fn_find(const char *name, size_t len)
{
    for (int i = 0; i < SIM_FN_COUNT; i++)
        if (strlen(fn_names[i]) == len && strncmp(fn_names[i], name, len) == 0)
            return i;
    return -1;
}

static void *map_file(const char *path, size_t size)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return MAP_FAILED;
    void *mem = MAP_FAILED;
    if (ftruncate(fd, (off_t)size) == 0)
        mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return mem;
}

/* A file that cannot be made is reported and makes the settings bad. */
void sim_counters_open(const struct sim_config *c)
{
    if (c->counters[0] != '\0') {
        void *mem = map_file(c->counters, sizeof(*sim_counters));
        if (mem == MAP_FAILED) {
            fprintf(stderr, "simgpu: SIMGPU_COUNTERS=%s: cannot write it: %s\n",
                    c->counters, strerror(errno));
            sim.config.ok = false;
        } else {
            sim_counters = mem;
        }
    }
    memcpy(report_path, c->report, sizeof(report_path));
    sim_counters->size = sizeof(*sim_counters);
    sim_counters->nfns = SIM_FN_COUNT;
    sim_counters->pid = getpid();
    for (int i = 0; i < SIM_FN_COUNT; i++)
        memcpy(sim_counters->fn[i].name, fn_names[i], strlen(fn_names[i]) + 1);
    memcpy(sim_counters->magic, SIMGPU_COUNTERS_MAGIC, 8);
}

static void report_write(FILE *f, const struct simgpu_counters *c)
{
    static const char *const kinds[SIMGPU_KINDS] = {"h2h", "h2d", "d2h",
                                                    "d2d", "p2p", "memset"};
    fprintf(f, "pid %lld\n", (long long)c->pid);
    for (int k = 0; k < SIMGPU_KINDS; k++)
        fprintf(f, "copies %s %llu bytes %llu\n", kinds[k],
                (unsigned long long)c->copies[k],
                (unsigned long long)c->bytes[k]);
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"copies_2d", c->copies_2d},
        {"peer_staged", c->peer_staged},
        {"contexts_made", c->contexts_made},
        {"allocs", c->allocs},
        {"frees", c->frees},
        {"device_bytes", c->device_bytes},
        {"device_bytes_peak", c->device_bytes_peak},
        {"ipc_exports", c->ipc_exports},
        {"ipc_opens", c->ipc_opens},
        {"ipc_closes", c->ipc_closes},
        {"vmm_maps", c->vmm_maps},
        {"vmm_unmaps", c->vmm_unmaps},
        {"pool_allocs", c->pool_allocs},
        {"order_errors", c->order_errors},
        {"streams_live", c->streams_live},
        {"events_live", c->events_live},
        {"kernels", c->kernels},
        {"kernel_faults", c->kernel_faults},
        {"graph_launches", c->graph_launches},
        {"captures_broken", c->captures_broken},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        fprintf(f, "%s %llu\n", rows[i].name,
                (unsigned long long)rows[i].value);
    for (int i = 0; i < SIM_FN_COUNT; i++)
        if (c->fn[i].calls != 0)
            fprintf(f, "calls %s %llu faults %llu\n", c->fn[i].name,
                    (unsigned long long)c->fn[i].calls,
                    (unsigned long long)c->fn[i].faults);
}

/* Writes the text report, at exit. */
void sim_counters_close(void)
{
    if (report_path[0] == '\0')
        return;
    FILE *f = fopen(report_path, "we");
    if (f == NULL) {
        fprintf(stderr, "simgpu: SIMGPU_REPORT=%s: cannot write it: %s\n",
                report_path, strerror(errno));
        return;
    }
    report_write(f, sim_counters);
    fclose(f);
}
