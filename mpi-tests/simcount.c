/* SPDX-License-Identifier: BSD-3-Clause */
/* simcount.c - reaches the stand-in through cuGetExportTable. */
#include "simcount.h"

#include <dlfcn.h>
#include <string.h>

#include "mt.h"
#include "simgpu/counters.h"

static const struct simgpu_control *control(void)
{
    static const struct {
        unsigned char bytes[16];
    } uuid = SIMGPU_CONTROL_UUID;
    static const struct simgpu_control *ctl;
    int (*get)(const void **table, const void *id);
    void *lib;

    if (ctl)
        return ctl;
    lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!lib)
        return NULL;
    *(void **)&get = dlsym(lib, "cuGetExportTable");
    if (!get || get((const void **)&ctl, &uuid))
        ctl = NULL;
    return ctl;
}

int mt_sim_present(void)
{
    return control() != NULL;
}

void mt_sim_copies(struct mt_copies *out)
{
    const struct simgpu_control *ctl = control();

    memset(out, 0, sizeof *out);
    if (!ctl)
        return;
    out->h2d = ctl->counters->bytes[SIMGPU_H2D];
    out->d2h = ctl->counters->bytes[SIMGPU_D2H];
    out->d2d = ctl->counters->bytes[SIMGPU_D2D];
    out->h2d_copies = ctl->counters->copies[SIMGPU_H2D];
    out->d2h_copies = ctl->counters->copies[SIMGPU_D2H];
}

void mt_sim_delay(unsigned delay_us)
{
    const struct simgpu_control *ctl = control();

    if (!ctl)
        mt_die("delays need the simulated GPU");
    ctl->set_delay_us(delay_us);
}

void mt_sim_faults(const char *spec)
{
    const struct simgpu_control *ctl = control();

    if (!ctl || ctl->set_faults(spec))
        mt_die("faults need the simulated GPU");
}

uint64_t mt_sim_contexts(void)
{
    const struct simgpu_control *ctl = control();

    return ctl ? ctl->counters->contexts_made : 0;
}

uint64_t mt_sim_calls(const char *name)
{
    const struct simgpu_control *ctl = control();

    for (uint32_t i = 0; ctl && i < ctl->counters->nfns; i++)
        if (!strcmp(ctl->counters->fn[i].name, name))
            return ctl->counters->fn[i].calls;
    return 0;
}

const char *mt_sim_function(int i)
{
    const struct simgpu_control *ctl = control();

    return ctl && (uint32_t)i < ctl->counters->nfns ? ctl->counters->fn[i].name
                                                    : NULL;
}

uint64_t mt_sim_objects(void)
{
    const struct simgpu_control *ctl = control();

    return ctl ? ctl->counters->allocs - ctl->counters->frees +
                     ctl->counters->streams_live + ctl->counters->events_live
               : 0;
}
