/* Kernel launches in all forms. */
#include "launch.h"

static CUresult do_launch(const struct launch *launch) {
    CUresult result = launch_check(launch, launch->stream->context->gpu);
    REQUIRE(result == CUDA_SUCCESS, result);
    /* With the model off, a kernel that computes nothing is skipped, unless it may go astray. */
    if (!driver->model && !launch->function->body && !launch->stream->capture &&
        !driver->reservations)
        return CUDA_SUCCESS;
    unsigned char bytes[PARAMETER_BYTES];
    struct task task;
    result = launch_describe(launch, bytes, &task);
    return result == CUDA_SUCCESS ? stream_do(launch->stream, &task, NULL) : result;
}

/* Looks the handles up. */
static CUresult resolve(CUfunction function, CUstream handle, struct launch *launch) {
    REQUIRE_DRIVER();
    launch->function = function_of(function);
    REQUIRE(launch->function, CUDA_ERROR_INVALID_HANDLE);
    return stream_resolve(handle, &launch->stream);
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                        void **parameters, void **extra) {
    struct launch launch = {.grid = {grid_x, grid_y, grid_z},
                            .block = {block_x, block_y, block_z},
                            .shared_bytes = shared_bytes,
                            .parameters = parameters,
                            .extra = extra};
    CUresult result = resolve(function, stream, &launch);
    return result == CUDA_SUCCESS ? do_launch(&launch) : result;
}

static bool asks_for_cooperation(const CUlaunchConfig *config) {
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            return config->attrs[i].value.cooperative != 0;
    return false;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                          void **extra) {
    REQUIRE_DRIVER();
    REQUIRE(config, CUDA_ERROR_INVALID_VALUE);
    struct launch launch = {.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                            .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                            .shared_bytes = config->sharedMemBytes,
                            .cooperative = asks_for_cooperation(config),
                            .parameters = parameters,
                            .extra = extra};
    CUresult result = resolve(function, config->hStream, &launch);
    return result == CUDA_SUCCESS ? do_launch(&launch) : result;
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                   unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                   void **parameters) {
    struct launch launch = {.grid = {grid_x, grid_y, grid_z},
                            .block = {block_x, block_y, block_z},
                            .shared_bytes = shared_bytes,
                            .cooperative = true,
                            .parameters = parameters};
    CUresult result = resolve(function, stream, &launch);
    return result == CUDA_SUCCESS ? do_launch(&launch) : result;
}

CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launches, unsigned int count,
                                              unsigned int flags) {
    (void)flags;
    REQUIRE(launches && count, CUDA_ERROR_INVALID_VALUE);
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++) {
        const CUDA_LAUNCH_PARAMS *one = &launches[i];
        result = cuLaunchCooperativeKernel(
            one->function, one->gridDimX, one->gridDimY, one->gridDimZ, one->blockDimX,
            one->blockDimY, one->blockDimZ, one->sharedMemBytes, one->hStream, one->kernelParams);
    }
    return result;
}
