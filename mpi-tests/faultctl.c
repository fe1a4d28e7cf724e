/* SPDX-License-Identifier: BSD-3-Clause */
/* faultctl.c - the sets, and which injector serves them. */
#include "faultctl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "fault.h"
#include "mt.h"
#include "simcount.h"

static struct {
    int env;  /* nothing is armed here */
    int hard; /* the kernel's memory fails too */
    int soft; /* it does not */
    int sim;  /* faults of the simulated driver; else of the preload */
    int error;
    int n;
    const char *name[FAULTCTL_MAX];
    uint64_t before[FAULTCTL_MAX], calls[FAULTCTL_MAX];
    mt_fault_arm_fn arm;
    mt_fault_calls_fn count;
} ctl;

static void add(const char *name)
{
    if (ctl.n == FAULTCTL_MAX)
        mt_die("too many functions");
    ctl.name[ctl.n++] = name;
}

/* Driver calls that this test makes itself. */
static int is_ours(const char *name)
{
    return !strcmp(name, "cuCtxGetCurrent") || !strcmp(name, "cuCtxSetCurrent");
}

static void open_driver(int error)
{
    ctl.sim = 1;
    ctl.error = error;
    for (int i = 0; mt_sim_function(i); i++)
        if (!strncmp(mt_sim_function(i), "cu", 2) &&
            strncmp(mt_sim_function(i), "cuda", 4) &&
            !is_ours(mt_sim_function(i)))
            add(mt_sim_function(i));
}

static void open_preload(const char *set)
{
    mt_fault_name_fn name;
    const char *text;

    ctl.env = !strcmp(set, "env");
    ctl.soft = !strcmp(set, "alloc");
    ctl.hard = !strcmp(set, "memory");

    *(void **)&name = dlsym(RTLD_DEFAULT, "mt_fault_name");
    *(void **)&ctl.arm = dlsym(RTLD_DEFAULT, "mt_fault_arm");
    *(void **)&ctl.count = dlsym(RTLD_DEFAULT, "mt_fault_calls");
    if (!name || !ctl.arm || !ctl.count)
        mt_die("the preload of faults is not loaded");
    for (int i = 0; (text = name(i)); i++) {
        int ucx = !strncmp(text, "ucp_", 4), mpi = !strncmp(text, "PMPI", 4);

        if (ctl.env || (!strcmp(set, "ucx") && ucx) ||
            (!strcmp(set, "mpi") && mpi) ||
            ((ctl.soft || ctl.hard) && !strcmp(text, "aligned_alloc")))
            add(text);
    }
}

void faultctl_open(const char *set)
{
    if (!strcmp(set, "driver"))
        open_driver(999); /* CUDA_ERROR_UNKNOWN */
    else if (!strcmp(set, "driver-gone"))
        open_driver(709); /* CUDA_ERROR_CONTEXT_IS_DESTROYED */
    else
        open_preload(set);
    if (!ctl.n)
        mt_die("--set=%s: no such set", set);
}

const char *faultctl_name(int i)
{
    return i < ctl.n ? ctl.name[i] : NULL;
}

unsigned long faultctl_calls(const char *name)
{
    for (int i = 0; i < ctl.n; i++)
        if (!strcmp(ctl.name[i], name))
            return (unsigned long)ctl.calls[i];
    return 0;
}

void faultctl_spec(char *out, size_t size, int i, unsigned long n)
{
    if (ctl.sim)
        snprintf(out, size, "%s:%lu=%d", ctl.name[i], n, ctl.error);
    else
        snprintf(out, size, "%s:%lu%s", ctl.name[i], n,
                 ctl.hard ? ",mmap:1+" : "");
}

static uint64_t count(int i)
{
    return ctl.sim ? mt_sim_calls(ctl.name[i]) - ctl.before[i]
                   : ctl.count(ctl.name[i]);
}

unsigned long faultctl_total(const char *name)
{
    return ctl.count(name);
}

void faultctl_arm(const char *spec)
{
    if (ctl.env)
        return;
    for (int i = 0; i < ctl.n; i++) {
        if (!spec)
            ctl.calls[i] = count(i);
        if (ctl.sim)
            ctl.before[i] = mt_sim_calls(ctl.name[i]);
    }
    if (ctl.sim)
        mt_sim_faults(spec);
    else if (ctl.arm(spec))
        mt_die("%s: a fault that the preload does not know", spec);
}

int faultctl_resets(void)
{
    return ctl.sim;
}

int faultctl_harmless(void)
{
    return ctl.soft;
}

int faultctl_leaves_behind(void)
{
    return ctl.hard;
}
