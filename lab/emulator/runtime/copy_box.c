/* Copies of rows of bytes with gaps between them. Arrays, which only textures need, are missing. */
#include "runtime.h"

static bool set_sides(CUDA_MEMCPY2D *box, enum cudaMemcpyKind kind) {
    static const struct {
        CUmemorytype from, to;
    } sides[] = {
        [cudaMemcpyHostToHost] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST},
        [cudaMemcpyHostToDevice] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDeviceToHost] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST},
        [cudaMemcpyDeviceToDevice] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDefault] = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED},
    };
    if ((unsigned)kind > cudaMemcpyDefault)
        return false;
    box->srcMemoryType = sides[kind].from;
    box->dstMemoryType = sides[kind].to;
    return true;
}

static CUDA_MEMCPY2D box_of(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                            size_t height) {
    /* The driver reads one of the two of a side, by its kind of memory. */
    return (CUDA_MEMCPY2D){.srcHost = src,
                           .srcDevice = (CUdeviceptr)src,
                           .srcPitch = spitch,
                           .dstHost = dst,
                           .dstDevice = (CUdeviceptr)dst,
                           .dstPitch = dpitch,
                           .WidthInBytes = width,
                           .Height = height};
}

cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind) {
    ENTER(driver);
    CUDA_MEMCPY2D box = box_of(dst, dpitch, src, spitch, width, height);
    REQUIRE(set_sides(&box, kind), cudaErrorInvalidMemcpyDirection);
    return answer_driver(driver->cuMemcpy2DUnaligned(&box));
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream) {
    ENTER(driver);
    CUDA_MEMCPY2D box = box_of(dst, dpitch, src, spitch, width, height);
    REQUIRE(set_sides(&box, kind), cudaErrorInvalidMemcpyDirection);
    return answer_driver(driver->cuMemcpy2DAsync(&box, stream));
}
