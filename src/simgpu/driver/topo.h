/* SPDX-License-Identifier: BSD-3-Clause */
/* topo.h - the machine as the driver and the management library both tell of
 * it, by device of the machine. Pure. */
#ifndef SIM_TOPO_H
#define SIM_TOPO_H

#include "config.h"

#define SIM_TOPO_NAME "Coax simulated GPU"

/* The PCI bus; domain and slot are 0. */
int sim_topo_bus(int phys);
/* What lies between two devices on PCI, as NVML's levels: two share a switch,
 * four a host bridge. */
int sim_topo_level(int a, int b);
/* Whether NVLink joins them, by a switch or directly. */
bool sim_topo_joined(const struct sim_config *c, int a, int b);

#endif
