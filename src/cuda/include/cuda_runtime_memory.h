/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_runtime_memory.h - the part of our cuda_runtime_api.h about memory
 * pools; included by it alone. The toolkit has no header of this name. */
#ifndef COAX_CUDA_RUNTIME_MEMORY_H
#define COAX_CUDA_RUNTIME_MEMORY_H

typedef struct CUmemPoolHandle_st *cudaMemPool_t;

enum cudaMemAllocationHandleType {
    cudaMemHandleTypeNone = 0x0,
    cudaMemHandleTypePosixFileDescriptor = 0x1,
    cudaMemHandleTypeWin32 = 0x2,
    cudaMemHandleTypeWin32Kmt = 0x4,
    cudaMemHandleTypeFabric = 0x8
};

enum cudaMemAllocationType {
    cudaMemAllocationTypeInvalid = 0x0,
    cudaMemAllocationTypePinned = 0x1,
    cudaMemAllocationTypeManaged = 0x2,
    cudaMemAllocationTypeMax = 0x7FFFFFFF
};

enum cudaMemAccessFlags {
    cudaMemAccessFlagsProtNone = 0,
    cudaMemAccessFlagsProtRead = 1,
    cudaMemAccessFlagsProtReadWrite = 3
};

enum cudaMemPoolAttr {
    cudaMemPoolReuseFollowEventDependencies = 0x1,
    cudaMemPoolReuseAllowOpportunistic = 0x2,
    cudaMemPoolReuseAllowInternalDependencies = 0x3,
    cudaMemPoolAttrReleaseThreshold = 0x4,
    cudaMemPoolAttrReservedMemCurrent = 0x5,
    cudaMemPoolAttrReservedMemHigh = 0x6,
    cudaMemPoolAttrUsedMemCurrent = 0x7,
    cudaMemPoolAttrUsedMemHigh = 0x8
};

struct cudaMemAccessDesc {
    struct cudaMemLocation location;
    enum cudaMemAccessFlags flags;
};

struct cudaMemPoolProps {
    enum cudaMemAllocationType allocType;
    enum cudaMemAllocationHandleType handleTypes;
    struct cudaMemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
};

cudaError_t CUDARTAPI cudaDeviceGetDefaultMemPool(cudaMemPool_t *, int);
cudaError_t CUDARTAPI cudaDeviceGetMemPool(cudaMemPool_t *, int);
cudaError_t CUDARTAPI cudaDeviceSetMemPool(int, cudaMemPool_t);
cudaError_t CUDARTAPI cudaMemPoolCreate(cudaMemPool_t *,
                                        const struct cudaMemPoolProps *);
cudaError_t CUDARTAPI cudaMemPoolDestroy(cudaMemPool_t);
cudaError_t CUDARTAPI cudaMemPoolSetAttribute(cudaMemPool_t,
                                              enum cudaMemPoolAttr, void *);
cudaError_t CUDARTAPI cudaMemPoolGetAttribute(cudaMemPool_t,
                                              enum cudaMemPoolAttr, void *);
cudaError_t CUDARTAPI cudaMemPoolSetAccess(cudaMemPool_t,
                                           const struct cudaMemAccessDesc *,
                                           size_t);
cudaError_t CUDARTAPI cudaMemPoolGetAccess(enum cudaMemAccessFlags *,
                                           cudaMemPool_t,
                                           struct cudaMemLocation *);
cudaError_t CUDARTAPI cudaMemPoolTrimTo(cudaMemPool_t, size_t);
cudaError_t CUDARTAPI cudaMallocAsync(void **, size_t, cudaStream_t);
cudaError_t CUDARTAPI cudaMallocAsync_ptsz(void **, size_t, cudaStream_t);
cudaError_t CUDARTAPI cudaMallocFromPoolAsync(void **, size_t, cudaMemPool_t,
                                              cudaStream_t);
cudaError_t CUDARTAPI cudaMallocFromPoolAsync_ptsz(void **, size_t,
                                                   cudaMemPool_t, cudaStream_t);
cudaError_t CUDARTAPI cudaFreeAsync(void *, cudaStream_t);
cudaError_t CUDARTAPI cudaFreeAsync_ptsz(void *, cudaStream_t);

#if !defined(__CUDA_API_VERSION_INTERNAL) &&                                   \
    defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#define cudaFreeAsync cudaFreeAsync_ptsz
#define cudaMallocAsync cudaMallocAsync_ptsz
#define cudaMallocFromPoolAsync cudaMallocFromPoolAsync_ptsz
#endif

#endif
