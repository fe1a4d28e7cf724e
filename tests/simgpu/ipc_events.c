/* SPDX-License-Identifier: BSD-3-Clause */
/* ipc_events.c - an event of another process: a stream here waits for work
 * there, and back; and what is refused. */
#include "t.h"

#include <cuda_runtime_api.h>

static const unsigned flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;

static void misuse(void)
{
    CUevent e;
    CUipcEventHandle h, bad = {{0}};
    IS(cuEventCreate(&e, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
    OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    IS(cuIpcGetEventHandle(&h, e), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventDestroy(e));
    IS(cuIpcGetEventHandle(&h, e), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventCreate(&e, flags));
    OK(cuIpcGetEventHandle(&h, e));
    IS(cuIpcOpenEventHandle(&e, h), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuIpcOpenEventHandle(&e, bad), CUDA_ERROR_INVALID_VALUE);
    OK(cuEventDestroy(e));
}

static void exporter(int fd)
{
    CUstream s;
    CUevent e;
    CUipcEventHandle h;
    struct t_gate gate;
    t_context(0);
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    misuse();
    OK(cuEventCreate(&e, flags));
    OK(cuIpcGetEventHandle(&h, e));
    OK(cuEventQuery(e)); /* never recorded */
    t_gate_close(&gate, s);
    OK(cuEventRecord(e, s));
    IS(cuEventQuery(e), CUDA_ERROR_NOT_READY);
    t_send(fd, &h, sizeof(h));
    t_meet(fd); /* the other one has seen that it is not reached */
    t_gate_open(&gate);
    t_meet(fd);
    OK(cuEventQuery(e));
    t_meet(fd);
    /* and the other way: recorded there, waited for here */
    t_meet(fd);
    IS(cuEventQuery(e), CUDA_ERROR_NOT_READY);
    OK(cuStreamWaitEvent(s, e, 0));
    IS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    t_meet(fd);
    OK(cuStreamSynchronize(s));
    OK(cuEventSynchronize(e));
    OK(cuEventDestroy(e));
    t_meet(fd);
    t_meet(fd);
}

static void importer(int fd)
{
    CUstream s;
    CUevent e, again;
    CUipcEventHandle h;
    struct t_gate gate;
    CUdeviceptr d;
    t_context(0);
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&d, 64));
    t_receive(fd, &h, sizeof(h));
    OK(cuIpcOpenEventHandle(&e, h));
    IS(cuIpcGetEventHandle(&h, e), CUDA_ERROR_INVALID_HANDLE);
    IS(cuEventQuery(e), CUDA_ERROR_NOT_READY);
    OK(cuStreamWaitEvent(s, e, 0));
    OK(cuMemsetD8Async(d, 1, 64, s));
    for (int looks = 0; looks < 100; looks++) { /* and it stays so */
        IS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
        usleep(100);
    }
    t_meet(fd);
    OK(cuEventSynchronize(e));
    OK(cuStreamSynchronize(s));
    t_meet(fd);
    t_meet(fd);
    t_gate_close(&gate, s);
    OK(cuEventRecord(e, s));
    t_meet(fd);
    t_meet(fd);
    t_gate_open(&gate);
    OK(cuStreamSynchronize(s));
    t_meet(fd);
    /* it was destroyed over there */
    IS(cuEventQuery(e), CUDA_ERROR_INVALID_HANDLE);
    IS(cuEventRecord(e, s), CUDA_ERROR_INVALID_HANDLE);
    IS(cuIpcOpenEventHandle(&again, h), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventDestroy(e));
    t_meet(fd);
}

int main(void)
{
    return t_pair(exporter, importer);
}
