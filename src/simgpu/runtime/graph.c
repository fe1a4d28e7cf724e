/* SPDX-License-Identifier: BSD-3-Clause */
/* graph.c - the runtime's calls on stream capture and graphs. */
#include "rt.h"

cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t stream,
                                             enum cudaStreamCaptureMode mode)
{
    cudaError_t err = rt_enter(RT_cudaStreamBeginCapture, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(
            rt.cuStreamBeginCapture_v2(stream, (CUstreamCaptureMode)mode));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaStreamBeginCapture_ptsz(
    cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    return cudaStreamBeginCapture(rt_own(stream), mode);
}

cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t stream,
                                           cudaGraph_t *pGraph)
{
    cudaError_t err = rt_enter(RT_cudaStreamEndCapture, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuStreamEndCapture(stream, pGraph));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaStreamEndCapture_ptsz(cudaStream_t stream,
                                                cudaGraph_t *pGraph)
{
    return cudaStreamEndCapture(rt_own(stream), pGraph);
}

cudaError_t CUDARTAPI cudaStreamGetCaptureInfo(
    cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
    unsigned long long *id_out, cudaGraph_t *graph_out,
    const cudaGraphNode_t **dependencies_out,
    const cudaGraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
    cuuint64_t id = 0;
    cudaError_t err = rt_enter(RT_cudaStreamGetCaptureInfo, RT_BOUND);
    if (edgeData_out != NULL)
        *edgeData_out = NULL;
    if (err == cudaSuccess)
        err = rt_error(rt.cuStreamGetCaptureInfo_v2(
            stream, (CUstreamCaptureStatus *)captureStatus_out, &id, graph_out,
            dependencies_out, numDependencies_out));
    if (err == cudaSuccess && id_out != NULL && id != 0)
        *id_out = id;
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaStreamGetCaptureInfo_ptsz(
    cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
    unsigned long long *id_out, cudaGraph_t *graph_out,
    const cudaGraphNode_t **dependencies_out,
    const cudaGraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
    return cudaStreamGetCaptureInfo(rt_own(stream), captureStatus_out, id_out,
                                    graph_out, dependencies_out, edgeData_out,
                                    numDependencies_out);
}

cudaError_t CUDARTAPI cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec,
                                                    cudaGraph_t graph,
                                                    unsigned long long flags)
{
    cudaError_t err = rt_enter(RT_cudaGraphInstantiate, RT_BOUND);
    if (err == cudaSuccess)
        err =
            rt_error(rt.cuGraphInstantiateWithFlags(pGraphExec, graph, flags));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t *pGraphExec,
                                           cudaGraph_t graph,
                                           unsigned long long flags)
{
    return cudaGraphInstantiateWithFlags(pGraphExec, graph, flags);
}

cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t graphExec,
                                      cudaStream_t stream)
{
    cudaError_t err = rt_enter(RT_cudaGraphLaunch, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuGraphLaunch(graphExec, stream));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaGraphLaunch_ptsz(cudaGraphExec_t graphExec,
                                           cudaStream_t stream)
{
    return cudaGraphLaunch(graphExec, rt_own(stream));
}

cudaError_t CUDARTAPI cudaGraphUpload(cudaGraphExec_t graphExec,
                                      cudaStream_t stream)
{
    cudaError_t err = rt_enter(RT_cudaGraphUpload, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuGraphUpload(graphExec, stream));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaGraphUpload_ptsz(cudaGraphExec_t graphExec,
                                           cudaStream_t stream)
{
    return cudaGraphUpload(graphExec, rt_own(stream));
}

cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t graphExec)
{
    cudaError_t err = rt_enter(RT_cudaGraphExecDestroy, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuGraphExecDestroy(graphExec));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph)
{
    cudaError_t err = rt_enter(RT_cudaGraphDestroy, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuGraphDestroy(graph));
    return rt_leave(err);
}

cudaError_t CUDARTAPI cudaGraphGetNodes(cudaGraph_t graph,
                                        cudaGraphNode_t *nodes,
                                        size_t *numNodes)
{
    cudaError_t err = rt_enter(RT_cudaGraphGetNodes, RT_BOUND);
    if (err == cudaSuccess)
        err = rt_error(rt.cuGraphGetNodes(graph, nodes, numNodes));
    return rt_leave(err);
}
