/* Variables of device code, by the address of their shadow on the host. */
#include "copy.h"
#include "registry.h"

/* The copy of a variable that belongs to the current context. */
static bool locate(const struct driver *driver, const void *symbol, CUdeviceptr *address,
                   size_t *bytes) {
    CUlibrary library;
    const char *name;
    return registry_variable(driver, symbol, &library, &name) == CUDA_SUCCESS &&
           driver->cuLibraryGetGlobal(address, bytes, library, name) == CUDA_SUCCESS;
}

/* The address of `count` bytes of a variable. */
static cudaError_t locate_part(const struct driver *driver, const void *symbol, size_t count,
                               size_t offset, void **out) {
    CUdeviceptr address;
    size_t bytes;
    if (!locate(driver, symbol, &address, &bytes))
        return answer(cudaErrorInvalidSymbol);
    if (offset > bytes || count > bytes - offset)
        return answer(cudaErrorInvalidValue);
    *out = (void *)(address + offset);
    return cudaSuccess;
}

cudaError_t cudaGetSymbolAddress(void **devPtr, const void *symbol) {
    ENTER(driver);
    REQUIRE(devPtr, cudaErrorInvalidValue);
    return locate_part(driver, symbol, 0, 0, devPtr);
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol) {
    ENTER(driver);
    REQUIRE(size, cudaErrorInvalidValue);
    CUdeviceptr address;
    REQUIRE(locate(driver, symbol, &address, size), cudaErrorInvalidSymbol);
    return cudaSuccess;
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                               enum cudaMemcpyKind kind) {
    ENTER(driver);
    void *part;
    cudaError_t error = locate_part(driver, symbol, count, offset, &part);
    return error == cudaSuccess ? copy_now(driver, part, src, count, kind) : error;
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream) {
    ENTER(driver);
    void *part;
    cudaError_t error = locate_part(driver, symbol, count, offset, &part);
    return error == cudaSuccess ? copy_on(driver, part, src, count, kind, stream) : error;
}

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
                                 enum cudaMemcpyKind kind) {
    ENTER(driver);
    void *part;
    cudaError_t error = locate_part(driver, symbol, count, offset, &part);
    return error == cudaSuccess ? copy_now(driver, dst, part, count, kind) : error;
}

cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
    ENTER(driver);
    void *part;
    cudaError_t error = locate_part(driver, symbol, count, offset, &part);
    return error == cudaSuccess ? copy_on(driver, dst, part, count, kind, stream) : error;
}
