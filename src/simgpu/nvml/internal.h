/* SPDX-License-Identifier: BSD-3-Clause */
/* internal.h - what the files of the management library share. */
#ifndef SIM_NVML_INTERNAL_H
#define SIM_NVML_INTERNAL_H

#pragma GCC visibility push(default)
#include <nvml.h>
#pragma GCC visibility pop

#include "simgpu/driver/sim.h"
#include "simgpu/driver/topo.h"

struct nvmlDevice_st {
    int phys;
};

extern struct sim_config nv_config;

/* Whether a call about d may go on, which answers at out. */
nvmlReturn_t nv_about(nvmlDevice_t d, const void *out);
void nv_fill_pci(nvmlPciInfo_t *pci, unsigned bus, unsigned id);

#define PCI_ID_GPU 0x233010deu
#define PCI_ID_SWITCH 0x22a310deu

#endif
