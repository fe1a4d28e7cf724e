/* SPDX-License-Identifier: BSD-3-Clause */
/* faults.c - the n-th call fails, and only it, or all from it on; set by the
 * environment (SIMGPU_FAIL=cuMemAlloc:2=2,cudaMalloc:1+=46 by the test) and
 * by the program. */
#include "t.h"

#include "simgpu/counters.h"

#include <cuda_runtime_api.h>

int main(void)
{
    const CUuuid id = SIMGPU_CONTROL_UUID;
    const void *table;
    CUdeviceptr d;
    void *p;
    OK(cuGetExportTable(&table, &id));
    const struct simgpu_control *control = table;
    t_context(0);
    OK(cuMemAlloc(&d, 64));
    IS(cuMemAlloc(&d, 64), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemAlloc(&d, 64));
    IS(cudaMalloc(&p, 64), 46);
    IS(cudaMalloc(&p, 64), 46);

    /* the runtime's own calls to the driver are not the program's */
    CHECK(control->set_faults("cuMemAlloc:1+=999") == 0);
    OK(cudaMalloc(&p, 64));
    IS(cuMemAlloc(&d, 64), 999);
    CHECK(control->set_faults("cuMemAlloc:0=2") == -1);
    CHECK(control->set_faults("cuMemAlloc=2") == -1);
    CHECK(control->set_faults("cuNoSuch:1=2") == -1);
    CHECK(control->set_faults("cuMemAlloc:1=x") == -1);
    IS(cuMemAlloc(&d, 64), 999);
    CHECK(control->set_faults(NULL) == 0);
    OK(cuMemAlloc(&d, 64));
    return 0;
}
