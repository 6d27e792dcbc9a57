/* Kernel launches, checked and with their parameters gathered. */
#include "launch.h"

#include <string.h>

static bool has_shape(const unsigned shape[3], unsigned x, unsigned y, unsigned z) {
    return shape[0] && shape[1] && shape[2] && shape[0] <= x && shape[1] <= y && shape[2] <= z;
}

CUresult launch_check(const struct launch *launch, uint32_t gpu) {
    const unsigned *block = launch->block;
    const struct image_kernel *image = launch->function->image;
    unsigned most = image->max_threads > 0 ? (unsigned)image->max_threads : 1024;
    REQUIRE(has_shape(launch->grid, 2147483647, 65535, 65535), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(has_shape(block, 1024, 1024, 64), CUDA_ERROR_INVALID_VALUE);
    REQUIRE((uint64_t)block[0] * block[1] * block[2] <= most, CUDA_ERROR_INVALID_VALUE);
    uint64_t shared = (uint64_t)launch->shared_bytes + (unsigned)image->shared_bytes;
    REQUIRE(shared <= gpu_profile(gpu)->shared_per_block_optin, CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

/* The other way to give parameters: one buffer, packed by the caller. */
static CUresult gather_extra(void **extra, unsigned char *bytes, unsigned *size) {
    const void *buffer = NULL;
    size_t given = 0;
    for (; extra[0] != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            given = *(size_t *)extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    REQUIRE(given <= PARAMETER_BYTES && (buffer || !given), CUDA_ERROR_INVALID_VALUE);
    if (given)
        memcpy(bytes, buffer, given);
    *size = (unsigned)given;
    return CUDA_SUCCESS;
}

static CUresult gather(const struct launch *launch, unsigned char *bytes, unsigned *size) {
    const struct image_kernel *image = launch->function->image;
    *size = 0;
    if (launch->extra)
        return gather_extra(launch->extra, bytes, size);
    if (!image->parameter_count)
        return CUDA_SUCCESS;
    REQUIRE(launch->parameters, CUDA_ERROR_INVALID_VALUE);
    for (uint32_t i = 0; i < image->parameter_count; i++) {
        const struct image_parameter *parameter = &image->parameters[i];
        unsigned end = parameter->offset + parameter->size;
        REQUIRE(end <= PARAMETER_BYTES && launch->parameters[i], CUDA_ERROR_INVALID_VALUE);
        if (parameter->offset > *size)
            memset(bytes + *size, 0, parameter->offset - *size);
        memcpy(bytes + parameter->offset, launch->parameters[i], parameter->size);
        if (end > *size)
            *size = end;
    }
    return CUDA_SUCCESS;
}

CUresult launch_describe(const struct launch *launch, unsigned char *bytes, struct task *out) {
    struct task task = {.kind = TASK_KERNEL};
    struct kernel_task *kernel = &task.kernel;
    CUresult result = gather(launch, bytes, &kernel->parameter_bytes);
    REQUIRE(result == CUDA_SUCCESS, result);
    kernel->function = launch->function;
    kernel->shared_bytes = launch->shared_bytes;
    kernel->cooperative = launch->cooperative;
    kernel->parameters = bytes;
    memcpy(kernel->grid, launch->grid, sizeof kernel->grid);
    memcpy(kernel->block, launch->block, sizeof kernel->block);
    *out = task;
    return CUDA_SUCCESS;
}
