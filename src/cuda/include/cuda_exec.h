/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_exec.h - part of cuda.h, which includes it: stream capture, graphs,
 * modules, launches. */
#ifndef COAX_CUDA_EXEC_H
#define COAX_CUDA_EXEC_H

typedef struct CUgraphExec_st *CUgraphExec;

typedef enum {
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH = 1,
    CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD = 2,
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH = 4,
    CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY = 8
} CUgraphInstantiate_flags;

typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;

/* The options are passed on and never looked at. */
typedef int CUjit_option;
typedef int CUlibraryOption;

typedef enum {
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
    CU_FUNC_ATTRIBUTE_PTX_VERSION = 5,
    CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
    CU_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
    CU_FUNC_ATTRIBUTE_MAX = 16
} CUfunction_attribute;

typedef enum {
    CU_FUNC_CACHE_PREFER_NONE = 0x00,
    CU_FUNC_CACHE_PREFER_SHARED = 0x01,
    CU_FUNC_CACHE_PREFER_L1 = 0x02,
    CU_FUNC_CACHE_PREFER_EQUAL = 0x03
} CUfunc_cache;

typedef enum {
    CU_OCCUPANCY_DEFAULT = 0x0,
    CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE = 0x1
} CUoccupancy_flags;

typedef enum {
    CU_LAUNCH_ATTRIBUTE_IGNORE = 0,
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
    CU_LAUNCH_ATTRIBUTE_PRIORITY = 8
} CUlaunchAttributeID;

typedef union {
    char pad[64];
    int cooperative;
    struct {
        unsigned int x, y, z;
    } clusterDim;
    int priority;
} CUlaunchAttributeValue;

typedef struct CUlaunchAttribute_st {
    CUlaunchAttributeID id;
    char pad[8 - sizeof(CUlaunchAttributeID)];
    CUlaunchAttributeValue value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig_st {
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned int numAttrs;
} CUlaunchConfig;

#define CU_LAUNCH_PARAM_END ((void *)0x00)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x01)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void *)0x02)

typedef size_t(CUDAAPI *CUoccupancyB2DSize)(int blockSize);

typedef struct CUipcEventHandle_st {
    char reserved[CU_IPC_HANDLE_SIZE];
} CUipcEventHandle;

CUresult CUDAAPI cuIpcGetEventHandle(CUipcEventHandle *, CUevent);
CUresult CUDAAPI cuIpcOpenEventHandle(CUevent *, CUipcEventHandle);
CUresult CUDAAPI cuModuleLoad(CUmodule *, const char *);
CUresult CUDAAPI cuModuleLoadData(CUmodule *, const void *);
CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *, const void *, unsigned int,
                                    CUjit_option *, void **);
CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule *, const void *);
CUresult CUDAAPI cuModuleUnload(CUmodule);
CUresult CUDAAPI cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult CUDAAPI cuModuleGetGlobal_v2(CUdeviceptr *, size_t *, CUmodule,
                                      const char *);
CUresult CUDAAPI cuLibraryLoadData(CUlibrary *, const void *, CUjit_option *,
                                   void **, unsigned int, CUlibraryOption *,
                                   void **, unsigned int);
CUresult CUDAAPI cuLibraryLoadFromFile(CUlibrary *, const char *,
                                       CUjit_option *, void **, unsigned int,
                                       CUlibraryOption *, void **,
                                       unsigned int);
CUresult CUDAAPI cuLibraryUnload(CUlibrary);
CUresult CUDAAPI cuLibraryGetKernel(CUkernel *, CUlibrary, const char *);
CUresult CUDAAPI cuLibraryGetModule(CUmodule *, CUlibrary);
CUresult CUDAAPI cuLibraryGetGlobal(CUdeviceptr *, size_t *, CUlibrary,
                                    const char *);
CUresult CUDAAPI cuKernelGetFunction(CUfunction *, CUkernel);
CUresult CUDAAPI cuFuncGetModule(CUmodule *, CUfunction);
CUresult CUDAAPI cuFuncGetName(const char **, CUfunction);
CUresult CUDAAPI cuFuncGetParamInfo(CUfunction, size_t, size_t *, size_t *);
CUresult CUDAAPI cuFuncGetAttribute(int *, CUfunction_attribute, CUfunction);
CUresult CUDAAPI cuFuncSetAttribute(CUfunction, CUfunction_attribute, int);
CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction, CUfunc_cache);
CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, CUfunction,
                                                             int, size_t);
CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *, CUfunction, int, size_t, unsigned int);
CUresult CUDAAPI cuOccupancyMaxPotentialBlockSize(int *, int *, CUfunction,
                                                  CUoccupancyB2DSize, size_t,
                                                  int);
CUresult CUDAAPI cuLaunchKernel(CUfunction, unsigned int, unsigned int,
                                unsigned int, unsigned int, unsigned int,
                                unsigned int, unsigned int, CUstream, void **,
                                void **);
CUresult CUDAAPI cuLaunchKernel_ptsz(CUfunction, unsigned int, unsigned int,
                                     unsigned int, unsigned int, unsigned int,
                                     unsigned int, unsigned int, CUstream,
                                     void **, void **);
CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig *, CUfunction, void **,
                                  void **);
CUresult CUDAAPI cuLaunchKernelEx_ptsz(const CUlaunchConfig *, CUfunction,
                                       void **, void **);
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
#define cuLaunchKernel cuLaunchKernel_ptsz
#define cuLaunchKernelEx cuLaunchKernelEx_ptsz
#else
#define cuStreamBeginCapture cuStreamBeginCapture_v2
#endif
#define cuGraphInstantiate cuGraphInstantiateWithFlags
#define cuModuleGetGlobal cuModuleGetGlobal_v2
#endif

#endif
