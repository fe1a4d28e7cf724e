/* SPDX-License-Identifier: BSD-3-Clause */
/* pointers.c - what the driver says about each kind of address, one question
 * at a time and several at once. */
#include "t.h"

#include <cuda_runtime_api.h>

#define N 5000

struct answer {
    unsigned type, managed, sync, capable;
    int ordinal;
    CUcontext ctx;
    CUdeviceptr device, start;
    void *host;
    size_t size;
    unsigned long long id;
};

static void ask(CUdeviceptr p, struct answer *a)
{
    CUpointer_attribute names[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
        CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_CONTEXT,
        CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        CU_POINTER_ATTRIBUTE_HOST_POINTER,
        CU_POINTER_ATTRIBUTE_RANGE_SIZE,
        CU_POINTER_ATTRIBUTE_BUFFER_ID,
    };
    void *data[] = {&a->type,    &a->managed, &a->sync,   &a->capable,
                    &a->ordinal, &a->ctx,     &a->device, &a->start,
                    &a->host,    &a->size,    &a->id};
    memset(a, 0xff, sizeof(*a));
    OK(cuPointerGetAttributes(11, names, data, p));
}

static void known(CUdeviceptr p, unsigned type, int managed, CUcontext ctx)
{
    struct answer a;
    unsigned long long id;
    void *host;
    ask(p + 123, &a);
    CHECK(a.type == type && (int)a.managed == managed && a.ordinal == 0);
    CHECK(a.ctx == ctx && a.device == p + 123 && a.start == p);
    CHECK(a.size == N && a.sync == 0 && a.id != 0);
    CHECK((int)a.capable == (type == CU_MEMORYTYPE_DEVICE && !managed));
    OK(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, p + N - 1));
    CHECK(id == a.id);
    if (type == CU_MEMORYTYPE_DEVICE && !managed) {
        CHECK(a.host == NULL);
        IS(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p),
           CUDA_ERROR_INVALID_VALUE);
    } else {
        CHECK((uintptr_t)a.host == p + 123);
    }
}

static void runtime_says(const void *p, enum cudaMemoryType type)
{
    struct cudaPointerAttributes a;
    OK(cudaPointerGetAttributes(&a, p));
    CHECK(a.type == type && a.device == 0 && a.devicePointer == p);
    CHECK(a.hostPointer == (type == cudaMemoryTypeDevice ? NULL : p));
}

int main(void)
{
    static char plain[N];
    char *heap = malloc(N);
    struct answer a;
    CUdeviceptr d, m, base;
    unsigned on = 1, flags;
    size_t size;
    void *h;
    CUcontext ctx = t_context(0);
    OK(cuMemAlloc(&d, N));
    OK(cuMemAllocManaged(&m, N, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemHostAlloc(&h, N, CU_MEMHOSTALLOC_PORTABLE));
    OK(cuMemHostRegister(heap, N, 0));
    known(d, CU_MEMORYTYPE_DEVICE, 0, ctx);
    known(m, CU_MEMORYTYPE_DEVICE, 1, ctx);
    known((CUdeviceptr)(uintptr_t)h, CU_MEMORYTYPE_HOST, 0, ctx);
    known((CUdeviceptr)(uintptr_t)heap, CU_MEMORYTYPE_HOST, 0, ctx);
    runtime_says((void *)(uintptr_t)d, cudaMemoryTypeDevice);
    runtime_says((void *)(uintptr_t)m, cudaMemoryTypeManaged);
    runtime_says(h, cudaMemoryTypeHost);
    runtime_says(heap, cudaMemoryTypeHost);

    ask((CUdeviceptr)(uintptr_t)plain, &a);
    CHECK(a.type == 0 && a.managed == 0 && a.ctx == NULL && a.id == 0);
    CHECK(a.device == 0 && a.size == 0 && a.ordinal == CU_DEVICE_INVALID);
    IS(cuPointerGetAttribute(&a.type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                             (CUdeviceptr)(uintptr_t)plain),
       CUDA_ERROR_INVALID_VALUE);

    OK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, d));
    OK(cuPointerGetAttribute(&flags, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, d));
    CHECK(flags == 1);
    OK(cuMemGetAddressRange(&base, &size, d + N - 1));
    CHECK(base == d && size == N);
    OK(cuMemHostGetDevicePointer(&base, h, 0));
    CHECK(base == (CUdeviceptr)(uintptr_t)h);
    OK(cuMemHostGetFlags(&flags, h));
    CHECK(flags == CU_MEMHOSTALLOC_PORTABLE);
    CHECK(d % 256 == 0);
    free(heap);
    return 0;
}
