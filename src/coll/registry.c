/* SPDX-License-Identifier: BSD-3-Clause */
/* registry.c - all algorithms by name. */
#include "coll/algorithms.h"

#include <string.h>

const struct cx_algorithm *const cx_algorithms[] = {
    &cx_allreduce_rdouble,
    &cx_allreduce_ring,
    &cx_bcast_knomial,
    &cx_bcast_chain,
    &cx_allgather_ring,
    &cx_allgather_bruck,
    NULL,
};

const struct cx_algorithm *cx_algorithm_find(enum cx_func func,
                                             const char *name)
{
    for (int i = 0; cx_algorithms[i]; i++)
        if (cx_algorithms[i]->func == func &&
            strcmp(cx_algorithms[i]->name, name) == 0)
            return cx_algorithms[i];
    return NULL;
}
