/* How many blocks of a kernel a multiprocessor can hold: the least that any of its resources
 * allows. */
#include "function_attribute.h"
#include "module.h"

enum { WARP_PORTION = 4 }; /* registers are allocated for this many warps together */

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}
static uint64_t portions(uint64_t amount, uint64_t portion) {
    return (amount + portion - 1) / portion * portion;
}

/* From compute capability 8.0 on, the driver keeps 1 KiB of shared memory per block for itself. */
static uint64_t reserved_shared(const struct gpu_profile *profile) {
    return profile->compute_major >= 8 ? 1024 : 0;
}

static uint64_t shared_portion(const struct gpu_profile *profile) {
    return profile->compute_major >= 8 ? 128 : 256;
}

static int blocks_that_fit(const struct function *function, const struct gpu_profile *profile,
                           int block, size_t dynamic_shared) {
    if (block > function_max_threads(function) ||
        dynamic_shared > (size_t)function->max_dynamic_shared)
        return 0;
    uint64_t warps = (uint64_t)(block + WARP_THREADS - 1) / WARP_THREADS;
    uint64_t most = profile->threads_per_multiprocessor / WARP_THREADS;
    uint64_t by_registers =
        (uint64_t)(MULTIPROCESSOR_REGISTERS / function_warp_registers(function));
    most = least(most, by_registers / WARP_PORTION * WARP_PORTION);
    uint64_t blocks = least(profile->blocks_per_multiprocessor, most / warps);
    uint64_t shared = (uint64_t)function->image->shared_bytes + dynamic_shared;
    shared = portions(shared + reserved_shared(profile), shared_portion(profile));
    if (shared)
        blocks = least(blocks, profile->shared_per_multiprocessor / shared);
    return (int)blocks;
}

/* The profile for the function that a call is given. An error makes the caller return. */
#define REQUIRE_PROFILE(function, profile, handle)                                                 \
    REQUIRE_CONTEXT(context);                                                                      \
    const struct function *function = function_of(handle);                                         \
    REQUIRE(function, CUDA_ERROR_INVALID_HANDLE);                                                  \
    const struct gpu_profile *profile = gpu_profile(context->gpu)

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func,
                                                              int blockSize, size_t dynamicSMemSize,
                                                              unsigned int flags) {
    REQUIRE_PROFILE(function, profile, func);
    REQUIRE(numBlocks && blockSize > 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(flags <= CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE, CUDA_ERROR_INVALID_VALUE);
    *numBlocks = blocks_that_fit(function, profile, blockSize, dynamicSMemSize);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize,
                                                     size_t dynamicSMemSize) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize,
                                                                dynamicSMemSize, 0);
}

/* The largest block size among those that keep the most threads on a multiprocessor. */
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize,
                                                   CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit,
                                                   unsigned int flags) {
    REQUIRE_PROFILE(function, profile, func);
    REQUIRE(minGridSize && blockSize && blockSizeLimit >= 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(flags <= CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE, CUDA_ERROR_INVALID_VALUE);
    int limit = function_max_threads(function);
    if (blockSizeLimit && blockSizeLimit < limit)
        limit = blockSizeLimit;
    int best_block = 0, best_count = 0;
    for (int rounded = (int)portions((uint64_t)limit, WARP_THREADS); rounded > 0;
         rounded -= WARP_THREADS) {
        int block = rounded < limit ? rounded : limit;
        size_t shared =
            blockSizeToDynamicSMemSize ? blockSizeToDynamicSMemSize(block) : dynamicSMemSize;
        int count = blocks_that_fit(function, profile, block, shared);
        if (count * block > best_count * best_block) {
            best_block = block;
            best_count = count;
        }
    }
    *blockSize = best_block;
    *minGridSize = best_count * (int)profile->multiprocessors;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                          CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                          size_t dynamicSMemSize, int blockSizeLimit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func,
                                                     blockSizeToDynamicSMemSize, dynamicSMemSize,
                                                     blockSizeLimit, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func,
                                                 int numBlocks, int blockSize) {
    REQUIRE_PROFILE(function, profile, func);
    REQUIRE(dynamicSmemSize && numBlocks > 0 && blockSize > 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(blocks_that_fit(function, profile, blockSize, 0) >= numBlocks,
            CUDA_ERROR_INVALID_VALUE);
    uint64_t portion = shared_portion(profile);
    uint64_t each = profile->shared_per_multiprocessor / (unsigned)numBlocks / portion * portion;
    uint64_t taken = reserved_shared(profile) + (uint64_t)function->image->shared_bytes;
    uint64_t most = profile->shared_per_block_optin - (uint64_t)function->image->shared_bytes;
    *dynamicSmemSize = each > taken ? least(each - taken, most) : 0;
    return CUDA_SUCCESS;
}

/* Clusters came with compute capability 9.0; every such GPU can do eight blocks. */
CUresult cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func,
                                            const CUlaunchConfig *config) {
    REQUIRE_PROFILE(function, profile, func);
    (void)function;
    REQUIRE(clusterSize && config, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(profile->compute_major >= 9, CUDA_ERROR_NOT_SUPPORTED);
    *clusterSize = 8;
    return CUDA_SUCCESS;
}

static unsigned blocks_of_cluster(const CUlaunchConfig *config) {
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            return attribute->value.clusterDim.x * attribute->value.clusterDim.y *
                   attribute->value.clusterDim.z;
    }
    return 1;
}

CUresult cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func,
                                      const CUlaunchConfig *config) {
    REQUIRE_PROFILE(function, profile, func);
    REQUIRE(numClusters && config, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(profile->compute_major >= 9, CUDA_ERROR_NOT_SUPPORTED);
    unsigned cluster = blocks_of_cluster(config);
    uint64_t block = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;
    REQUIRE(cluster && block && block <= BLOCK_THREADS, CUDA_ERROR_INVALID_VALUE);
    int blocks = blocks_that_fit(function, profile, (int)block, config->sharedMemBytes);
    *numClusters = blocks * (int)profile->multiprocessors / (int)cluster;
    return CUDA_SUCCESS;
}
