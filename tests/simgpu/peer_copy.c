/* SPDX-License-Identifier: BSD-3-Clause */
/* peer_copy.c - a copy between devices that have no peer access enabled goes by
 * way of the host, which a counter tells; argument "refused": it is refused,
 * unless it is cuMemcpyPeer (SIMGPU_PEER_COPY=refused). SIMGPU_DEVICES=2. */
#include "t.h"

#define N 4096

int main(int argc, char **argv)
{
    struct simgpu_counters *c = t_counters();
    int refused = argc > 1 && strcmp(argv[1], "refused") == 0;
    CUresult want = refused ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED : CUDA_SUCCESS;
    uint64_t staged;
    unsigned may;
    char host[N];
    CUdeviceptr d, e;
    CUcontext c0 = t_context(0);
    OK(cuMemAlloc(&d, N));
    OK(cuMemsetD8(d, 4, N));
    OK(cuCtxSynchronize());
    CUcontext c1 = t_context(1);
    OK(cuMemAlloc(&e, N));
    OK(cuPointerGetAttribute(&may, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, d));
    CHECK(may == 0);

    IS(cuMemcpyDtoD(e, d, N), want);
    IS(cuMemcpyAsync(e, d, N, NULL), want);
    IS(cuMemsetD8(d, 4, N), want);
    IS(cuMemcpyDtoH(host, d, N), want);
    OK(cuMemcpyPeer(e, c1, d, c0, N));
    OK(cuCtxSynchronize());
    CHECK(c->peer_staged == (refused ? 1 : 4));
    OK(cuMemcpyDtoH(host, e, N));
    CHECK(t_all(host, 4, N));

    OK(cuCtxEnablePeerAccess(c0, 0));
    OK(cuPointerGetAttribute(&may, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, d));
    CHECK(may == 3);
    staged = c->peer_staged;
    OK(cuMemcpyDtoD(e, d, N));
    OK(cuMemsetD8(d, 5, N));
    OK(cuMemcpyDtoH(host, d, N));
    OK(cuMemcpyPeer(e, c1, d, c0, N));
    CHECK(t_all(host, 5, N) && c->peer_staged == staged);
    /* it is one-way */
    OK(cuCtxSetCurrent(c0));
    IS(cuMemcpyDtoD(d, e, N), want);
    OK(cuCtxSetCurrent(c1));
    OK(cuCtxDisablePeerAccess(c0));
    IS(cuMemcpyDtoD(e, d, N), want);
    return 0;
}
