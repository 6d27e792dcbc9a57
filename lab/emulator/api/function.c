/* Functions: the kernels of modules. */
#include "function_attribute.h"
#include "module.h"

/* The GPU that a function is for: that of its module, or of the calling thread. */
static CUresult gpu_for(const struct function *function, uint32_t *gpu) {
    const struct CUctx_st *context = function->module->context;
    if (!context)
        context = context_current();
    REQUIRE(context, CUDA_ERROR_INVALID_CONTEXT);
    *gpu = context->gpu;
    return CUDA_SUCCESS;
}

/* The function that a call is given. An error makes the caller return. */
#define REQUIRE_FUNCTION(name, handle)                                                             \
    REQUIRE_DRIVER();                                                                              \
    struct function *name = function_of(handle);                                                   \
    REQUIRE(name, CUDA_ERROR_INVALID_HANDLE)

CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc) {
    REQUIRE_FUNCTION(function, hfunc);
    REQUIRE(pi, CUDA_ERROR_INVALID_VALUE);
    uint32_t gpu;
    CUresult result = gpu_for(function, &gpu);
    return result == CUDA_SUCCESS ? function_get(function, gpu, attrib, pi) : result;
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
    REQUIRE_FUNCTION(function, hfunc);
    uint32_t gpu;
    CUresult result = gpu_for(function, &gpu);
    return result == CUDA_SUCCESS ? function_set(function, gpu, attrib, value) : result;
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) {
    REQUIRE_FUNCTION(function, hfunc);
    REQUIRE((unsigned)config <= CU_FUNC_CACHE_PREFER_EQUAL, CUDA_ERROR_INVALID_VALUE);
    function->cache_config = config;
    return CUDA_SUCCESS;
}

/* Has had no effect on any GPU since Kepler. */
CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config) {
    REQUIRE_FUNCTION(function, hfunc);
    (void)function;
    REQUIRE((unsigned)config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE,
            CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc) {
    REQUIRE_FUNCTION(function, hfunc);
    REQUIRE(hmod, CUDA_ERROR_INVALID_VALUE);
    *hmod = (CUmodule)function->module;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction hfunc) {
    REQUIRE_FUNCTION(function, hfunc);
    REQUIRE(name, CUDA_ERROR_INVALID_VALUE);
    *name = function->image->name;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset,
                            size_t *paramSize) {
    REQUIRE_DRIVER();
    return function_parameter(function_of(func), paramIndex, paramOffset, paramSize);
}

CUresult cuFuncGetParamCount(CUfunction func, size_t *paramCount) {
    REQUIRE_FUNCTION(function, func);
    REQUIRE(paramCount, CUDA_ERROR_INVALID_VALUE);
    *paramCount = function->image->parameter_count;
    return CUDA_SUCCESS;
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function) {
    REQUIRE_FUNCTION(known, function);
    (void)known;
    REQUIRE(state, CUDA_ERROR_INVALID_VALUE);
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction function) {
    REQUIRE_FUNCTION(known, function);
    (void)known;
    return CUDA_SUCCESS;
}
