/* SPDX-License-Identifier: BSD-3-Clause */
/* nvlink.c - the management library's calls on NVLink and the fabric. */
#include "internal.h"

#include <string.h>

#define VERSION_HOPPER 4
#define SWITCH_BUS 0x80
#define SWITCHES 4

/* Which device is at the other end of a link: a number, or one of these. */
#define TO_NOTHING (-1)
#define TO_SWITCH (-2)

/* The links of a device are given to its pairs in the order of the others. */
static int other_end(int phys, unsigned link)
{
    unsigned at = 0;
    if (nv_config.nvswitch)
        return TO_SWITCH;
    for (int i = 0; i < nv_config.ndevices; i++) {
        at += nv_config.links[phys][i];
        if (link < at)
            return i;
    }
    return TO_NOTHING;
}

/* The same, for a call; a machine without any does not have the calls. */
static nvmlReturn_t find(nvmlDevice_t d, unsigned link, const void *out,
                         int *end)
{
    nvmlReturn_t rc = nv_about(d, out);
    if (rc != NVML_SUCCESS)
        return rc;
    if (link >= NVML_NVLINK_MAX_LINKS)
        return NVML_ERROR_INVALID_ARGUMENT;
    *end = other_end(d->phys, link);
    return other_end(d->phys, 0) == TO_NOTHING ? NVML_ERROR_NOT_SUPPORTED
                                               : NVML_SUCCESS;
}

/* A link that is up. */
static nvmlReturn_t find_active(nvmlDevice_t d, unsigned link, const void *out,
                                int *end)
{
    nvmlReturn_t rc = find(d, link, out, end);
    return rc == NVML_SUCCESS && *end == TO_NOTHING ? NVML_ERROR_NOT_SUPPORTED
                                                    : rc;
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link,
                                      nvmlEnableState_t *isActive)
{
    int end;
    nvmlReturn_t rc = find(device, link, isActive, &end);
    if (rc == NVML_SUCCESS)
        *isActive =
            end == TO_NOTHING ? NVML_FEATURE_DISABLED : NVML_FEATURE_ENABLED;
    return rc;
}

nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned int link,
                                        unsigned int *version)
{
    int end;
    nvmlReturn_t rc = find_active(device, link, version, &end);
    if (rc == NVML_SUCCESS)
        *version = VERSION_HOPPER;
    return rc;
}

nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t device,
                                           unsigned int link,
                                           nvmlNvLinkCapability_t capability,
                                           unsigned int *capResult)
{
    int end;
    nvmlReturn_t rc = find_active(device, link, capResult, &end);
    if (rc == NVML_SUCCESS &&
        ((int)capability < 0 || capability > NVML_NVLINK_CAP_VALID))
        rc = NVML_ERROR_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *capResult = capability == NVML_NVLINK_CAP_P2P_SUPPORTED ||
                     capability == NVML_NVLINK_CAP_P2P_ATOMICS ||
                     capability == NVML_NVLINK_CAP_VALID;
    return rc;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device,
                                                 unsigned int link,
                                                 nvmlPciInfo_t *pci)
{
    int end;
    nvmlReturn_t rc = find_active(device, link, pci, &end);
    if (rc != NVML_SUCCESS)
        return rc;
    if (end == TO_SWITCH)
        nv_fill_pci(pci, SWITCH_BUS + link % SWITCHES, PCI_ID_SWITCH);
    else
        nv_fill_pci(pci, (unsigned)sim_topo_bus(end), PCI_ID_GPU);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(
    nvmlDevice_t device, unsigned int link,
    nvmlIntNvLinkDeviceType_t *pNvLinkDeviceType)
{
    int end;
    nvmlReturn_t rc = find_active(device, link, pNvLinkDeviceType, &end);
    if (rc == NVML_SUCCESS)
        *pNvLinkDeviceType = end == TO_SWITCH ? NVML_NVLINK_DEVICE_TYPE_SWITCH
                                              : NVML_NVLINK_DEVICE_TYPE_GPU;
    return rc;
}

static unsigned char state(void)
{
    return nv_config.nvswitch ? NVML_GPU_FABRIC_STATE_COMPLETED
                              : NVML_GPU_FABRIC_STATE_NOT_SUPPORTED;
}

/* The fabric is inside of the node: it has no cluster. */
nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device,
                                        nvmlGpuFabricInfo_t *gpuFabricInfo)
{
    nvmlReturn_t rc = nv_about(device, gpuFabricInfo);
    if (rc == NVML_SUCCESS)
        *gpuFabricInfo = (nvmlGpuFabricInfo_t){.state = state()};
    return rc;
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device,
                                         nvmlGpuFabricInfoV_t *gpuFabricInfo)
{
    nvmlReturn_t rc = nv_about(device, gpuFabricInfo);
    if (rc == NVML_SUCCESS && gpuFabricInfo->version != nvmlGpuFabricInfo_v2)
        rc = NVML_ERROR_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *gpuFabricInfo = (nvmlGpuFabricInfoV_t){.version = nvmlGpuFabricInfo_v2,
                                                .state = state()};
    return rc;
}
