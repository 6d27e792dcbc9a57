/* Kernels are launched by the address of their host stub, or by a handle derived from it. */
#include "launch.h"

#include <stddef.h>

#include "undeclared.h"

CUresult function_at(const struct driver *driver, const void *func, CUkernel *out) {
    CUresult result = registry_kernel(driver, func, out);
    if (result != CUDA_ERROR_NOT_FOUND)
        return result;
    *out = (CUkernel)func;
    return CUDA_SUCCESS;
}

/* The driver has one error for every wrong launch. The runtime has a separate one for a grid or a
 * block that no GPU can run, and one for an address that is no kernel. */
static cudaError_t launched(CUresult result, dim3 grid, dim3 block) {
    bool impossible = !grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z ||
                      (size_t)block.x * block.y * block.z > 1024 || block.z > 64 ||
                      grid.y > 65535 || grid.z > 65535;
    if (result == CUDA_ERROR_INVALID_VALUE && impossible)
        return answer(cudaErrorInvalidConfiguration);
    if (result == CUDA_ERROR_INVALID_HANDLE)
        return answer(cudaErrorInvalidDeviceFunction);
    return answer_driver(result);
}

/* The driver accepts a kernel in place of its function in the current context. */
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args,
                               size_t sharedMem, cudaStream_t stream) {
    ENTER(driver);
    REQUIRE(kernel, cudaErrorInvalidDeviceFunction);
    CUresult result =
        driver->cuLaunchKernel((CUfunction)kernel, gridDim.x, gridDim.y, gridDim.z, blockDim.x,
                               blockDim.y, blockDim.z, (unsigned)sharedMem, stream, args, NULL);
    return launched(result, gridDim, blockDim);
}

cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                             size_t sharedMem, cudaStream_t stream) {
    ENTER(driver);
    CUkernel kernel;
    CUresult result = function_at(driver, func, &kernel);
    if (result == CUDA_SUCCESS)
        result =
            driver->cuLaunchKernel((CUfunction)kernel, gridDim.x, gridDim.y, gridDim.z, blockDim.x,
                                   blockDim.y, blockDim.z, (unsigned)sharedMem, stream, args, NULL);
    return launched(result, gridDim, blockDim);
}

cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                        size_t sharedMem, cudaStream_t stream) {
    ENTER(driver);
    CUkernel kernel;
    CUresult result = function_at(driver, func, &kernel);
    if (result == CUDA_SUCCESS)
        result = driver->cuLaunchCooperativeKernel((CUfunction)kernel, gridDim.x, gridDim.y,
                                                   gridDim.z, blockDim.x, blockDim.y, blockDim.z,
                                                   (unsigned)sharedMem, stream, args);
    return launched(result, gridDim, blockDim);
}

_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute), "the same thing");
_Static_assert(offsetof(cudaLaunchAttribute, val) == offsetof(CUlaunchAttribute, value), "too");

CUlaunchConfig launch_config(const cudaLaunchConfig_t *config) {
    return (CUlaunchConfig){.gridDimX = config->gridDim.x,
                            .gridDimY = config->gridDim.y,
                            .gridDimZ = config->gridDim.z,
                            .blockDimX = config->blockDim.x,
                            .blockDimY = config->blockDim.y,
                            .blockDimZ = config->blockDim.z,
                            .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
                            .hStream = config->stream,
                            .attrs = (CUlaunchAttribute *)config->attrs,
                            .numAttrs = config->numAttrs};
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args) {
    ENTER(driver);
    REQUIRE(config, cudaErrorInvalidValue);
    CUkernel kernel;
    CUresult result = function_at(driver, func, &kernel);
    CUlaunchConfig same = launch_config(config);
    if (result == CUDA_SUCCESS)
        result = driver->cuLaunchKernelEx(&same, (CUfunction)kernel, args, NULL);
    return launched(result, config->gridDim, config->blockDim);
}

cudaError_t cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr) {
    ENTER(driver);
    REQUIRE(kernelPtr, cudaErrorInvalidValue);
    CUresult result = registry_kernel(driver, entryFuncAddr, kernelPtr);
    REQUIRE(result != CUDA_ERROR_NOT_FOUND, cudaErrorInvalidDeviceFunction);
    return answer_driver(result);
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr) {
    return cudaGetKernel(kernelPtr, entryFuncAddr);
}
