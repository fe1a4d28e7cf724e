/* SPDX-License-Identifier: BSD-3-Clause */
/* multi_device.c - three devices in a process, of which 0 and 1 reach each
 * other (SIMGPU_DEVICES=3, SIMGPU_P2P=0-1). */
#include "t.h"

#include <cuda_runtime_api.h>

static void peers(CUcontext c0, CUcontext c1, CUcontext c2)
{
    int can;
    OK(cuDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can);
    OK(cuDeviceCanAccessPeer(&can, 0, 2));
    CHECK(!can);
    OK(cuDeviceCanAccessPeer(&can, 1, 1));
    CHECK(!can);
    OK(cuDeviceGetP2PAttribute(&can, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED,
                               1, 0));
    CHECK(can);
    OK(cuCtxSetCurrent(c0));
    OK(cuCtxEnablePeerAccess(c1, 0));
    IS(cuCtxEnablePeerAccess(c1, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    IS(cuCtxEnablePeerAccess(c2, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    IS(cuCtxEnablePeerAccess(c0, 0), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxDisablePeerAccess(c1));
    IS(cuCtxDisablePeerAccess(c1), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}

static void same_uuid_only_once(void)
{
    CUuuid a, b, again;
    char bus[32];
    CUdevice dev;
    OK(cuDeviceGetUuid(&a, 0));
    OK(cuDeviceGetUuid(&b, 1));
    OK(cuDeviceGetUuid(&again, 0));
    CHECK(memcmp(&a, &b, sizeof(a)) != 0);
    CHECK(memcmp(&a, &again, sizeof(a)) == 0);
    OK(cuDeviceGetPCIBusId(bus, sizeof(bus), 2));
    OK(cuDeviceGetByPCIBusId(&dev, bus));
    CHECK(dev == 2);
}

int main(void)
{
    CUcontext ctx[3], now;
    CUdeviceptr d[3];
    CUstream s;
    int n, ordinal;
    unsigned flags;
    char host[64];
    OK(cuInit(0));
    OK(cuDeviceGetCount(&n));
    CHECK(n == 3);
    IS(cuDeviceGet(&ordinal, 3), CUDA_ERROR_INVALID_DEVICE);
    same_uuid_only_once();
    for (int i = 0; i < 3; i++) {
        OK(cuDevicePrimaryCtxGetState(i, &flags, &ordinal));
        CHECK(ordinal == 0);
        ctx[i] = t_context(i);
        OK(cuMemAlloc(&d[i], 64));
        OK(cuMemsetD8(d[i], (unsigned char)i, 64));
        OK(cuCtxSynchronize());
    }
    /* whichever is current, an address tells its device */
    for (int i = 0; i < 3; i++) {
        OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                 d[i]));
        CHECK(ordinal == i);
        OK(cuPointerGetAttribute(&now, CU_POINTER_ATTRIBUTE_CONTEXT, d[i]));
        CHECK(now == ctx[i]);
    }
    peers(ctx[0], ctx[1], ctx[2]);
    /* copies need no peer access */
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuMemcpyPeerAsync(d[0], ctx[0], d[2], ctx[2], 64, s));
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(host, d[0], 64));
    CHECK(t_all(host, 2, 64));
    OK(cudaMemcpyPeer((void *)(uintptr_t)d[2], 2, (void *)(uintptr_t)d[1], 1,
                      64));
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH(host, d[2], 64));
    CHECK(t_all(host, 1, 64));
    IS(cudaDeviceEnablePeerAccess(2, 0), cudaErrorPeerAccessUnsupported);
    /* the memory of one device does not go with another's */
    OK(cuDevicePrimaryCtxReset(1));
    OK(cuMemcpyDtoH(host, d[2], 64));
    IS(cuMemcpyDtoH(host, d[1], 64), CUDA_ERROR_INVALID_VALUE);
    return 0;
}
