/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_runtime_api.h - the part of the CUDA runtime API that the simulated GPU
 * and the examples use, as of CUDA 13, for machines without the toolkit.
 *
 * Binary compatible with the toolkit's header of the same name, and compared
 * with it by a test where there is one. Written for Coax; not complete. */
#ifndef COAX_CUDA_RUNTIME_API_H
#define COAX_CUDA_RUNTIME_API_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#define COAX_CUDA_DEFAULT(value) = value
#else
#define COAX_CUDA_DEFAULT(value)
#endif

#define CUDART_VERSION 13000
#define CUDARTAPI

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;

#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaCpuDeviceId ((int)-1)
#define cudaInvalidDeviceId ((int)-2)
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaHostAllocWriteCombined 0x04
#define cudaHostRegisterDefault 0x00
#define cudaHostRegisterPortable 0x01
#define cudaHostRegisterMapped 0x02
#define cudaHostRegisterIoMemory 0x04
#define cudaHostRegisterReadOnly 0x08
#define cudaPeerAccessDefault 0x00
#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaEventInterprocess 0x04
#define cudaEventRecordDefault 0x00
#define cudaEventRecordExternal 0x01
#define cudaEventWaitDefault 0x00
#define cudaEventWaitExternal 0x01
#define cudaDeviceScheduleAuto 0x00
#define cudaDeviceScheduleSpin 0x01
#define cudaDeviceScheduleYield 0x02
#define cudaDeviceScheduleBlockingSync 0x04
#define cudaDeviceBlockingSync 0x04
#define cudaDeviceScheduleMask 0x07
#define cudaDeviceMapHost 0x08
#define cudaDeviceMask 0xff
#define cudaIpcMemLazyEnablePeerAccess 0x01
#define cudaMemAttachGlobal 0x01
#define cudaMemAttachHost 0x02
#define cudaMemAttachSingle 0x04

enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorCudartUnloading = 4,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidPitchValue = 12,
    cudaErrorInvalidSymbol = 13,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorInsufficientDriver = 35,
    cudaErrorCallRequiresNewerDriver = 36,
    cudaErrorDevicesUnavailable = 46,
    cudaErrorMissingConfiguration = 52,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidKernelImage = 200,
    cudaErrorDeviceUninitialized = 201,
    cudaErrorMapBufferObjectFailed = 205,
    cudaErrorAlreadyMapped = 208,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorNotMapped = 211,
    cudaErrorPeerAccessUnsupported = 217,
    cudaErrorUnsupportedExecAffinity = 224,
    cudaErrorFileNotFound = 301,
    cudaErrorOperatingSystem = 304,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorIllegalState = 401,
    cudaErrorSymbolNotFound = 500,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorPeerAccessAlreadyEnabled = 704,
    cudaErrorPeerAccessNotEnabled = 705,
    cudaErrorSetOnActiveProcess = 708,
    cudaErrorContextIsDestroyed = 709,
    cudaErrorHostMemoryAlreadyRegistered = 712,
    cudaErrorHostMemoryNotRegistered = 713,
    cudaErrorMisalignedAddress = 716,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotPermitted = 800,
    cudaErrorNotSupported = 801,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901,
    cudaErrorStreamCaptureMerge = 902,
    cudaErrorStreamCaptureUnmatched = 903,
    cudaErrorStreamCaptureUnjoined = 904,
    cudaErrorStreamCaptureIsolation = 905,
    cudaErrorStreamCaptureImplicit = 906,
    cudaErrorCapturedEvent = 907,
    cudaErrorStreamCaptureWrongThread = 908,
    cudaErrorUnknown = 999
};

typedef enum cudaError cudaError_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};

enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0,
    cudaMemoryTypeHost = 1,
    cudaMemoryTypeDevice = 2,
    cudaMemoryTypeManaged = 3
};

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxBlockDimX = 2,
    cudaDevAttrMaxBlockDimY = 3,
    cudaDevAttrMaxBlockDimZ = 4,
    cudaDevAttrMaxGridDimX = 5,
    cudaDevAttrMaxGridDimY = 6,
    cudaDevAttrMaxGridDimZ = 7,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrClockRate = 13,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrIntegrated = 18,
    cudaDevAttrCanMapHostMemory = 19,
    cudaDevAttrComputeMode = 20,
    cudaDevAttrConcurrentKernels = 31,
    cudaDevAttrPciBusId = 33,
    cudaDevAttrPciDeviceId = 34,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrAsyncEngineCount = 40,
    cudaDevAttrUnifiedAddressing = 41,
    cudaDevAttrPciDomainId = 50,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrStreamPrioritiesSupported = 78,
    cudaDevAttrManagedMemory = 83,
    cudaDevAttrPageableMemoryAccess = 88,
    cudaDevAttrConcurrentManagedAccess = 89,
    cudaDevAttrHostRegisterSupported = 99,
    cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100,
    cudaDevAttrMaxPersistingL2CacheSize = 108,
    cudaDevAttrMemoryPoolsSupported = 115,
    cudaDevAttrGPUDirectRDMASupported = 116,
    cudaDevAttrGPUDirectRDMAFlushWritesOptions = 117,
    cudaDevAttrGPUDirectRDMAWritesOrdering = 118,
    cudaDevAttrIpcEventSupport = 125,
    cudaDevAttrGpuPciDeviceId = 139,
    cudaDevAttrHostNumaMemoryPoolsSupported = 142,
    cudaDevAttrHostMemoryPoolsSupported = 144
};

enum cudaDeviceP2PAttr {
    cudaDevP2PAttrPerformanceRank = 1,
    cudaDevP2PAttrAccessSupported = 2,
    cudaDevP2PAttrNativeAtomicSupported = 3,
    cudaDevP2PAttrCudaArrayAccessSupported = 4
};

enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1,
    cudaMemAdviseUnsetReadMostly = 2,
    cudaMemAdviseSetPreferredLocation = 3,
    cudaMemAdviseUnsetPreferredLocation = 4,
    cudaMemAdviseSetAccessedBy = 5,
    cudaMemAdviseUnsetAccessedBy = 6
};

enum cudaMemLocationType {
    cudaMemLocationTypeInvalid = 0,
    cudaMemLocationTypeNone = 0,
    cudaMemLocationTypeDevice = 1,
    cudaMemLocationTypeHost = 2,
    cudaMemLocationTypeHostNuma = 3,
    cudaMemLocationTypeHostNumaCurrent = 4
};

enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone = 0,
    cudaStreamCaptureStatusActive = 1,
    cudaStreamCaptureStatusInvalidated = 2
};

enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal = 0,
    cudaStreamCaptureModeThreadLocal = 1,
    cudaStreamCaptureModeRelaxed = 2
};

enum cudaGetDriverEntryPointFlags {
    cudaEnableDefault = 0x0,
    cudaEnableLegacyStream = 0x1,
    cudaEnablePerThreadDefaultStream = 0x2
};

enum cudaDriverEntryPointQueryResult {
    cudaDriverEntryPointSuccess = 0,
    cudaDriverEntryPointSymbolNotFound = 1,
    cudaDriverEntryPointVersionNotSufficent = 2
};

struct cudaMemLocation {
    enum cudaMemLocationType type;
    int id;
};

struct cudaPointerAttributes {
    enum cudaMemoryType type;
    int device;
    void *devicePointer;
    void *hostPointer;
    long reserved[8];
};

#ifndef COAX_CUDA_UUID
#define COAX_CUDA_UUID
typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;
#endif
typedef struct CUuuid_st cudaUUID_t;

typedef struct cudaIpcMemHandle_st {
    char reserved[64];
} cudaIpcMemHandle_t;

typedef void(CUDARTAPI *cudaHostFn_t)(void *user);
typedef void(CUDARTAPI *cudaStreamCallback_t)(cudaStream_t, cudaError_t,
                                              void *user);

struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    char luid[8];
    unsigned int luidDeviceNodeMask;
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    size_t memPitch;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    size_t totalConstMem;
    int major;
    int minor;
    size_t textureAlignment;
    size_t texturePitchAlignment;
    int multiProcessorCount;
    int integrated;
    int canMapHostMemory;
    int maxTexture1D;
    int maxTexture1DMipmap;
    int maxTexture2D[2];
    int maxTexture2DMipmap[2];
    int maxTexture2DLinear[3];
    int maxTexture2DGather[2];
    int maxTexture3D[3];
    int maxTexture3DAlt[3];
    int maxTextureCubemap;
    int maxTexture1DLayered[2];
    int maxTexture2DLayered[3];
    int maxTextureCubemapLayered[2];
    int maxSurface1D;
    int maxSurface2D[2];
    int maxSurface3D[3];
    int maxSurface1DLayered[2];
    int maxSurface2DLayered[3];
    int maxSurfaceCubemap;
    int maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels;
    int ECCEnabled;
    int pciBusID;
    int pciDeviceID;
    int pciDomainID;
    int tccDriver;
    int asyncEngineCount;
    int unifiedAddressing;
    int memoryBusWidth;
    int l2CacheSize;
    int persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported;
    int globalL1CacheSupported;
    int localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor;
    int managedMemory;
    int isMultiGpuBoard;
    int multiGpuBoardGroupID;
    int hostNativeAtomicSupported;
    int pageableMemoryAccess;
    int concurrentManagedAccess;
    int computePreemptionSupported;
    int canUseHostPointerForRegisteredMem;
    int cooperativeLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables;
    int directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor;
    int accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported;
    int sparseCudaArraySupported;
    int hostRegisterReadOnlySupported;
    int timelineSemaphoreInteropSupported;
    int memoryPoolsSupported;
    int gpuDirectRDMASupported;
    unsigned int gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned int memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported;
    int ipcEventSupported;
    int clusterLaunch;
    int unifiedFunctionPointers;
    int deviceNumaConfig;
    int deviceNumaId;
    int mpsEnabled;
    int hostNumaId;
    unsigned int gpuPciDeviceID;
    unsigned int gpuPciSubsystemID;
    int hostNumaMultinodeIpcSupported;
    int reserved[56];
};

cudaError_t CUDARTAPI cudaGetLastError(void);
cudaError_t CUDARTAPI cudaPeekAtLastError(void);
const char *CUDARTAPI cudaGetErrorName(cudaError_t);
const char *CUDARTAPI cudaGetErrorString(cudaError_t);
cudaError_t CUDARTAPI cudaMemcpy(void *, const void *, size_t,
                                 enum cudaMemcpyKind);
cudaError_t CUDARTAPI cudaMemcpy_ptds(void *, const void *, size_t,
                                      enum cudaMemcpyKind);
cudaError_t CUDARTAPI cudaMemcpyAsync(void *, const void *, size_t,
                                      enum cudaMemcpyKind,
                                      cudaStream_t stream COAX_CUDA_DEFAULT(0));
cudaError_t CUDARTAPI
cudaMemcpyAsync_ptsz(void *, const void *, size_t, enum cudaMemcpyKind,
                     cudaStream_t stream COAX_CUDA_DEFAULT(0));
cudaError_t CUDARTAPI cudaMemcpy2D(void *, size_t, const void *, size_t, size_t,
                                   size_t, enum cudaMemcpyKind);
cudaError_t CUDARTAPI cudaMemcpy2D_ptds(void *, size_t, const void *, size_t,
                                        size_t, size_t, enum cudaMemcpyKind);
cudaError_t CUDARTAPI cudaMemcpy2DAsync(
    void *, size_t, const void *, size_t, size_t, size_t, enum cudaMemcpyKind,
    cudaStream_t stream COAX_CUDA_DEFAULT(0));
cudaError_t CUDARTAPI cudaMemcpy2DAsync_ptsz(
    void *, size_t, const void *, size_t, size_t, size_t, enum cudaMemcpyKind,
    cudaStream_t stream COAX_CUDA_DEFAULT(0));
