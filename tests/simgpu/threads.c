/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c - many threads allocate, copy, record and free at once. */
#include "t.h"

#include <cuda_runtime_api.h>
#include <pthread.h>

#define THREADS 4
#define ROUNDS 100
#define N 3000

/* Asked while others allocate and free: the answer is right all the same. */
static void ask(const void *p, unsigned want)
{
    CUpointer_attribute name = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    unsigned type = 99;
    void *data = &type;
    OK(cuPointerGetAttributes(1, &name, &data, (CUdeviceptr)(uintptr_t)p));
    CHECK(type == want);
}

static void *work(void *arg)
{
    int me = *(int *)arg;
    unsigned char host[N];
    for (int i = 0; i < ROUNDS; i++) {
        void *d, *e;
        cudaStream_t s;
        cudaEvent_t ev;
        OK(cudaMalloc(&d, N));
        OK(cudaMalloc(&e, N));
        ask((char *)d + N - 1, CU_MEMORYTYPE_DEVICE);
        ask(host, 0);
        ask(e, CU_MEMORYTYPE_DEVICE);
        OK(cudaStreamCreateWithFlags(&s, i % 2 ? cudaStreamNonBlocking : 0));
        OK(cudaEventCreateWithFlags(&ev, cudaEventDisableTiming));
        OK(cudaMemsetAsync(d, me + i, N, s));
        OK(cudaEventRecord(ev, s));
        OK(cudaStreamWaitEvent(cudaStreamPerThread, ev, 0));
        OK(cudaMemcpyAsync(e, d, N, cudaMemcpyDeviceToDevice,
                           cudaStreamPerThread));
        OK(cudaMemcpyAsync(host, e, N, cudaMemcpyDeviceToHost,
                           cudaStreamPerThread));
        OK(cudaStreamSynchronize(cudaStreamPerThread));
        CHECK(t_all(host, (me + i) & 255, N));
        OK(cudaEventDestroy(ev));
        OK(cudaStreamDestroy(s));
        OK(cudaFree(d));
        OK(cudaFree(e));
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int id[THREADS];
    size_t free_bytes, total;
    for (int i = 0; i < THREADS; i++) {
        id[i] = i * 50;
        CHECK(pthread_create(&threads[i], NULL, work, &id[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    OK(cudaMemGetInfo(&free_bytes, &total));
    CHECK(free_bytes == total);
    return 0;
}
