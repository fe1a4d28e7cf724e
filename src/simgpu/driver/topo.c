/* SPDX-License-Identifier: BSD-3-Clause */
/* topo.c - see topo.h. */
#include "topo.h"

#define LEVEL_INTERNAL 0
#define LEVEL_SINGLE 10
#define LEVEL_HOSTBRIDGE 30
#define LEVEL_SYSTEM 50

int sim_topo_bus(int phys)
{
    return 0x10 + phys;
}

int sim_topo_level(int a, int b)
{
    if (a == b)
        return LEVEL_INTERNAL;
    if (a / 2 == b / 2)
        return LEVEL_SINGLE;
    return a / 4 == b / 4 ? LEVEL_HOSTBRIDGE : LEVEL_SYSTEM;
}

bool sim_topo_joined(const struct sim_config *c, int a, int b)
{
    return a != b && (c->nvswitch || c->links[a][b] > 0);
}