cudaError_t CUDARTAPI cudaMemset(void *, int, size_t);
cudaError_t CUDARTAPI cudaMemset_ptds(void *, int, size_t);
cudaError_t CUDARTAPI cudaMemsetAsync(void *, int, size_t,
                                      cudaStream_t stream COAX_CUDA_DEFAULT(0));
cudaError_t CUDARTAPI cudaMemsetAsync_ptsz(
    void *, int, size_t, cudaStream_t stream COAX_CUDA_DEFAULT(0));
cudaError_t CUDARTAPI cudaMemset2D(void *, size_t, int, size_t, size_t);
cudaError_t CUDARTAPI cudaMemset2D_ptds(void *, size_t, int, size_t, size_t);
cudaError_t CUDARTAPI
cudaMemset2DAsync(void *, size_t, int, size_t, size_t,
                  cudaStream_t stream COAX_CUDA_DEFAULT(0));
cudaError_t CUDARTAPI
cudaMemset2DAsync_ptsz(void *, size_t, int, size_t, size_t,
                       cudaStream_t stream COAX_CUDA_DEFAULT(0));
cudaError_t CUDARTAPI cudaMemcpyPeer(void *, int, const void *, int, size_t);
cudaError_t CUDARTAPI
cudaMemcpyPeerAsync(void *, int, const void *, int, size_t,
                    cudaStream_t stream COAX_CUDA_DEFAULT(0));
cudaError_t CUDARTAPI cudaDriverGetVersion(int *);
cudaError_t CUDARTAPI cudaRuntimeGetVersion(int *);
cudaError_t CUDARTAPI cudaGetDeviceCount(int *);
cudaError_t CUDARTAPI cudaGetDevice(int *);
cudaError_t CUDARTAPI cudaSetDevice(int);
cudaError_t CUDARTAPI cudaInitDevice(int, unsigned int, unsigned int);
cudaError_t CUDARTAPI cudaGetDeviceFlags(unsigned int *);
cudaError_t CUDARTAPI cudaSetDeviceFlags(unsigned int);
cudaError_t CUDARTAPI cudaDeviceGetAttribute(int *, enum cudaDeviceAttr, int);
cudaError_t CUDARTAPI cudaDeviceGetPCIBusId(char *, int, int);
cudaError_t CUDARTAPI cudaDeviceGetByPCIBusId(int *, const char *);
cudaError_t CUDARTAPI cudaDeviceGetStreamPriorityRange(int *, int *);
cudaError_t CUDARTAPI cudaDeviceSynchronize(void);
cudaError_t CUDARTAPI cudaDeviceReset(void);
cudaError_t CUDARTAPI cudaDeviceCanAccessPeer(int *, int, int);
cudaError_t CUDARTAPI cudaDeviceGetP2PAttribute(int *, enum cudaDeviceP2PAttr,
                                                int, int);
cudaError_t CUDARTAPI cudaDeviceEnablePeerAccess(int, unsigned int);
cudaError_t CUDARTAPI cudaDeviceDisablePeerAccess(int);
cudaError_t CUDARTAPI cudaGetDeviceProperties(struct cudaDeviceProp *, int);
cudaError_t CUDARTAPI
cudaGetDriverEntryPoint(const char *, void **, unsigned long long,
                        enum cudaDriverEntryPointQueryResult *);
cudaError_t CUDARTAPI
cudaGetDriverEntryPoint_ptsz(const char *, void **, unsigned long long,
                             enum cudaDriverEntryPointQueryResult *);
cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion(
    const char *, void **, unsigned int, unsigned long long,
    enum cudaDriverEntryPointQueryResult *);
cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion_ptsz(
    const char *, void **, unsigned int, unsigned long long,
    enum cudaDriverEntryPointQueryResult *);
