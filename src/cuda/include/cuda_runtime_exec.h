/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_runtime_exec.h - part of cuda_runtime_api.h, which includes it: stream
 * capture, graphs. */
#ifndef COAX_CUDA_RUNTIME_EXEC_H
#define COAX_CUDA_RUNTIME_EXEC_H

typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
/* Only pointers to it are used. */
typedef struct cudaGraphEdgeData_st cudaGraphEdgeData;

cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t,
                                             enum cudaStreamCaptureMode);
cudaError_t CUDARTAPI cudaStreamBeginCapture_ptsz(cudaStream_t,
                                                  enum cudaStreamCaptureMode);
cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t, cudaGraph_t *);
cudaError_t CUDARTAPI cudaStreamEndCapture_ptsz(cudaStream_t, cudaGraph_t *);
cudaError_t CUDARTAPI cudaStreamGetCaptureInfo(
    cudaStream_t, enum cudaStreamCaptureStatus *,
    unsigned long long *id COAX_CUDA_DEFAULT(0),
    cudaGraph_t *graph COAX_CUDA_DEFAULT(0),
    const cudaGraphNode_t **dependencies COAX_CUDA_DEFAULT(0),
    const cudaGraphEdgeData **edges COAX_CUDA_DEFAULT(0),
    size_t *numDependencies COAX_CUDA_DEFAULT(0));
cudaError_t CUDARTAPI cudaStreamGetCaptureInfo_ptsz(
    cudaStream_t, enum cudaStreamCaptureStatus *,
    unsigned long long *id COAX_CUDA_DEFAULT(0),
    cudaGraph_t *graph COAX_CUDA_DEFAULT(0),
    const cudaGraphNode_t **dependencies COAX_CUDA_DEFAULT(0),
    const cudaGraphEdgeData **edges COAX_CUDA_DEFAULT(0),
    size_t *numDependencies COAX_CUDA_DEFAULT(0));
cudaError_t CUDARTAPI
cudaGraphInstantiate(cudaGraphExec_t *, cudaGraph_t,
                     unsigned long long flags COAX_CUDA_DEFAULT(0));
cudaError_t CUDARTAPI
cudaGraphInstantiateWithFlags(cudaGraphExec_t *, cudaGraph_t,
                              unsigned long long flags COAX_CUDA_DEFAULT(0));
cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t CUDARTAPI cudaGraphLaunch_ptsz(cudaGraphExec_t, cudaStream_t);
cudaError_t CUDARTAPI cudaGraphUpload(cudaGraphExec_t, cudaStream_t);
cudaError_t CUDARTAPI cudaGraphUpload_ptsz(cudaGraphExec_t, cudaStream_t);
cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t);
cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t);
cudaError_t CUDARTAPI cudaGraphGetNodes(cudaGraph_t, cudaGraphNode_t *,
                                        size_t *);

#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) &&                             \
    !defined(__CUDA_API_VERSION_INTERNAL)
#define cudaStreamBeginCapture cudaStreamBeginCapture_ptsz
#define cudaStreamEndCapture cudaStreamEndCapture_ptsz
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_ptsz
#define cudaGraphLaunch cudaGraphLaunch_ptsz
#define cudaGraphUpload cudaGraphUpload_ptsz
#endif

#endif
