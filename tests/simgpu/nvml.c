/* SPDX-License-Identifier: BSD-3-Clause */
/* nvml.c - the management library tells the same of the devices as the driver,
 * whatever the program may use of them, and how they are connected
 * (SIMGPU_DEVICES=4, CUDA_VISIBLE_DEVICES=2,1, and a SIMGPU_TOPO). */
#include "t.h"

#include <nvml.h>

static nvmlDevice_t dev[4];

static void same_as_the_driver(void)
{
    nvmlDevice_t same;
    nvmlPciInfo_t pci;
    nvmlMemory_t mem;
    CUuuid uuid;
    char bus[32], text[96], want[48];
    size_t total;
    unsigned index, n;
    int bus_number;
    OK(cuInit(0));
    OK(nvmlDeviceGetCount_v2(&n));
    CHECK(n == 4);
    for (int i = 0; i < 2; i++) { /* device 2, then 1 */
        OK(cuDeviceGetPCIBusId(bus, sizeof(bus), i));
        OK(nvmlDeviceGetHandleByPciBusId_v2(bus, &same));
        CHECK(same == dev[2 - i]);
        OK(nvmlDeviceGetIndex(same, &index));
        CHECK(index == 2u - (unsigned)i);
        OK(nvmlDeviceGetPciInfo_v3(same, &pci));
        OK(cuDeviceGetAttribute(&bus_number, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
                                i));
        CHECK(pci.bus == (unsigned)bus_number);
        CHECK(strcmp(pci.busIdLegacy, bus) == 0);
        CHECK(strlen(pci.busId) == 16 && strstr(pci.busId, bus) != NULL);
        OK(cuDeviceGetUuid(&uuid, i));
        OK(nvmlDeviceGetUUID(same, text, sizeof(text)));
        const unsigned char *u = (const unsigned char *)uuid.bytes;
        snprintf(want, sizeof(want),
                 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
                 "%02x%02x%02x%02x%02x%02x",
                 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9],
                 u[10], u[11], u[12], u[13], u[14], u[15]);
        CHECK(strcmp(text, want) == 0);
        OK(nvmlDeviceGetHandleByUUID(text, &same));
        CHECK(same == dev[2 - i]);
        OK(cuDeviceTotalMem(&total, i));
        OK(nvmlDeviceGetMemoryInfo(same, &mem));
        CHECK(mem.total == total && mem.used + mem.free == total);
        OK(cuDeviceGetName(bus, sizeof(bus), i));
        OK(nvmlDeviceGetName(same, text, sizeof(text)));
        CHECK(strcmp(bus, text) == 0);
    }
}

static void distances(void)
{
    static const int want[4] = {NVML_TOPOLOGY_INTERNAL, NVML_TOPOLOGY_SINGLE,
                                NVML_TOPOLOGY_HOSTBRIDGE,
                                NVML_TOPOLOGY_HOSTBRIDGE};
    nvmlGpuTopologyLevel_t level;
    nvmlDevice_t near[4];
    unsigned n = 4, mode, pending;
    unsigned long cpus[16];
    for (int i = 0; i < 4; i++) {
        OK(nvmlDeviceGetTopologyCommonAncestor(dev[0], dev[i], &level));
        IS(level, want[i]);
    }
    OK(nvmlDeviceGetTopologyNearestGpus(dev[0], NVML_TOPOLOGY_HOSTBRIDGE, &n,
                                        near));
    CHECK(n == 2 && near[0] == dev[2] && near[1] == dev[3]);
    OK(nvmlDeviceGetMigMode(dev[0], &mode, &pending));
    CHECK(mode == 0 && pending == 0);
    OK(nvmlDeviceGetCpuAffinity(dev[0], 16, cpus));
    CHECK(cpus[0] & 1);
}

/* 0-1 by two links, 1-3 by one. */
static void pairs(void)
{
    static const int far[3] = {0, 0, 3};
    nvmlEnableState_t active;
    nvmlPciInfo_t pci, end;
    nvmlIntNvLinkDeviceType_t type;
    nvmlGpuP2PStatus_t status;
    nvmlGpuFabricInfoV_t fabric = {.version = nvmlGpuFabricInfo_v2};
    unsigned can, version;
    for (unsigned link = 0; link < 3; link++) {
        OK(nvmlDeviceGetNvLinkState(dev[1], link, &active));
        CHECK(active == NVML_FEATURE_ENABLED);
        OK(nvmlDeviceGetNvLinkRemotePciInfo_v2(dev[1], link, &pci));
        OK(nvmlDeviceGetPciInfo_v3(dev[far[link]], &end));
        CHECK(strcmp(pci.busId, end.busId) == 0);
        OK(nvmlDeviceGetNvLinkRemoteDeviceType(dev[1], link, &type));
        CHECK(type == NVML_NVLINK_DEVICE_TYPE_GPU);
    }
    OK(nvmlDeviceGetNvLinkState(dev[1], 3, &active));
    CHECK(active == NVML_FEATURE_DISABLED);
    IS(nvmlDeviceGetNvLinkRemotePciInfo_v2(dev[1], 3, &pci),
       NVML_ERROR_NOT_SUPPORTED);
    IS(nvmlDeviceGetNvLinkState(dev[1], NVML_NVLINK_MAX_LINKS, &active),
       NVML_ERROR_INVALID_ARGUMENT);
    IS(nvmlDeviceGetNvLinkState(dev[2], 0, &active), NVML_ERROR_NOT_SUPPORTED);
    OK(nvmlDeviceGetNvLinkCapability(dev[1], 0, NVML_NVLINK_CAP_P2P_SUPPORTED,
                                     &can));
    OK(nvmlDeviceGetNvLinkVersion(dev[1], 0, &version));
    CHECK(can && version == 4);
    OK(nvmlDeviceGetP2PStatus(dev[0], dev[1], NVML_P2P_CAPS_INDEX_NVLINK,
                              &status));
    IS(status, NVML_P2P_STATUS_OK);
    OK(nvmlDeviceGetP2PStatus(dev[0], dev[2], NVML_P2P_CAPS_INDEX_NVLINK,
                              &status));
    IS(status, NVML_P2P_STATUS_NOT_SUPPORTED);
    OK(nvmlDeviceGetP2PStatus(dev[0], dev[2], NVML_P2P_CAPS_INDEX_READ,
                              &status));
    IS(status, NVML_P2P_STATUS_OK);
    OK(nvmlDeviceGetGpuFabricInfoV(dev[0], &fabric));
    CHECK(fabric.state == NVML_GPU_FABRIC_STATE_NOT_SUPPORTED);
}

