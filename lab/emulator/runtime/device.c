/* Devices: their number, the choice of one, and their properties. */
#include "context.h"

/* On a machine without a GPU the call sets the count and returns an error. */
cudaError_t cudaGetDeviceCount(int *count) {
    REQUIRE(count, cudaErrorInvalidValue);
    const struct driver *driver;
    cudaError_t error = driver_enter(&driver);
    int found = 0;
    if (error == cudaSuccess)
        error = (cudaError_t)driver->cuDeviceGetCount(&found);
    *count = found;
    return answer(error == cudaSuccess && !found ? cudaErrorNoDevice : error);
}

cudaError_t cudaSetDevice(int device) {
    ENTER_DRIVER(driver);
    return answer_driver(context_choose(driver, device));
}

cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags) {
    ENTER_DRIVER(driver);
    if (flags & cudaInitDeviceFlagsAreValid) {
        CUresult result = driver->cuDevicePrimaryCtxSetFlags(device, deviceFlags);
        if (result != CUDA_SUCCESS)
            return answer_driver(result);
    }
    CUcontext context;
    return answer_driver(context_primary(driver, device, &context));
}

cudaError_t cudaGetDevice(int *device) {
    ENTER_DRIVER(driver);
    REQUIRE(device, cudaErrorInvalidValue);
    return answer_driver(context_device(driver, device));
}

cudaError_t cudaDeviceReset(void) {
    ENTER_DRIVER(driver);
    return answer_driver(context_reset(driver));
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
    ENTER_DRIVER(driver);
    int device;
    CUresult result = context_device(driver, &device);
    if (result == CUDA_SUCCESS)
        result = driver->cuDevicePrimaryCtxSetFlags(device, flags);
    return answer_driver(result);
}

FORWARD(cudaGetDeviceFlags, (unsigned int *flags), cuCtxGetFlags, (flags))
FORWARD(cudaDeviceSynchronize, (void), cuCtxSynchronize, ())
FORWARD(cudaDeviceGetStreamPriorityRange, (int *leastPriority, int *greatestPriority),
        cuCtxGetStreamPriorityRange, (leastPriority, greatestPriority))
FORWARD(cudaDeviceSetLimit, (enum cudaLimit limit, size_t value), cuCtxSetLimit,
        ((CUlimit)limit, value))
FORWARD(cudaDeviceGetLimit, (size_t *pValue, enum cudaLimit limit), cuCtxGetLimit,
        (pValue, (CUlimit)limit))
FORWARD(cudaDeviceSetCacheConfig, (enum cudaFuncCache cacheConfig), cuCtxSetCacheConfig,
        ((CUfunc_cache)cacheConfig))
FORWARD(cudaDeviceGetCacheConfig, (enum cudaFuncCache * pCacheConfig), cuCtxGetCacheConfig,
        ((CUfunc_cache *)pCacheConfig))
FORWARD(cudaCtxResetPersistingL2Cache, (void), cuCtxResetPersistingL2Cache, ())

FORWARD_DRIVER(cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attr, int device),
               cuDeviceGetAttribute, (value, (CUdevice_attribute)attr, device))
FORWARD_DRIVER(cudaDeviceGetPCIBusId, (char *pciBusId, int len, int device), cuDeviceGetPCIBusId,
               (pciBusId, len, device))
FORWARD_DRIVER(cudaDeviceGetByPCIBusId, (int *device, const char *pciBusId), cuDeviceGetByPCIBusId,
               (device, pciBusId))
