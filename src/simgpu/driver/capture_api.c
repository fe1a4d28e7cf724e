/* SPDX-License-Identifier: BSD-3-Clause */
/* capture_api.c - the driver's calls on stream capture. */
#include "capture.h"
#include "entry.h"

static CUstream own(CUstream s)
{
    return s != NULL ? s : CU_STREAM_PER_THREAD;
}

CUresult CUDAAPI cuStreamBeginCapture_v2(CUstream hStream,
                                         CUstreamCaptureMode mode)
{
    CUstream s;
    CUresult rc = sim_begin_stream(SIM_FN_cuStreamBeginCapture, hStream, &s);
    if (rc != CUDA_SUCCESS)
        return rc;
    if ((int)mode < 0 || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    return sim_end(sim_capture_begin(s, mode));
}

CUresult CUDAAPI cuStreamBeginCapture(CUstream hStream)
{
    return cuStreamBeginCapture_v2(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult CUDAAPI cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
    CUstream s;
    CUresult rc = sim_begin_stream(SIM_FN_cuStreamEndCapture, hStream, &s);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (phGraph == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    return sim_end(sim_capture_end(s, phGraph));
}

struct info {
    CUstreamCaptureStatus *status;
    cuuint64_t *id;
    CUgraph *graph;
    const CUgraphNode **deps;
    size_t *ndeps;
};

static CUresult tell(CUstream s, const struct info *out)
{
    const struct sim_capture *c = s->capture;
    if (out->status == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult rc = sim_capture_peek(s);
    if (rc != CUDA_SUCCESS)
        return rc;
    *out->status = c == NULL    ? CU_STREAM_CAPTURE_STATUS_NONE
                   : c->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (c == NULL || c->invalid)
        return CUDA_SUCCESS;
    if (out->id != NULL)
        *out->id = c->id;
    if (out->graph != NULL)
        *out->graph = c->graph;
    if (out->deps != NULL)
        *out->deps = s->tip.v;
    if (out->ndeps != NULL)
        *out->ndeps = s->tip.n;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuStreamIsCapturing(CUstream hStream,
                                     CUstreamCaptureStatus *captureStatus)
{
    CUstream s;
    CUresult rc = sim_begin_stream(SIM_FN_cuStreamIsCapturing, hStream, &s);
    if (rc != CUDA_SUCCESS)
        return rc;
    return sim_end(tell(s, &(struct info){.status = captureStatus}));
}

static CUresult capture_info(CUstream handle, const struct info *out)
{
    CUstream s;
    CUresult rc = sim_begin_stream(SIM_FN_cuStreamGetCaptureInfo, handle, &s);
    return rc != CUDA_SUCCESS ? rc : sim_end(tell(s, out));
}

CUresult CUDAAPI cuStreamGetCaptureInfo(
    CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
    cuuint64_t *id_out)
{
    return capture_info(
        hStream, &(struct info){.status = captureStatus_out, .id = id_out});
}

CUresult CUDAAPI cuStreamGetCaptureInfo_v2(
    CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
    cuuint64_t *id_out, CUgraph *graph_out,
    const CUgraphNode **dependencies_out, size_t *numDependencies_out)
{
    return capture_info(hStream, &(struct info){
                                     .status = captureStatus_out,
                                     .id = id_out,
                                     .graph = graph_out,
                                     .deps = dependencies_out,
                                     .ndeps = numDependencies_out,
                                 });
}

/* No edge here has data: NULL stands for that. */
CUresult CUDAAPI cuStreamGetCaptureInfo_v3(
    CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
    cuuint64_t *id_out, CUgraph *graph_out,
    const CUgraphNode **dependencies_out, const CUgraphEdgeData **edgeData_out,
    size_t *numDependencies_out)
{
    if (edgeData_out != NULL)
        *edgeData_out = NULL;
    return cuStreamGetCaptureInfo_v2(hStream, captureStatus_out, id_out,
                                     graph_out, dependencies_out,
                                     numDependencies_out);
}

CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    CUresult rc = sim_enter(SIM_FN_cuThreadExchangeStreamCaptureMode);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (mode == NULL || (int)*mode < 0 ||
        *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_thread *t = sim_thread();
    CUstreamCaptureMode old = t->capture_mode;
    t->capture_mode = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}

/* The same calls for programs whose default stream is the thread's own. */

CUresult CUDAAPI cuStreamBeginCapture_ptsz(CUstream hStream)
{
    return cuStreamBeginCapture(own(hStream));
}

CUresult CUDAAPI cuStreamBeginCapture_v2_ptsz(CUstream hStream,
                                              CUstreamCaptureMode mode)
{
    return cuStreamBeginCapture_v2(own(hStream), mode);
}

CUresult CUDAAPI cuStreamEndCapture_ptsz(CUstream hStream, CUgraph *phGraph)
{
    return cuStreamEndCapture(own(hStream), phGraph);
}

CUresult CUDAAPI cuStreamIsCapturing_ptsz(CUstream hStream,
                                          CUstreamCaptureStatus *captureStatus)
{
    return cuStreamIsCapturing(own(hStream), captureStatus);
}

CUresult CUDAAPI cuStreamGetCaptureInfo_ptsz(
    CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
    cuuint64_t *id_out)
{
    return cuStreamGetCaptureInfo(own(hStream), captureStatus_out, id_out);
}

CUresult CUDAAPI cuStreamGetCaptureInfo_v2_ptsz(
    CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
    cuuint64_t *id_out, CUgraph *graph_out,
    const CUgraphNode **dependencies_out, size_t *numDependencies_out)
{
    return cuStreamGetCaptureInfo_v2(own(hStream), captureStatus_out, id_out,
                                     graph_out, dependencies_out,
                                     numDependencies_out);
}

CUresult CUDAAPI cuStreamGetCaptureInfo_v3_ptsz(
    CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
    cuuint64_t *id_out, CUgraph *graph_out,
    const CUgraphNode **dependencies_out, const CUgraphEdgeData **edgeData_out,
    size_t *numDependencies_out)
{
    return cuStreamGetCaptureInfo_v3(own(hStream), captureStatus_out, id_out,
                                     graph_out, dependencies_out, edgeData_out,
                                     numDependencies_out);
}