static void nvswitch(void)
{
    nvmlIntNvLinkDeviceType_t type;
    nvmlEnableState_t active;
    nvmlPciInfo_t pci;
    nvmlGpuP2PStatus_t status;
    nvmlGpuFabricInfo_t fabric;
    for (unsigned link = 0; link < NVML_NVLINK_MAX_LINKS; link++) {
        OK(nvmlDeviceGetNvLinkState(dev[3], link, &active));
        CHECK(active == NVML_FEATURE_ENABLED);
        OK(nvmlDeviceGetNvLinkRemoteDeviceType(dev[3], link, &type));
        CHECK(type == NVML_NVLINK_DEVICE_TYPE_SWITCH);
        OK(nvmlDeviceGetNvLinkRemotePciInfo_v2(dev[3], link, &pci));
        CHECK(pci.bus >= 0x80);
    }
    OK(nvmlDeviceGetP2PStatus(dev[0], dev[3], NVML_P2P_CAPS_INDEX_NVLINK,
                              &status));
    IS(status, NVML_P2P_STATUS_OK);
    OK(nvmlDeviceGetGpuFabricInfo(dev[0], &fabric));
    CHECK(fabric.state == NVML_GPU_FABRIC_STATE_COMPLETED);
}

static void pcie(void)
{
    nvmlEnableState_t active;
    nvmlGpuP2PStatus_t status;
    IS(nvmlDeviceGetNvLinkState(dev[0], 0, &active), NVML_ERROR_NOT_SUPPORTED);
    OK(nvmlDeviceGetP2PStatus(dev[0], dev[1], NVML_P2P_CAPS_INDEX_NVLINK,
                              &status));
    IS(status, NVML_P2P_STATUS_NOT_SUPPORTED);
    OK(nvmlDeviceGetP2PStatus(dev[0], dev[1], NVML_P2P_CAPS_INDEX_PCI,
                              &status));
    IS(status, NVML_P2P_STATUS_OK);
}

static void misuse(void)
{
    nvmlDevice_t none;
    unsigned n;
    char text[96];
    IS(nvmlDeviceGetHandleByIndex_v2(4, &none), NVML_ERROR_INVALID_ARGUMENT);
    IS(nvmlDeviceGetHandleByPciBusId_v2("0000:77:00.0", &none),
       NVML_ERROR_NOT_FOUND);
    IS(nvmlDeviceGetHandleByPciBusId_v2("what", &none),
       NVML_ERROR_INVALID_ARGUMENT);
    IS(nvmlDeviceGetHandleByUUID("GPU-0", &none), NVML_ERROR_NOT_FOUND);
    IS(nvmlDeviceGetUUID(dev[0], text, 10), NVML_ERROR_INSUFFICIENT_SIZE);
    IS(nvmlDeviceGetIndex(NULL, &n), NVML_ERROR_INVALID_ARGUMENT);
    OK(nvmlShutdown());
    OK(nvmlDeviceGetCount_v2(&n)); /* two inits, one shutdown */
    OK(nvmlShutdown());
    IS(nvmlDeviceGetCount_v2(&n), NVML_ERROR_UNINITIALIZED);
    IS(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
    CHECK(strlen(nvmlErrorString(NVML_ERROR_NOT_FOUND)) > 0);
}

int main(int argc, char **argv)
{
    unsigned n;
    CHECK(argc == 2);
    IS(nvmlDeviceGetCount_v2(&n), NVML_ERROR_UNINITIALIZED);
    if (strcmp(argv[1], "off") == 0) {
        IS(nvmlInit_v2(), NVML_ERROR_DRIVER_NOT_LOADED);
        return 0;
    }
    OK(nvmlInit_v2());
    OK(nvmlInit_v2());
    for (unsigned i = 0; i < 4; i++)
        OK(nvmlDeviceGetHandleByIndex_v2(i, &dev[i]));
    same_as_the_driver();
    distances();
    if (strcmp(argv[1], "pairs") == 0)
        pairs();
    else if (strcmp(argv[1], "nvswitch") == 0)
        nvswitch();
    else
        pcie();
    misuse();
    return 0;
}
