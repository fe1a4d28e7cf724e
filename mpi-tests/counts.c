/* SPDX-License-Identifier: BSD-3-Clause */
/* counts.c - finds the counting preloads of this process. */
#include "counts.h"

#include <dlfcn.h>
#include <stddef.h>

#include "mt.h"

static void *find(const char *name, int must)
{
    void *sym = dlsym(RTLD_DEFAULT, name);

    if (!sym && must)
        mt_die("%s: the counting preload is not loaded", name);
    return sym;
}

void mt_counts_ucp(struct mt_ucp_counts *out)
{
    mt_ucp_counts_fn get;

    *(void **)&get = find("mt_shim_ucp_counts", 1);
    get(out);
}

void mt_counts_mpi(struct mt_mpi_counts *out)
{
    mt_mpi_counts_fn get;

    *(void **)&get = find("mt_shim_mpi_counts", 1);
    get(out);
}

int mt_counts_present(void)
{
    return find("mt_shim_ucp_counts", 0) && find("mt_shim_mpi_counts", 0);
}
