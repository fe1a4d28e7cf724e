/* SPDX-License-Identifier: BSD-3-Clause */
/* delays.c - delays for one kind of work, one kind of stream, one stream: the
 * work that one is meant for is still going on when other work has ended. */
#include "t.h"

#include "simgpu/counters.h"

#define LONG "300000"

static CUstream blocking, nonblocking, other;
static CUdeviceptr d;
static char *pinned;

/* Each piece of work has memory of its own. */
static CUdeviceptr next(void)
{
    static unsigned n;
    return d + 64 * (n++ % 64);
}

static void memset_in(CUstream s)
{
    OK(cuMemsetD8Async(next(), 2, 64, s));
}

static void copy_in(CUstream s)
{
    OK(cuMemcpyHtoDAsync(next(), pinned, 64, s));
}

/* Work in slow is late, work in quick is not. */
static void only(void (*late)(CUstream), CUstream slow, void (*soon)(CUstream),
                 CUstream quick)
{
    late(slow);
    soon(quick);
    OK(cuStreamSynchronize(quick));
    IS(cuStreamQuery(slow), CUDA_ERROR_NOT_READY);
    OK(cuCtxSynchronize());
}

int main(void)
{
    static const CUuuid id = SIMGPU_CONTROL_UUID;
    const void *table;
    t_context(0);
    OK(cuGetExportTable(&table, &id));
    const struct simgpu_control *control = table;
    OK(cuMemAlloc(&d, 64 * 64));
    OK(cuMemHostAlloc((void **)&pinned, 64, 0));
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&nonblocking, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));

    only(memset_in, blocking, copy_in, nonblocking); /* SIMGPU_DELAY_US */
    OK(control->set_delays("copy:" LONG));
    only(copy_in, blocking, memset_in, nonblocking);
    OK(control->set_delays("nonblocking:" LONG ",memset:10"));
    only(copy_in, nonblocking, copy_in, blocking);
    OK(control->set_delays("legacy:" LONG));
    only(copy_in, NULL, copy_in, nonblocking);
    OK(control->set_delays("thread:" LONG));
    only(copy_in, CU_STREAM_PER_THREAD, copy_in, blocking);
    OK(control->set_delays("0"));
    OK(control->set_stream_delay(other, 300000));
    only(memset_in, other, memset_in, nonblocking);

    IS(control->set_delays("copy:"), -1);
    IS(control->set_delays("copies:1"), -1);
    IS(control->set_delays("copy:1,"), -1);
    IS(control->set_delays("copy:10000001"), -1);
    IS(control->set_stream_delay(&table, 1), CUDA_ERROR_INVALID_HANDLE);
    return 0;
}
