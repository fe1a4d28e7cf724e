/* SPDX-License-Identifier: BSD-3-Clause */
/* legacy_sync.c - the handle of the legacy stream stands for the blocking
 * streams too: asking it or waiting for it means them, and no others. */
#include "t.h"

#include "simgpu/counters.h"

#include <cuda_runtime_api.h>

int main(void)
{
    static const CUuuid id = SIMGPU_CONTROL_UUID;
    const void *table;
    CUstream blocking, nonblocking;
    CUdeviceptr d;
    t_context(0);
    OK(cuGetExportTable(&table, &id));
    const struct simgpu_control *control = table;
    OK(cuMemAlloc(&d, 128));
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&nonblocking, CU_STREAM_NON_BLOCKING));
    OK(control->set_stream_delay(blocking, 200000));
    OK(control->set_stream_delay(nonblocking, 1000000));
    OK(cuMemsetD8Async(d + 64, 1, 64, nonblocking));
    OK(cuMemsetD8Async(d, 1, 64, blocking));
    IS(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    OK(cuStreamSynchronize(CU_STREAM_LEGACY));
    OK(cuStreamQuery(blocking));
    OK(cuStreamQuery(NULL));
    OK(cuMemsetD8Async(d, 1, 64, blocking));
    OK(cudaStreamSynchronize(NULL));
    OK(cuStreamQuery(blocking));
    IS(cuStreamQuery(nonblocking), CUDA_ERROR_NOT_READY);
    OK(cuStreamSynchronize(nonblocking));
    return 0;
}