cudaError_t CUDARTAPI cudaMalloc(void **, size_t);
cudaError_t CUDARTAPI cudaMallocPitch(void **, size_t *, size_t, size_t);
cudaError_t CUDARTAPI cudaMallocManaged(
    void **, size_t, unsigned int flags COAX_CUDA_DEFAULT(cudaMemAttachGlobal));
cudaError_t CUDARTAPI cudaMallocHost(void **, size_t);
cudaError_t CUDARTAPI cudaHostAlloc(void **, size_t, unsigned int);
cudaError_t CUDARTAPI cudaHostRegister(void *, size_t, unsigned int);
cudaError_t CUDARTAPI cudaHostUnregister(void *);
cudaError_t CUDARTAPI cudaHostGetDevicePointer(void **, void *, unsigned int);
cudaError_t CUDARTAPI cudaHostGetFlags(unsigned int *, void *);
cudaError_t CUDARTAPI cudaFree(void *);
cudaError_t CUDARTAPI cudaFreeHost(void *);
cudaError_t CUDARTAPI cudaMemGetInfo(size_t *, size_t *);
cudaError_t CUDARTAPI cudaPointerGetAttributes(struct cudaPointerAttributes *,
                                               const void *);
cudaError_t CUDARTAPI cudaIpcGetMemHandle(cudaIpcMemHandle_t *, void *);
cudaError_t CUDARTAPI cudaIpcOpenMemHandle(void **, cudaIpcMemHandle_t,
                                           unsigned int);
cudaError_t CUDARTAPI cudaIpcCloseMemHandle(void *);
cudaError_t CUDARTAPI cudaMemPrefetchAsync(const void *, size_t,
                                           struct cudaMemLocation, unsigned int,
                                           cudaStream_t);
cudaError_t CUDARTAPI cudaMemPrefetchAsync_ptsz(const void *, size_t,
                                                struct cudaMemLocation,
                                                unsigned int, cudaStream_t);
cudaError_t CUDARTAPI cudaMemAdvise(const void *, size_t, enum cudaMemoryAdvise,
                                    struct cudaMemLocation);
cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t *);
cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t *, unsigned int);
cudaError_t CUDARTAPI cudaStreamCreateWithPriority(cudaStream_t *, unsigned int,
                                                   int);
cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t);
cudaError_t CUDARTAPI cudaStreamGetPriority(cudaStream_t, int *);
cudaError_t CUDARTAPI cudaStreamGetPriority_ptsz(cudaStream_t, int *);
cudaError_t CUDARTAPI cudaStreamGetFlags(cudaStream_t, unsigned int *);
cudaError_t CUDARTAPI cudaStreamGetFlags_ptsz(cudaStream_t, unsigned int *);
cudaError_t CUDARTAPI cudaStreamGetId(cudaStream_t, unsigned long long *);
cudaError_t CUDARTAPI cudaStreamGetId_ptsz(cudaStream_t, unsigned long long *);
cudaError_t CUDARTAPI cudaStreamGetDevice(cudaStream_t, int *);
cudaError_t CUDARTAPI cudaStreamGetDevice_ptsz(cudaStream_t, int *);
cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t);
cudaError_t CUDARTAPI cudaStreamQuery_ptsz(cudaStream_t);
cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t);
cudaError_t CUDARTAPI cudaStreamSynchronize_ptsz(cudaStream_t);
cudaError_t CUDARTAPI cudaStreamWaitEvent(
    cudaStream_t, cudaEvent_t, unsigned int flags COAX_CUDA_DEFAULT(0));
cudaError_t CUDARTAPI cudaStreamWaitEvent_ptsz(
    cudaStream_t, cudaEvent_t, unsigned int flags COAX_CUDA_DEFAULT(0));
cudaError_t CUDARTAPI cudaStreamIsCapturing(cudaStream_t,
                                            enum cudaStreamCaptureStatus *);
cudaError_t CUDARTAPI
cudaStreamIsCapturing_ptsz(cudaStream_t, enum cudaStreamCaptureStatus *);
cudaError_t CUDARTAPI
cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *);
cudaError_t CUDARTAPI cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t, void *);
cudaError_t CUDARTAPI cudaLaunchHostFunc_ptsz(cudaStream_t, cudaHostFn_t,
                                              void *);
