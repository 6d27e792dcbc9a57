/* The resources of a kernel, and the number of its blocks that fit on a multiprocessor. */
#include "context.h"
#include "launch.h"

/* The function of a host stub in the current context. An error makes the caller return. */
#define FUNCTION_AT(name, func)                                                                    \
    ENTER(driver);                                                                                 \
    CUfunction name;                                                                               \
    do {                                                                                           \
        CUkernel kernel;                                                                           \
        CUresult found = function_at(driver, func, &kernel);                                       \
        if (found == CUDA_SUCCESS)                                                                 \
            found = driver->cuKernelGetFunction(&name, kernel);                                    \
        REQUIRE(found != CUDA_ERROR_INVALID_HANDLE, cudaErrorInvalidDeviceFunction);               \
        if (found != CUDA_SUCCESS)                                                                 \
            return answer_driver(found);                                                           \
    } while (0)

static CUresult attributes_of(const struct driver *driver, CUfunction function,
                              struct cudaFuncAttributes *out) {
    int value[CU_FUNC_ATTRIBUTE_MAX] = {0};
    for (int i = 0; i < CU_FUNC_ATTRIBUTE_MAX; i++) {
        CUresult result = driver->cuFuncGetAttribute(&value[i], (CUfunction_attribute)i, function);
        if (result != CUDA_SUCCESS)
            return result;
    }
    *out = (struct cudaFuncAttributes){
        .sharedSizeBytes = (size_t)value[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES],
        .constSizeBytes = (size_t)value[CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES],
        .localSizeBytes = (size_t)value[CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES],
        .maxThreadsPerBlock = value[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK],
        .numRegs = value[CU_FUNC_ATTRIBUTE_NUM_REGS],
        .ptxVersion = value[CU_FUNC_ATTRIBUTE_PTX_VERSION],
        .binaryVersion = value[CU_FUNC_ATTRIBUTE_BINARY_VERSION],
        .cacheModeCA = value[CU_FUNC_ATTRIBUTE_CACHE_MODE_CA],
        .maxDynamicSharedSizeBytes = value[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES],
        .preferredShmemCarveout = value[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT],
        .clusterDimMustBeSet = value[CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET],
        .requiredClusterWidth = value[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH],
        .requiredClusterHeight = value[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT],
        .requiredClusterDepth = value[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH],
        .clusterSchedulingPolicyPreference =
            value[CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE],
        .nonPortableClusterSizeAllowed = value[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED],
    };
    return CUDA_SUCCESS;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func) {
    FUNCTION_AT(function, func);
    REQUIRE(attr, cudaErrorInvalidValue);
    return answer_driver(attributes_of(driver, function, attr));
}

cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value) {
    FUNCTION_AT(function, func);
    return answer_driver(driver->cuFuncSetAttribute(function, (CUfunction_attribute)attr, value));
}

cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig) {
    FUNCTION_AT(function, func);
    return answer_driver(driver->cuFuncSetCacheConfig(function, (CUfunc_cache)cacheConfig));
}

cudaError_t cudaFuncGetName(const char **name, const void *func) {
    FUNCTION_AT(function, func);
    return answer_driver(driver->cuFuncGetName(name, function));
}

FORWARD(cudaKernelSetAttributeForDevice,
        (cudaKernel_t kernel, enum cudaFuncAttribute attr, int value, int device),
        cuKernelSetAttribute, ((CUfunction_attribute)attr, value, kernel, device))

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr) {
    FUNCTION_AT(function, symbolPtr);
    REQUIRE(functionPtr, cudaErrorInvalidValue);
    *functionPtr = function;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func,
                                                          int blockSize, size_t dynamicSMemSize) {
    FUNCTION_AT(function, func);
    return answer_driver(driver->cuOccupancyMaxActiveBlocksPerMultiprocessor(
        numBlocks, function, blockSize, dynamicSMemSize));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *func,
                                                                   int blockSize,
                                                                   size_t dynamicSMemSize,
                                                                   unsigned int flags) {
    FUNCTION_AT(function, func);
    return answer_driver(driver->cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, function, blockSize, dynamicSMemSize, flags));
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func,
                                                      int numBlocks, int blockSize) {
    FUNCTION_AT(function, func);
    return answer_driver(driver->cuOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, function,
                                                                         numBlocks, blockSize));
}

cudaError_t cudaOccupancyMaxActiveClusters(int *numClusters, const void *func,
                                           const cudaLaunchConfig_t *launchConfig) {
    FUNCTION_AT(function, func);
    REQUIRE(launchConfig, cudaErrorInvalidValue);
    CUlaunchConfig config = launch_config(launchConfig);
    return answer_driver(driver->cuOccupancyMaxActiveClusters(numClusters, function, &config));
}
