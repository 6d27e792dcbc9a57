/* Copies of a run of bytes, and filling memory with a value. */
#include "copy.h"

cudaError_t copy_now(const struct driver *driver, void *dst, const void *src, size_t count,
                     enum cudaMemcpyKind kind) {
    CUdeviceptr to = (CUdeviceptr)dst, from = (CUdeviceptr)src;
    switch (kind) {
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: return answer_driver(driver->cuMemcpy(to, from, count));
    case cudaMemcpyHostToDevice: return answer_driver(driver->cuMemcpyHtoD(to, src, count));
    case cudaMemcpyDeviceToHost: return answer_driver(driver->cuMemcpyDtoH(dst, from, count));
    case cudaMemcpyDeviceToDevice: return answer_driver(driver->cuMemcpyDtoD(to, from, count));
    }
    return answer(cudaErrorInvalidMemcpyDirection);
}

cudaError_t copy_on(const struct driver *driver, void *dst, const void *src, size_t count,
                    enum cudaMemcpyKind kind, cudaStream_t stream) {
    CUdeviceptr to = (CUdeviceptr)dst, from = (CUdeviceptr)src;
    switch (kind) {
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: return answer_driver(driver->cuMemcpyAsync(to, from, count, stream));
    case cudaMemcpyHostToDevice:
        return answer_driver(driver->cuMemcpyHtoDAsync(to, src, count, stream));
    case cudaMemcpyDeviceToHost:
        return answer_driver(driver->cuMemcpyDtoHAsync(dst, from, count, stream));
    case cudaMemcpyDeviceToDevice:
        return answer_driver(driver->cuMemcpyDtoDAsync(to, from, count, stream));
    }
    return answer(cudaErrorInvalidMemcpyDirection);
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind) {
    ENTER(driver);
    return copy_now(driver, dst, src, count, kind);
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    ENTER(driver);
    return copy_on(driver, dst, src, count, kind, stream);
}

FORWARD(cudaMemset, (void *devPtr, int value, size_t count), cuMemsetD8,
        ((CUdeviceptr)devPtr, (unsigned char)value, count))
FORWARD(cudaMemsetAsync, (void *devPtr, int value, size_t count, cudaStream_t stream),
        cuMemsetD8Async, ((CUdeviceptr)devPtr, (unsigned char)value, count, stream))
FORWARD(cudaMemset2D, (void *devPtr, size_t pitch, int value, size_t width, size_t height),
        cuMemsetD2D8, ((CUdeviceptr)devPtr, pitch, (unsigned char)value, width, height))
FORWARD(cudaMemset2DAsync,
        (void *devPtr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
        cuMemsetD2D8Async,
        ((CUdeviceptr)devPtr, pitch, (unsigned char)value, width, height, stream))
