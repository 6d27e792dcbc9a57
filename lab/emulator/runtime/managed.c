/* The place of managed memory: advice and prefetches. */
#include "runtime.h"

static CUmemLocation location_of(struct cudaMemLocation location) {
    return (CUmemLocation){.type = (CUmemLocationType)location.type, .id = location.id};
}

FORWARD(NEWEST(cudaMemPrefetchAsync, _v2),
        (const void *devPtr, size_t count, struct cudaMemLocation location, unsigned int flags,
         cudaStream_t stream),
        cuMemPrefetchAsync, ((CUdeviceptr)devPtr, count, location_of(location), flags, stream))
FORWARD(NEWEST(cudaMemAdvise, _v2),
        (const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
         struct cudaMemLocation location),
        cuMemAdvise, ((CUdeviceptr)devPtr, count, (CUmem_advise)advice, location_of(location)))
FORWARD(cudaMemRangeGetAttribute,
        (void *data, size_t dataSize, enum cudaMemRangeAttribute attribute, const void *devPtr,
         size_t count),
        cuMemRangeGetAttribute,
        (data, dataSize, (CUmem_range_attribute)attribute, (CUdeviceptr)devPtr, count))
