/* SPDX-License-Identifier: BSD-3-Clause */
/* nvml.c - the management library: what devices the machine has and how they
 * are connected. Knows the settings and nothing of the driver, as the real one;
 * so it shows all devices, also those that CUDA_VISIBLE_DEVICES hides. */
#include "internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sim_config nv_config;
static struct nvmlDevice_st devices[SIM_MAX_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users; /* of this process: inits less shutdowns */

nvmlReturn_t nvmlInitWithFlags(unsigned int flags)
{
    nvmlReturn_t rc = NVML_SUCCESS;
    if (flags > 3)
        return NVML_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&lock);
    if (users == 0)
        sim_config_read(&nv_config);
    if (!nv_config.ok)
        rc = NVML_ERROR_UNKNOWN;
    else if (!nv_config.nvml)
        rc = NVML_ERROR_DRIVER_NOT_LOADED;
    else
        users++;
    for (int i = 0; i < SIM_MAX_DEVICES; i++)
        devices[i].phys = i;
    pthread_mutex_unlock(&lock);
    return rc;
}

nvmlReturn_t nvmlInit_v2(void)
{
    return nvmlInitWithFlags(0);
}

nvmlReturn_t nvmlInit(void)
{
    return nvmlInitWithFlags(0);
}

nvmlReturn_t nvmlShutdown(void)
{
    nvmlReturn_t rc = NVML_SUCCESS;
    pthread_mutex_lock(&lock);
    if (users > 0)
        users--;
    else
        rc = NVML_ERROR_UNINITIALIZED;
    pthread_mutex_unlock(&lock);
    return rc;
}

const char *nvmlErrorString(nvmlReturn_t result)
{
    switch ((int)result) {
    case NVML_SUCCESS:
        return "no error";
    case NVML_ERROR_UNINITIALIZED:
        return "not initialised";
    case NVML_ERROR_INVALID_ARGUMENT:
        return "an argument is not valid";
    case NVML_ERROR_NOT_SUPPORTED:
        return "not supported";
    case NVML_ERROR_NOT_FOUND:
        return "not found";
    case NVML_ERROR_INSUFFICIENT_SIZE:
        return "the buffer is too small";
    case NVML_ERROR_DRIVER_NOT_LOADED:
        return "no driver is loaded";
    default:
        return "unknown error";
    }
}

static nvmlReturn_t ready(const void *out)
{
    if (__atomic_load_n(&users, __ATOMIC_ACQUIRE) == 0)
        return NVML_ERROR_UNINITIALIZED;
    return out != NULL ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nv_about(nvmlDevice_t d, const void *out)
{
    nvmlReturn_t rc = ready(out);
    if (rc == NVML_SUCCESS &&
        (d < devices || d >= devices + nv_config.ndevices))
        rc = NVML_ERROR_INVALID_ARGUMENT;
    return rc;
}

static nvmlReturn_t give_text(char *to, unsigned size, const char *text)
{
    if (strlen(text) >= size)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    memcpy(to, text, strlen(text) + 1);
    return NVML_SUCCESS;
}

static nvmlReturn_t give_number(nvmlDevice_t d, unsigned *to, unsigned value)
{
    nvmlReturn_t rc = nv_about(d, to);
    if (rc == NVML_SUCCESS)
        *to = value;
    return rc;
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
    nvmlReturn_t rc = ready(version);
    return rc == NVML_SUCCESS ? give_text(version, length, "580.0") : rc;
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length)
{
    nvmlReturn_t rc = ready(version);
    return rc == NVML_SUCCESS ? give_text(version, length, "13.580.0") : rc;
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    nvmlReturn_t rc = ready(version);
    if (rc == NVML_SUCCESS)
        *version = 13000;
    return rc;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *deviceCount)
{
    nvmlReturn_t rc = ready(deviceCount);
    if (rc == NVML_SUCCESS)
        *deviceCount = (unsigned)nv_config.ndevices;
    return rc;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index,
                                           nvmlDevice_t *device)
{
    nvmlReturn_t rc = ready(device);
    if (rc == NVML_SUCCESS && index >= (unsigned)nv_config.ndevices)
        rc = NVML_ERROR_INVALID_ARGUMENT;
    if (rc == NVML_SUCCESS)
        *device = &devices[index];
    return rc;
}

/* The domain has 4 digits in CUDA and 8 here; it may be left out. */
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *pciBusId,
                                              nvmlDevice_t *device)
{
    unsigned domain = 0, bus, slot, got = 0;
    nvmlReturn_t rc = ready(device);
    if (rc == NVML_SUCCESS && pciBusId == NULL)
        rc = NVML_ERROR_INVALID_ARGUMENT;
    if (rc != NVML_SUCCESS)
        return rc;
    got = sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &slot) == 3;
    if (!got) {
        domain = 0;
        got = sscanf(pciBusId, "%x:%x", &bus, &slot) == 2;
    }
    if (!got)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < nv_config.ndevices; i++) {
        if (domain == 0 && slot == 0 && bus == (unsigned)sim_topo_bus(i)) {
            *device = &devices[i];
            return NVML_SUCCESS;
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
    char text[SIM_UUID_TEXT];
    nvmlReturn_t rc = ready(device);
    if (rc == NVML_SUCCESS && uuid == NULL)
        rc = NVML_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < nv_config.ndevices && rc == NVML_SUCCESS; i++) {
        sim_device_uuid_text(i, text);
        if (strcmp(text, uuid) == 0) {
            *device = &devices[i];
            return NVML_SUCCESS;
        }
    }
    return rc == NVML_SUCCESS ? NVML_ERROR_NOT_FOUND : rc;
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index)
{
    return give_number(device, index, (unsigned)(device - devices));
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name,
                               unsigned int length)
{
    nvmlReturn_t rc = nv_about(device, name);
    return rc == NVML_SUCCESS ? give_text(name, length, SIM_TOPO_NAME) : rc;
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid,
                               unsigned int length)
{
    char text[SIM_UUID_TEXT];
    nvmlReturn_t rc = nv_about(device, uuid);
    if (rc != NVML_SUCCESS)
        return rc;
    sim_device_uuid_text(device->phys, text);
    return give_text(uuid, length, text);
}

