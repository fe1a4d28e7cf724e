/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c - what devices there are and what they say of themselves. */
#include "entry.h"
#include "topo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCI_DOMAIN 0
#define PCI_DEVICE 0

CUresult sim_device_find(CUdevice ordinal, struct sim_device **dev)
{
    if (ordinal < 0 || ordinal >= sim.config.nvisible)
        return CUDA_ERROR_INVALID_DEVICE;
    *dev = &sim.dev[ordinal];
    return CUDA_SUCCESS;
}

bool sim_peer_reachable(const struct sim_device *a, const struct sim_device *b)
{
    return a->phys != b->phys && sim.config.p2p[a->phys][b->phys];
}

static int pci_bus(const struct sim_device *dev)
{
    return sim_topo_bus(dev->phys);
}

CUresult CUDAAPI cuDeviceGetCount(int *count)
{
    CUresult rc = sim_enter(SIM_FN_cuDeviceGetCount);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (count == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *count = sim.config.nvisible;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal)
{
    struct sim_device *dev;
    CUresult rc = sim_enter_device(SIM_FN_cuDeviceGet, ordinal, &dev);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (device == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetName(char *name, int len, CUdevice ordinal)
{
    struct sim_device *dev;
    CUresult rc = sim_enter_device(SIM_FN_cuDeviceGetName, ordinal, &dev);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (name == NULL || len <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)len, "%s", SIM_TOPO_NAME);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice ordinal)
{
    struct sim_device *dev;
    CUresult rc = sim_enter_device(SIM_FN_cuDeviceGetUuid, ordinal, &dev);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (uuid == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    sim_device_uuid(dev->phys, uuid);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice ordinal)
{
    return cuDeviceGetUuid_v2(uuid, ordinal);
}

CUresult CUDAAPI cuDeviceTotalMem_v2(size_t *bytes, CUdevice ordinal)
{
    struct sim_device *dev;
    CUresult rc = sim_enter_device(SIM_FN_cuDeviceTotalMem, ordinal, &dev);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (bytes == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *bytes = sim.config.mem;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice ordinal)
{
    struct sim_device *dev;
    CUresult rc = sim_enter_device(SIM_FN_cuDeviceGetPCIBusId, ordinal, &dev);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (pciBusId == NULL || len <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(pciBusId, (size_t)len, "%04X:%02X:%02X.0", PCI_DOMAIN,
             pci_bus(dev), PCI_DEVICE);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
    CUresult rc = sim_enter(SIM_FN_cuDeviceGetByPCIBusId);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (dev == NULL || pciBusId == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const char *first = strchr(pciBusId, ':');
    unsigned domain = 0, bus, slot;
    int got = first != NULL && strchr(first + 1, ':') != NULL
                  ? sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &slot)
                  : 1 + sscanf(pciBusId, "%x:%x", &bus, &slot);
    if (got != 3 || domain != PCI_DOMAIN || slot != PCI_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < sim.config.nvisible; i++) {
        if (pci_bus(&sim.dev[i]) == (int)bus) {
            *dev = i;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_DEVICE;
}

/* Those not listed are 0. The figures are those of one Hopper GPU. */
static const struct {
    CUdevice_attribute attr;
    int value;
} attributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, PCI_DEVICE},
    {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, PCI_DOMAIN},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 2619000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 52428800},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    {CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1},
};

CUresult CUDAAPI cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib,
                                      CUdevice ordinal)
{
    struct sim_device *dev;
    CUresult rc = sim_enter_device(SIM_FN_cuDeviceGetAttribute, ordinal, &dev);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (pi == NULL || (int)attrib <= 0 || attrib >= CU_DEVICE_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    int value = attrib == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID ? pci_bus(dev) : 0;
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
        if (attributes[i].attr == attrib)
            value = attributes[i].value;
    *pi = value;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice a,
                                       CUdevice b)
{
    struct sim_device *from, *to;
    CUresult rc = sim_enter_device(SIM_FN_cuDeviceCanAccessPeer, a, &from);
    if (rc == CUDA_SUCCESS)
        rc = sim_device_find(b, &to);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (canAccessPeer == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *canAccessPeer = sim_peer_reachable(from, to);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetP2PAttribute(int *value,
                                         CUdevice_P2PAttribute attrib,
                                         CUdevice a, CUdevice b)
{
    struct sim_device *from, *to;
    CUresult rc = sim_enter_device(SIM_FN_cuDeviceGetP2PAttribute, a, &from);
    if (rc == CUDA_SUCCESS)
        rc = sim_device_find(b, &to);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (value == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (a == b)
        return CUDA_ERROR_INVALID_DEVICE;
    switch (attrib) {
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
        *value = sim_peer_reachable(from, to);
        return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
        *value = 0;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}
