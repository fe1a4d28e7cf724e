/* SPDX-License-Identifier: BSD-3-Clause */
/* v12.h - where CUDA 12's runtime library differs from 13's.
 *
 * libcudart.so.12 is built from the same source. Functions whose parameters
 * were changed under the same name have the symbol there that 12 has for the
 * new form (rt.h); the old forms are here. */
#ifndef SIM_V12_H
#define SIM_V12_H

#include "rt.h"

/* What a program calls struct cudaDeviceProp. */
struct rt_properties_12 {
    char name[256];
    char uuid[16];
    char luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    size_t memPitch;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    int clockRate;
    size_t totalConstMem;
    int major;
    int minor;
    size_t textureAlignment;
    size_t texturePitchAlignment;
    int deviceOverlap;
    int multiProcessorCount;
    int kernelExecTimeoutEnabled;
    int integrated;
    int canMapHostMemory;
    int computeMode;
    int textures[40]; /* and surfaces: not simulated */
    size_t surfaceAlignment;
    int concurrentKernels;
    int ECCEnabled;
    int pciBusID;
    int pciDeviceID;
    int pciDomainID;
    int tccDriver;
    int asyncEngineCount;
    int unifiedAddressing;
    int memoryClockRate;
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
    int singleToDoublePrecisionPerfRatio;
    int pageableMemoryAccess;
    int concurrentManagedAccess;
    int computePreemptionSupported;
    int canUseHostPointerForRegisteredMem;
    int cooperativeLaunch;
    int cooperativeMultiDeviceLaunch;
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
    unsigned gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported;
    int ipcEventSupported;
    int clusterLaunch;
    int unifiedFunctionPointers;
    int reserved[63];
};
_Static_assert(sizeof(struct rt_properties_12) == 1032, "as in CUDA 12");

#pragma GCC visibility push(default)
cudaError_t CUDARTAPI cudaGetDeviceProperties_v2(struct rt_properties_12 *prop,
                                                 int device);
cudaError_t CUDARTAPI rt_advise_12(const void *devPtr, size_t count,
                                   enum cudaMemoryAdvise advice,
                                   int device) __asm__("cudaMemAdvise");
cudaError_t CUDARTAPI
rt_prefetch_12(const void *devPtr, size_t count, int dstDevice,
               cudaStream_t stream) __asm__("cudaMemPrefetchAsync");
cudaError_t CUDARTAPI
rt_prefetch_12_ptsz(const void *devPtr, size_t count, int dstDevice,
                    cudaStream_t stream) __asm__("cudaMemPrefetchAsync_ptsz");
cudaError_t CUDARTAPI cudaStreamGetCaptureInfo_v2(
    cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
    unsigned long long *id_out, cudaGraph_t *graph_out,
    const cudaGraphNode_t **dependencies_out, size_t *numDependencies_out);
cudaError_t CUDARTAPI cudaStreamGetCaptureInfo_v2_ptsz(
    cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
    unsigned long long *id_out, cudaGraph_t *graph_out,
    const cudaGraphNode_t **dependencies_out, size_t *numDependencies_out);
#pragma GCC visibility pop

#endif
