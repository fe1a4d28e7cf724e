/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_exec.h - part of cuda.h, which includes it: stream capture, graphs. */
#ifndef COAX_CUDA_EXEC_H
#define COAX_CUDA_EXEC_H

typedef struct CUgraphExec_st *CUgraphExec;

typedef enum {
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH = 1,
    CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD = 2,
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH = 4,
    CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY = 8
} CUgraphInstantiate_flags;

CUresult CUDAAPI cuStreamBeginCapture(CUstream);
CUresult CUDAAPI cuStreamBeginCapture_ptsz(CUstream);
CUresult CUDAAPI cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode);
CUresult CUDAAPI cuStreamBeginCapture_v2_ptsz(CUstream, CUstreamCaptureMode);
CUresult CUDAAPI cuStreamEndCapture(CUstream, CUgraph *);
CUresult CUDAAPI cuStreamEndCapture_ptsz(CUstream, CUgraph *);
CUresult CUDAAPI cuGraphInstantiate(CUgraphExec *, CUgraph, CUgraphNode *,
                                    char *, size_t);
CUresult CUDAAPI cuGraphInstantiate_v2(CUgraphExec *, CUgraph, CUgraphNode *,
                                       char *, size_t);
CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph,
                                             unsigned long long);
CUresult CUDAAPI cuGraphLaunch(CUgraphExec, CUstream);
CUresult CUDAAPI cuGraphLaunch_ptsz(CUgraphExec, CUstream);
CUresult CUDAAPI cuGraphUpload(CUgraphExec, CUstream);
CUresult CUDAAPI cuGraphUpload_ptsz(CUgraphExec, CUstream);
CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec);
CUresult CUDAAPI cuGraphDestroy(CUgraph);
CUresult CUDAAPI cuGraphGetNodes(CUgraph, CUgraphNode *, size_t *);

/* As in cuda.h: what a program writes is the newest of them. */
#if !defined(__CUDA_API_VERSION_INTERNAL)
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#define cuStreamBeginCapture cuStreamBeginCapture_v2_ptsz
#define cuStreamEndCapture cuStreamEndCapture_ptsz
#define cuGraphLaunch cuGraphLaunch_ptsz
#define cuGraphUpload cuGraphUpload_ptsz
#else
#define cuStreamBeginCapture cuStreamBeginCapture_v2
#endif
#define cuGraphInstantiate cuGraphInstantiateWithFlags
#endif

#endif
