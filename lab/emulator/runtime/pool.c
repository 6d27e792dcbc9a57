/* Memory pools, and allocations in the order of a stream. */
#include "runtime.h"

FORWARD(cudaMallocAsync, (void **devPtr, size_t size, cudaStream_t hStream), cuMemAllocAsync,
        ((CUdeviceptr *)devPtr, size, hStream))
FORWARD(cudaMallocFromPoolAsync,
        (void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream),
        cuMemAllocFromPoolAsync, ((CUdeviceptr *)ptr, size, memPool, stream))
FORWARD(cudaFreeAsync, (void *devPtr, cudaStream_t hStream), cuMemFreeAsync,
        ((CUdeviceptr)devPtr, hStream))

FORWARD_DRIVER(cudaDeviceGetDefaultMemPool, (cudaMemPool_t * memPool, int device),
               cuDeviceGetDefaultMemPool, (memPool, device))
FORWARD_DRIVER(cudaDeviceGetMemPool, (cudaMemPool_t * memPool, int device), cuDeviceGetMemPool,
               (memPool, device))
FORWARD_DRIVER(cudaDeviceSetMemPool, (int device, cudaMemPool_t memPool), cuDeviceSetMemPool,
               (device, memPool))
FORWARD(cudaMemPoolCreate, (cudaMemPool_t * memPool, const struct cudaMemPoolProps *poolProps),
        cuMemPoolCreate, (memPool, (const CUmemPoolProps *)poolProps))
FORWARD(cudaMemPoolDestroy, (cudaMemPool_t memPool), cuMemPoolDestroy, (memPool))
FORWARD(cudaMemPoolTrimTo, (cudaMemPool_t memPool, size_t minBytesToKeep), cuMemPoolTrimTo,
        (memPool, minBytesToKeep))
FORWARD(cudaMemPoolSetAttribute, (cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value),
        cuMemPoolSetAttribute, (memPool, (CUmemPool_attribute)attr, value))
FORWARD(cudaMemPoolGetAttribute, (cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value),
        cuMemPoolGetAttribute, (memPool, (CUmemPool_attribute)attr, value))
FORWARD(cudaMemPoolSetAccess,
        (cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList, size_t count),
        cuMemPoolSetAccess, (memPool, (const CUmemAccessDesc *)descList, count))
FORWARD(cudaMemPoolGetAccess,
        (enum cudaMemAccessFlags * flags, cudaMemPool_t memPool, struct cudaMemLocation *location),
        cuMemPoolGetAccess, ((CUmemAccess_flags *)flags, memPool, (CUmemLocation *)location))

FORWARD_DRIVER(cudaDeviceGetGraphMemAttribute,
               (int device, enum cudaGraphMemAttributeType attr, void *value),
               cuDeviceGetGraphMemAttribute, (device, (CUgraphMem_attribute)attr, value))
FORWARD_DRIVER(cudaDeviceSetGraphMemAttribute,
               (int device, enum cudaGraphMemAttributeType attr, void *value),
               cuDeviceSetGraphMemAttribute, (device, (CUgraphMem_attribute)attr, value))
FORWARD_DRIVER(cudaDeviceGraphMemTrim, (int device), cuDeviceGraphMemTrim, (device))

_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps), "the same thing");
_Static_assert(sizeof(struct cudaMemAccessDesc) == sizeof(CUmemAccessDesc), "the same thing");
_Static_assert(sizeof(struct cudaMemLocation) == sizeof(CUmemLocation), "the same thing");