void nv_fill_pci(nvmlPciInfo_t *pci, unsigned bus, unsigned id)
{
    memset(pci, 0, sizeof(*pci));
    pci->bus = bus;
    pci->pciDeviceId = id;
    snprintf(pci->busIdLegacy, sizeof(pci->busIdLegacy), "0000:%02X:00.0", bus);
    snprintf(pci->busId, sizeof(pci->busId), "00000000:%02X:00.0", bus);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    nvmlReturn_t rc = nv_about(device, pci);
    if (rc == NVML_SUCCESS)
        nv_fill_pci(pci, (unsigned)sim_topo_bus(device->phys), PCI_ID_GPU);
    return rc;
}

/* Each process has memory of its own, so nobody else's is in use. */
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    nvmlReturn_t rc = nv_about(device, memory);
    if (rc == NVML_SUCCESS)
        *memory = (nvmlMemory_t){.total = nv_config.mem, .free = nv_config.mem};
    return rc;
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device,
                                  unsigned int *currentMode,
                                  unsigned int *pendingMode)
{
    nvmlReturn_t rc = give_number(device, currentMode, NVML_DEVICE_MIG_DISABLE);
    return rc == NVML_SUCCESS
               ? give_number(device, pendingMode, NVML_DEVICE_MIG_DISABLE)
               : rc;
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major,
                                                int *minor)
{
    nvmlReturn_t rc = nv_about(device, major);
    if (rc == NVML_SUCCESS)
        rc = nv_about(device, minor);
    if (rc != NVML_SUCCESS)
        return rc;
    *major = 9;
    *minor = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device,
                                                 unsigned int *gen)
{
    return give_number(device, gen, 5);
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device,
                                            unsigned int *width)
{
    return give_number(device, width, 16);
}

/* All processors: the machine is one NUMA node as far as these go. */
nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device,
                                      unsigned int cpuSetSize,
                                      unsigned long *cpuSet)
{
    const unsigned bits = 8 * sizeof(*cpuSet);
    nvmlReturn_t rc = nv_about(device, cpuSet);
    if (rc != NVML_SUCCESS)
        return rc;
    long n = sysconf(_SC_NPROCESSORS_CONF);
    memset(cpuSet, 0, cpuSetSize * sizeof(*cpuSet));
    for (unsigned long i = 0; i < (unsigned long)n; i++)
        if (i / bits < cpuSetSize)
            cpuSet[i / bits] |= 1ul << i % bits;
    return NVML_SUCCESS;
}

nvmlReturn_t
nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device1, nvmlDevice_t device2,
                                    nvmlGpuTopologyLevel_t *pathInfo)
{
    nvmlReturn_t rc = nv_about(device1, pathInfo);
    if (rc == NVML_SUCCESS)
        rc = nv_about(device2, pathInfo);
    if (rc == NVML_SUCCESS)
        *pathInfo = (nvmlGpuTopologyLevel_t)sim_topo_level(device1->phys,
                                                           device2->phys);
    return rc;
}

/* Those at this level exactly; the number of them where there is no array. */
nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device,
                                              nvmlGpuTopologyLevel_t level,
                                              unsigned int *count,
                                              nvmlDevice_t *deviceArray)
{
    unsigned n = 0;
    nvmlReturn_t rc = nv_about(device, count);
    if (rc != NVML_SUCCESS)
        return rc;
    for (int i = 0; i < nv_config.ndevices; i++) {
        if (i == device->phys || sim_topo_level(device->phys, i) != (int)level)
            continue;
        if (deviceArray != NULL && n < *count)
            deviceArray[n] = &devices[i];
        n++;
    }
    if (deviceArray == NULL || n < *count)
        *count = n;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device1, nvmlDevice_t device2,
                                    nvmlGpuP2PCapsIndex_t p2pIndex,
                                    nvmlGpuP2PStatus_t *p2pStatus)
{
    nvmlReturn_t rc = nv_about(device1, p2pStatus);
    if (rc == NVML_SUCCESS)
        rc = nv_about(device2, p2pStatus);
    if (rc == NVML_SUCCESS &&
        ((int)p2pIndex < 0 || p2pIndex > NVML_P2P_CAPS_INDEX_PCI))
        rc = NVML_ERROR_INVALID_ARGUMENT;
    if (rc != NVML_SUCCESS)
        return rc;
    int a = device1->phys, b = device2->phys;
    bool joined = sim_topo_joined(&nv_config, a, b);
    bool can = a != b && nv_config.p2p[a][b];
    if (p2pIndex == NVML_P2P_CAPS_INDEX_NVLINK ||
        p2pIndex == NVML_P2P_CAPS_INDEX_ATOMICS)
        can = can && joined;
    else if (p2pIndex == NVML_P2P_CAPS_INDEX_PCI)
        can = can && !joined;
    *p2pStatus = can ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED;
    return NVML_SUCCESS;
}
