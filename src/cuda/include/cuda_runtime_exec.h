/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_runtime_exec.h - part of cuda_runtime_api.h, which includes it: stream
 * capture, graphs, kernels. */
#ifndef COAX_CUDA_RUNTIME_EXEC_H
#define COAX_CUDA_RUNTIME_EXEC_H

typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
/* Only pointers to it are used. */
typedef struct cudaGraphEdgeData_st cudaGraphEdgeData;

typedef struct CUkern_st *cudaKernel_t;

typedef struct dim3 {
    unsigned int x, y, z;
#if defined(__cplusplus)
    constexpr dim3(unsigned int nx = 1, unsigned int ny = 1,
                   unsigned int nz = 1)
        : x(nx), y(ny), z(nz)
    {
    }
#endif
} dim3;

struct cudaFuncAttributes {
    size_t sharedSizeBytes;
    size_t constSizeBytes;
    size_t localSizeBytes;
    int maxThreadsPerBlock;
    int numRegs;
    int ptxVersion;
    int binaryVersion;
    int cacheModeCA;
    int maxDynamicSharedSizeBytes;
    int preferredShmemCarveout;
    int clusterDimMustBeSet;
    int requiredClusterWidth;
    int requiredClusterHeight;
    int requiredClusterDepth;
    int clusterSchedulingPolicyPreference;
    int nonPortableClusterSizeAllowed;
    int reserved[16];
};

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};

typedef struct cudaIpcEventHandle_st {
    char reserved[64];
} cudaIpcEventHandle_t;

cudaError_t CUDARTAPI cudaIpcGetEventHandle(cudaIpcEventHandle_t *,
                                            cudaEvent_t);
cudaError_t CUDARTAPI cudaIpcOpenEventHandle(cudaEvent_t *,
                                             cudaIpcEventHandle_t);
cudaError_t CUDARTAPI cudaLaunchKernel(const void *, dim3, dim3, void **,
                                       size_t, cudaStream_t);
cudaError_t CUDARTAPI cudaLaunchKernel_ptsz(const void *, dim3, dim3, void **,
                                            size_t, cudaStream_t);
cudaError_t CUDARTAPI cudaFuncGetAttributes(struct cudaFuncAttributes *,
                                            const void *);
cudaError_t CUDARTAPI cudaFuncSetAttribute(const void *, enum cudaFuncAttribute,
                                           int);
cudaError_t CUDARTAPI
cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);
cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *, const void *, int, size_t, unsigned int);
cudaError_t CUDARTAPI cudaGetSymbolAddress(void **, const void *);
cudaError_t CUDARTAPI cudaGetSymbolSize(size_t *, const void *);
cudaError_t CUDARTAPI cudaMemcpyToSymbol(
    const void *, const void *, size_t, size_t offset COAX_CUDA_DEFAULT(0),
    enum cudaMemcpyKind kind COAX_CUDA_DEFAULT(cudaMemcpyHostToDevice));
cudaError_t CUDARTAPI cudaMemcpyFromSymbol(
    void *, const void *, size_t, size_t offset COAX_CUDA_DEFAULT(0),
    enum cudaMemcpyKind kind COAX_CUDA_DEFAULT(cudaMemcpyDeviceToHost));
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
#define cudaLaunchKernel cudaLaunchKernel_ptsz
#endif

#endif
