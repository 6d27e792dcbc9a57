/* The settings of a context: read and changed. */
#include "../process/context.h"

enum {
    LIMIT_COUNT = sizeof((struct CUctx_st *)0)->limits / sizeof((struct CUctx_st *)0)->limits[0]
};

CUresult cuCtxGetFlags(unsigned int *flags) {
    REQUIRE_CONTEXT(context);
    REQUIRE(flags, CUDA_ERROR_INVALID_VALUE);
    *flags = context->flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned int flags) {
    REQUIRE_CONTEXT(context);
    context->flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id) {
    REQUIRE_DRIVER();
    if (!context)
        context = context_current();
    REQUIRE(context && context_exists(context), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    REQUIRE(id, CUDA_ERROR_INVALID_VALUE);
    *id = context->number;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *version) {
    REQUIRE_DRIVER();
    REQUIRE(version, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(context ? context_exists(context) : context_current() != NULL,
            CUDA_ERROR_INVALID_CONTEXT);
    *version = 3020;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    REQUIRE_CONTEXT(context);
    REQUIRE((unsigned)limit < LIMIT_COUNT && limit < CU_LIMIT_MAX, CUDA_ERROR_UNSUPPORTED_LIMIT);
    context->limits[limit] = value;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
    REQUIRE_CONTEXT(context);
    REQUIRE(value, CUDA_ERROR_INVALID_VALUE);
    REQUIRE((unsigned)limit < LIMIT_COUNT && limit < CU_LIMIT_MAX, CUDA_ERROR_UNSUPPORTED_LIMIT);
    *value = context->limits[limit];
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config) {
    REQUIRE_CONTEXT(context);
    REQUIRE(config, CUDA_ERROR_INVALID_VALUE);
    *config = context->cache_config;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
    REQUIRE_CONTEXT(context);
    context->cache_config = config;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config) {
    REQUIRE_CONTEXT(context);
    REQUIRE(config, CUDA_ERROR_INVALID_VALUE);
    *config = context->shared_config;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
    REQUIRE_CONTEXT(context);
    context->shared_config = config;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    REQUIRE_CONTEXT(context);
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache(void) {
    REQUIRE_CONTEXT(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetExecAffinity(CUexecAffinityParam *affinity, CUexecAffinityType type) {
    REQUIRE_CONTEXT(context);
    (void)affinity, (void)type;
    return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}