cudaError_t CUDARTAPI cudaStreamAddCallback(cudaStream_t, cudaStreamCallback_t,
                                            void *, unsigned int);
cudaError_t CUDARTAPI cudaStreamAddCallback_ptsz(cudaStream_t,
                                                 cudaStreamCallback_t, void *,
                                                 unsigned int);
cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t *);
cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t *, unsigned int);
cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t,
                                      cudaStream_t stream COAX_CUDA_DEFAULT(0));
cudaError_t CUDARTAPI
cudaEventRecord_ptsz(cudaEvent_t, cudaStream_t stream COAX_CUDA_DEFAULT(0));
cudaError_t CUDARTAPI cudaEventRecordWithFlags(cudaEvent_t, cudaStream_t,
                                               unsigned int);
cudaError_t CUDARTAPI cudaEventRecordWithFlags_ptsz(cudaEvent_t, cudaStream_t,
                                                    unsigned int);
cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t);
cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t);
cudaError_t CUDARTAPI cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t);
cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t);

#include "cuda_runtime_exec.h"
#include "cuda_runtime_memory.h"

/* Programs built for a default stream of each thread call other symbols. The
 * stand-in defines both, and so wants no renaming. */
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) &&                             \
    !defined(__CUDA_API_VERSION_INTERNAL)
#define __CUDART_API_PTDS(api) api##_ptds
#define __CUDART_API_PTSZ(api) api##_ptsz
#define cudaEventRecord __CUDART_API_PTSZ(cudaEventRecord)
#define cudaEventRecordWithFlags __CUDART_API_PTSZ(cudaEventRecordWithFlags)
#define cudaGetDriverEntryPoint __CUDART_API_PTSZ(cudaGetDriverEntryPoint)
#define cudaGetDriverEntryPointByVersion                                       \
    __CUDART_API_PTSZ(cudaGetDriverEntryPointByVersion)
#define cudaLaunchHostFunc __CUDART_API_PTSZ(cudaLaunchHostFunc)
#define cudaMemPrefetchAsync __CUDART_API_PTSZ(cudaMemPrefetchAsync)
#define cudaMemcpy __CUDART_API_PTDS(cudaMemcpy)
#define cudaMemcpy2D __CUDART_API_PTDS(cudaMemcpy2D)
#define cudaMemcpy2DAsync __CUDART_API_PTSZ(cudaMemcpy2DAsync)
#define cudaMemcpyAsync __CUDART_API_PTSZ(cudaMemcpyAsync)
#define cudaMemset __CUDART_API_PTDS(cudaMemset)
#define cudaMemset2D __CUDART_API_PTDS(cudaMemset2D)
#define cudaMemset2DAsync __CUDART_API_PTSZ(cudaMemset2DAsync)
#define cudaMemsetAsync __CUDART_API_PTSZ(cudaMemsetAsync)
#define cudaStreamAddCallback __CUDART_API_PTSZ(cudaStreamAddCallback)
#define cudaStreamGetDevice __CUDART_API_PTSZ(cudaStreamGetDevice)
#define cudaStreamGetFlags __CUDART_API_PTSZ(cudaStreamGetFlags)
#define cudaStreamGetId __CUDART_API_PTSZ(cudaStreamGetId)
#define cudaStreamGetPriority __CUDART_API_PTSZ(cudaStreamGetPriority)
#define cudaStreamIsCapturing __CUDART_API_PTSZ(cudaStreamIsCapturing)
#define cudaStreamQuery __CUDART_API_PTSZ(cudaStreamQuery)
#define cudaStreamSynchronize __CUDART_API_PTSZ(cudaStreamSynchronize)
#define cudaStreamWaitEvent __CUDART_API_PTSZ(cudaStreamWaitEvent)
#endif

#ifdef __cplusplus
}
#endif

#endif
