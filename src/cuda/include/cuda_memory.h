/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_memory.h - the part of our cuda.h about memory pools and virtual
 * memory; included by it alone. The toolkit has no header of this name. */
#ifndef COAX_CUDA_MEMORY_H
#define COAX_CUDA_MEMORY_H

typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef unsigned long long CUmemGenericAllocationHandle;

typedef enum {
    CU_MEM_HANDLE_TYPE_NONE = 0x0,
    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 0x1,
    CU_MEM_HANDLE_TYPE_WIN32 = 0x2,
    CU_MEM_HANDLE_TYPE_WIN32_KMT = 0x4,
    CU_MEM_HANDLE_TYPE_FABRIC = 0x8,
    CU_MEM_HANDLE_TYPE_MAX = 0x7FFFFFFF
} CUmemAllocationHandleType;

typedef enum {
    CU_MEM_ACCESS_FLAGS_PROT_NONE = 0x0,
    CU_MEM_ACCESS_FLAGS_PROT_READ = 0x1,
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 0x3,
    CU_MEM_ACCESS_FLAGS_PROT_MAX = 0x7FFFFFFF
} CUmemAccess_flags;

typedef enum {
    CU_MEM_LOCATION_TYPE_INVALID = 0x0,
    CU_MEM_LOCATION_TYPE_NONE = 0x0,
    CU_MEM_LOCATION_TYPE_DEVICE = 0x1,
    CU_MEM_LOCATION_TYPE_HOST = 0x2,
    CU_MEM_LOCATION_TYPE_HOST_NUMA = 0x3,
    CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT = 0x4,
    CU_MEM_LOCATION_TYPE_MAX = 0x7FFFFFFF
} CUmemLocationType;

typedef enum {
    CU_MEM_ALLOCATION_TYPE_INVALID = 0x0,
    CU_MEM_ALLOCATION_TYPE_PINNED = 0x1,
    CU_MEM_ALLOCATION_TYPE_MANAGED = 0x2,
    CU_MEM_ALLOCATION_TYPE_MAX = 0x7FFFFFFF
} CUmemAllocationType;

typedef enum {
    CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0x0,
    CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 0x1
} CUmemAllocationGranularity_flags;

typedef enum {
    CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,
    CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC = 2,
    CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3,
    CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
    CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5,
    CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH = 6,
    CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7,
    CU_MEMPOOL_ATTR_USED_MEM_HIGH = 8
} CUmemPool_attribute;

typedef struct CUmemLocation_st {
    CUmemLocationType type;
    int id;
} CUmemLocation;

typedef struct CUmemAccessDesc_st {
    CUmemLocation location;
    CUmemAccess_flags flags;
} CUmemAccessDesc;

typedef struct CUmemAllocationProp_st {
    CUmemAllocationType type;
    CUmemAllocationHandleType requestedHandleTypes;
    CUmemLocation location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType;
        unsigned char gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
} CUmemAllocationProp;

typedef struct CUmemPoolProps_st {
    CUmemAllocationType allocType;
    CUmemAllocationHandleType handleTypes;
    CUmemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
} CUmemPoolProps;

CUresult CUDAAPI cuDeviceGetDefaultMemPool(CUmemoryPool *, CUdevice);
CUresult CUDAAPI cuDeviceGetMemPool(CUmemoryPool *, CUdevice);
CUresult CUDAAPI cuDeviceSetMemPool(CUdevice, CUmemoryPool);
CUresult CUDAAPI cuMemPoolCreate(CUmemoryPool *, const CUmemPoolProps *);
CUresult CUDAAPI cuMemPoolDestroy(CUmemoryPool);
CUresult CUDAAPI cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute,
                                       void *);
CUresult CUDAAPI cuMemPoolGetAttribute(CUmemoryPool, CUmemPool_attribute,
                                       void *);
CUresult CUDAAPI cuMemPoolSetAccess(CUmemoryPool, const CUmemAccessDesc *,
                                    size_t);
CUresult CUDAAPI cuMemPoolGetAccess(CUmemAccess_flags *, CUmemoryPool,
                                    CUmemLocation *);
CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool, size_t);
CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr *, size_t, CUstream);
CUresult CUDAAPI cuMemAllocAsync_ptsz(CUdeviceptr *, size_t, CUstream);
CUresult CUDAAPI cuMemAllocFromPoolAsync(CUdeviceptr *, size_t, CUmemoryPool,
                                         CUstream);
CUresult CUDAAPI cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *, size_t,
                                              CUmemoryPool, CUstream);
CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr, CUstream);
CUresult CUDAAPI cuMemFreeAsync_ptsz(CUdeviceptr, CUstream);

CUresult CUDAAPI cuMemAddressReserve(CUdeviceptr *, size_t, size_t, CUdeviceptr,
                                     unsigned long long);
CUresult CUDAAPI cuMemAddressFree(CUdeviceptr, size_t);
CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle *, size_t,
                             const CUmemAllocationProp *, unsigned long long);
CUresult CUDAAPI cuMemRelease(CUmemGenericAllocationHandle);
CUresult CUDAAPI cuMemMap(CUdeviceptr, size_t, size_t,
                          CUmemGenericAllocationHandle, unsigned long long);
CUresult CUDAAPI cuMemUnmap(CUdeviceptr, size_t);
CUresult CUDAAPI cuMemSetAccess(CUdeviceptr, size_t, const CUmemAccessDesc *,
                                size_t);
CUresult CUDAAPI cuMemGetAccess(unsigned long long *, const CUmemLocation *,
                                CUdeviceptr);
CUresult CUDAAPI cuMemGetAllocationGranularity(
    size_t *, const CUmemAllocationProp *, CUmemAllocationGranularity_flags);
CUresult CUDAAPI cuMemGetAllocationPropertiesFromHandle(
    CUmemAllocationProp *, CUmemGenericAllocationHandle);
CUresult CUDAAPI cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *,
                                             void *);
CUresult CUDAAPI cuMemExportToShareableHandle(void *,
                                              CUmemGenericAllocationHandle,
                                              CUmemAllocationHandleType,
                                              unsigned long long);
CUresult CUDAAPI cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *,
                                                void *,
                                                CUmemAllocationHandleType);

#if !defined(__CUDA_API_VERSION_INTERNAL) &&                                   \
    defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#define cuMemAllocAsync cuMemAllocAsync_ptsz
#define cuMemAllocFromPoolAsync cuMemAllocFromPoolAsync_ptsz
#define cuMemFreeAsync cuMemFreeAsync_ptsz
#endif

#endif
