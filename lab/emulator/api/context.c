/* Contexts: created and primary ones, and the stack of the calling thread. */
#include "../process/context.h"

#include "capture.h"

CUresult cuCtxCreate_v2(CUcontext *out, unsigned int flags, CUdevice device) {
    REQUIRE_DEVICE(device);
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    struct CUctx_st *context;
    CUresult result = context_create(gpu_of_device(device), flags, &context);
    if (result != CUDA_SUCCESS)
        return result;
    *out = context;
    return context_push(context);
}

CUresult cuCtxCreate_v3(CUcontext *out, CUexecAffinityParam *affinity, int count,
                        unsigned int flags, CUdevice device) {
    (void)affinity;
    REQUIRE(count == 0, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    return cuCtxCreate_v2(out, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *parameters, unsigned int flags,
                        CUdevice device) {
    REQUIRE(!parameters || parameters->numExecAffinityParams == 0,
            CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    return cuCtxCreate_v2(out, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext context) {
    REQUIRE_DRIVER();
    REQUIRE(context && context_exists(context), CUDA_ERROR_INVALID_CONTEXT);
    REQUIRE(!context->primary, CUDA_ERROR_INVALID_CONTEXT);
    context_destroy(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxAttach(CUcontext *out, unsigned int flags) {
    REQUIRE_CONTEXT(context);
    REQUIRE(out && flags == 0, CUDA_ERROR_INVALID_VALUE);
    context->users++;
    *out = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxDetach(CUcontext context) {
    REQUIRE_DRIVER();
    REQUIRE(context && context_exists(context), CUDA_ERROR_INVALID_CONTEXT);
    if (--context->users == 0)
        context_destroy(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
    REQUIRE_DRIVER();
    REQUIRE(context && context_exists(context), CUDA_ERROR_INVALID_CONTEXT);
    return context_push(context);
}

CUresult cuCtxPopCurrent_v2(CUcontext *out) {
    REQUIRE_DRIVER();
    struct CUctx_st *top = context_pop();
    REQUIRE(top, CUDA_ERROR_INVALID_CONTEXT);
    if (out)
        *out = top;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
    REQUIRE_DRIVER();
    REQUIRE(!context || context_exists(context), CUDA_ERROR_INVALID_CONTEXT);
    context_set(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *out) {
    REQUIRE_DRIVER();
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    *out = context_current();
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    REQUIRE_CONTEXT(context);
    REQUIRE(device, CUDA_ERROR_INVALID_VALUE);
    *device = device_of_gpu(context->gpu);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext context) {
    REQUIRE_DRIVER();
    if (!context)
        return cuCtxGetDevice(device);
    REQUIRE(context_exists(context), CUDA_ERROR_INVALID_CONTEXT);
    REQUIRE(device, CUDA_ERROR_INVALID_VALUE);
    *device = device_of_gpu(context->gpu);
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void) {
    REQUIRE_CONTEXT(context);
    CUresult result = capture_forbids_context(context);
    return result == CUDA_SUCCESS ? context_synchronize(context) : result;
}

CUresult cuCtxSynchronize_v2(CUcontext context) {
    REQUIRE_DRIVER();
    if (!context)
        return cuCtxSynchronize();
    REQUIRE(context_exists(context), CUDA_ERROR_INVALID_CONTEXT);
    CUresult result = capture_forbids_context(context);
    return result == CUDA_SUCCESS ? context_synchronize(context) : result;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device) {
    REQUIRE_DEVICE(device);
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    return context_retain_primary(gpu_of_device(device), out);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    REQUIRE_DEVICE(device);
    struct CUctx_st *context = driver->primary[gpu_of_device(device)];
    REQUIRE(context, CUDA_ERROR_INVALID_CONTEXT);
    if (--context->users == 0)
        context_destroy(context);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    REQUIRE_DEVICE(device);
    struct CUctx_st *context = driver->primary[gpu_of_device(device)];
    if (context)
        context_destroy(context);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) {
    REQUIRE_DEVICE(device);
    struct CUctx_st *context = driver->primary[gpu_of_device(device)];
    if (context)
        context->flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active) {
    REQUIRE_DEVICE(device);
    const struct CUctx_st *context = driver->primary[gpu_of_device(device)];
    if (flags)
        *flags = context ? context->flags : 0;
    if (active)
        *active = context != NULL;
    return CUDA_SUCCESS;
}
