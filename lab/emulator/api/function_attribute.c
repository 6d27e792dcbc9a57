/* Attributes of kernels, for functions of modules and kernels of libraries alike. */
#include "function_attribute.h"

enum { GUESSED_REGISTERS = 32, REGISTER_PORTION = 256 };

int function_registers(const struct function *function) {
    return function->image->registers > 0 ? function->image->registers : GUESSED_REGISTERS;
}

int function_warp_registers(const struct function *function) {
    int needed = function_registers(function) * WARP_THREADS;
    return (needed + REGISTER_PORTION - 1) / REGISTER_PORTION * REGISTER_PORTION;
}

int function_max_threads(const struct function *function) {
    int most = MULTIPROCESSOR_REGISTERS / function_warp_registers(function) * WARP_THREADS;
    int bound = function->image->max_threads > 0 ? function->image->max_threads : BLOCK_THREADS;
    return most < bound ? most : bound;
}

/* The version of the code that the GPU runs; PTX is compiled for the GPU at hand. */
static int binary_version(const struct function *function, uint32_t gpu) {
    const struct gpu_profile *profile = gpu_profile(gpu);
    if (function->image->binary_version)
        return function->image->binary_version;
    return (int)(profile->compute_major * 10 + profile->compute_minor);
}

CUresult function_get(const struct function *function, uint32_t gpu, CUfunction_attribute attribute,
                      int *value) {
    const struct image_kernel *image = function->image;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = function_max_threads(function);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = image->shared_bytes; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = image->constant_bytes; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = image->local_bytes; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = function_registers(function); return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = binary_version(function, gpu);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = image->ptx_version ? image->ptx_version : binary_version(function, gpu);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = function->max_dynamic_shared;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = function->preferred_carveout;
        return CUDA_SUCCESS;
    default: /* clusters and the like: no kernel asks for them */
        REQUIRE((unsigned)attribute < CU_FUNC_ATTRIBUTE_MAX, CUDA_ERROR_INVALID_VALUE);
        *value = 0;
        return CUDA_SUCCESS;
    }
}

CUresult function_set(struct function *function, uint32_t gpu, CUfunction_attribute attribute,
                      int value) {
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
        int most = (int)gpu_profile(gpu)->shared_per_block_optin - function->image->shared_bytes;
        REQUIRE(value >= 0 && value <= most, CUDA_ERROR_INVALID_VALUE);
        function->max_dynamic_shared = value;
        return CUDA_SUCCESS;
    }
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        REQUIRE(value >= -1 && value <= 100, CUDA_ERROR_INVALID_VALUE);
        function->preferred_carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return CUDA_SUCCESS;                  /* a preference about something not modelled */
    default: return CUDA_ERROR_INVALID_VALUE; /* the others can only be read */
    }
}

CUresult function_parameter(const struct function *function, size_t index, size_t *offset,
                            size_t *size) {
    REQUIRE(function, CUDA_ERROR_INVALID_HANDLE);
    const struct image_kernel *image = function->image;
    REQUIRE(offset && index < image->parameter_count, CUDA_ERROR_INVALID_VALUE);
    *offset = image->parameters[index].offset;
    if (size)
        *size = image->parameters[index].size;
    return CUDA_SUCCESS;
}
