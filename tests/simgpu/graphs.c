/* SPDX-License-Identifier: BSD-3-Clause */
/* graphs.c - what is captured runs when the graph is launched, as often as it
 * is, on the contents that memory has then, in the order of its stream. */
#include "t.h"

#include "simgpu/counters.h"

#include <cuda_runtime_api.h>

static CUstream s, other;
static CUdeviceptr d;
static char host[64], pageable[64];
static int calls;

static void count_call(void *user)
{
    (void)user;
    calls++;
}

/* d = 7, host = d, both in `other`; then a call of the program, in s. */
static CUgraph capture(void)
{
    CUevent fork, join;
    CUgraph graph, same;
    CUstreamCaptureStatus status;
    cuuint64_t id = 0;
    size_t n = 9;
    const CUgraphNode *deps;
    OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuEventRecord(fork, s));
    OK(cuStreamWaitEvent(other, fork, 0));
    OK(cuMemcpyHtoDAsync(d, pageable, 64, other));
    OK(cuMemsetD8Async(d, 7, 32, other));
    OK(cuMemcpyDtoHAsync(host, d, 64, other));
    OK(cuEventRecord(join, other));
    OK(cuLaunchHostFunc(s, count_call, NULL));
    OK(cuStreamGetCaptureInfo(s, &status, &id, &same, &deps, NULL, &n));
    IS(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CHECK(id != 0 && n == 1 && deps[0] != NULL);
    OK(cuStreamWaitEvent(s, join, 0));
    OK(cuStreamGetCaptureInfo(s, &status, NULL, NULL, &deps, NULL, &n));
    CHECK(n == 2);
    OK(cuStreamEndCapture(s, &graph));
    CHECK(graph == same);
    OK(cuGraphGetNodes(graph, NULL, &n));
    CHECK(n == 4);
    OK(cuEventDestroy(fork));
    OK(cuEventDestroy(join));
    return graph;
}

static void launches(CUgraph graph)
{
    CUgraphExec exec;
    struct t_gate gate;
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    IS(cuGraphInstantiate(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK(t_all(host, 0, 64) && calls == 0); /* nothing has run yet */
    memset(pageable, 5, 64);
    t_gate_close(&gate, s);
    OK(cuGraphLaunch(exec, s));
    IS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    CHECK(t_all(host, 0, 64));
    t_gate_open(&gate);
    OK(cuStreamSynchronize(s));
    CHECK(t_all(host, 7, 32) && t_all(host + 32, 5, 32) && calls == 1);
    memset(pageable, 6, 64);
    /* one that is queued outlives its handle */
    OK(cuGraphUpload(exec, s));
    OK(cuGraphLaunch(exec, s));
    OK(cuGraphLaunch(exec, other));
    OK(cuGraphExecDestroy(exec));
    IS(cuGraphExecDestroy(exec), CUDA_ERROR_INVALID_VALUE);
    IS(cuGraphLaunch(exec, s), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxSynchronize());
    CHECK(t_all(host, 7, 32) && t_all(host + 32, 6, 32) && calls == 3);
}

/* A launch inside a capture; and all of it through the runtime. */
static void nested(void)
{
    cudaGraph_t graph;
    cudaGraphExec_t inner, outer;
    enum cudaStreamCaptureStatus status;
    unsigned long long id = 0;
    size_t n;
    calls = 0;
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    OK(cudaStreamGetCaptureInfo(s, &status, &id, NULL, NULL, NULL, NULL));
    CHECK(status == cudaStreamCaptureStatusActive && id != 0);
    OK(cudaLaunchHostFunc(s, count_call, NULL));
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaGraphInstantiate(&inner, graph, 0));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    OK(cudaGraphLaunch(inner, s));
    OK(cudaGraphLaunch(inner, s));
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaGraphGetNodes(graph, NULL, &n));
    CHECK(n == 2);
    OK(cudaGraphInstantiateWithFlags(&outer, graph, 0));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphExecDestroy(inner));
    CHECK(calls == 0);
    OK(cudaGraphLaunch(outer, s));
    OK(cudaStreamSynchronize(s));
    CHECK(calls == 2);
    OK(cudaGraphExecDestroy(outer));
}

int main(void)
{
    static const CUuuid id = SIMGPU_CONTROL_UUID;
    const void *table;
    t_context(0);
    OK(cuMemAlloc(&d, 64));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other, CU_STREAM_DEFAULT));
    launches(capture());
    nested();
    OK(cuGetExportTable(&table, &id));
    const struct simgpu_control *control = table;
    CHECK(control->counters->graph_launches == 4);
    CHECK(control->counters->captures_broken == 0);
    return 0;
}
