/* Streams: made, queried and waited for. The work in them is in launch.c, copy.c, ... */
#include "../process/task.h"
#include "capture.h"

enum { GREATEST_PRIORITY = -5 };

CUresult cuStreamCreateWithPriority(CUstream *out, unsigned int flags, int priority) {
    REQUIRE_CONTEXT(context);
    REQUIRE(out && (flags & ~(unsigned)CU_STREAM_NON_BLOCKING) == 0, CUDA_ERROR_INVALID_VALUE);
    if (priority < GREATEST_PRIORITY)
        priority = GREATEST_PRIORITY;
    if (priority > 0)
        priority = 0;
    return stream_create(context, flags, priority, out);
}

CUresult cuStreamCreate(CUstream *out, unsigned int flags) {
    return cuStreamCreateWithPriority(out, flags, 0);
}

CUresult cuStreamDestroy_v2(CUstream handle) {
    REQUIRE_DRIVER();
    REQUIRE(handle && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD &&
                handle->magic == STREAM_MAGIC,
            CUDA_ERROR_INVALID_HANDLE);
    stream_destroy(handle);
    return CUDA_SUCCESS;
}

/* Resolves the stream that a call is given. */
#define RESOLVE(name, handle)                                                                      \
    REQUIRE_DRIVER();                                                                              \
    struct CUstream_st *name;                                                                      \
    CUresult name##_resolved = stream_resolve(handle, &name);                                      \
    if (name##_resolved != CUDA_SUCCESS)                                                           \
    return name##_resolved

CUresult cuStreamSynchronize(CUstream handle) {
    RESOLVE(stream, handle);
    CUresult result = capture_forbids(stream);
    return result == CUDA_SUCCESS ? stream_synchronize(stream) : result;
}

CUresult cuStreamQuery(CUstream handle) {
    RESOLVE(stream, handle);
    CUresult result = capture_forbids(stream);
    if (result != CUDA_SUCCESS)
        return result;
    worker_pump();
    return queue_reached(stream->queue, queue_newest(stream->queue)) ? CUDA_SUCCESS
                                                                     : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned int flags) {
    RESOLVE(stream, handle);
    REQUIRE(event, CUDA_ERROR_INVALID_HANDLE);
    struct task task = {.kind = TASK_EVENT_WAIT, .event = {event, flags}};
    return stream_do(stream, &task, NULL);
}

CUresult cuStreamGetPriority(CUstream handle, int *priority) {
    RESOLVE(stream, handle);
    REQUIRE(priority, CUDA_ERROR_INVALID_VALUE);
    *priority = stream->priority;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream handle, unsigned int *flags) {
    RESOLVE(stream, handle);
    REQUIRE(flags, CUDA_ERROR_INVALID_VALUE);
    *flags = stream->flags;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream handle, unsigned long long *id) {
    RESOLVE(stream, handle);
    REQUIRE(id, CUDA_ERROR_INVALID_VALUE);
    *id = stream->id;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *out) {
    RESOLVE(stream, handle);
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    *out = stream->context;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext *out, CUgreenCtx *green) {
    if (green)
        *green = NULL;
    return cuStreamGetCtx(handle, out);
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice *device) {
    RESOLVE(stream, handle);
    REQUIRE(device, CUDA_ERROR_INVALID_VALUE);
    *device = device_of_gpu(stream->context->gpu);
    return CUDA_SUCCESS;
}

/* Managed memory is visible to all streams here, as with concurrent managed access. */
CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t bytes,
                                unsigned int flags) {
    RESOLVE(stream, handle);
    (void)address, (void)bytes, (void)flags;
    return CUDA_SUCCESS;
}

CUresult cuStreamSetAttribute(CUstream handle, CUstreamAttrID attribute,
                              const CUstreamAttrValue *value) {
    RESOLVE(stream, handle);
    (void)attribute;
    REQUIRE(value, CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID attribute, CUstreamAttrValue *value) {
    RESOLVE(stream, handle);
    REQUIRE(value, CUDA_ERROR_INVALID_VALUE);
    *value = (CUstreamAttrValue){0};
    if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        value->priority = stream->priority;
    return CUDA_SUCCESS;
}

CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
    RESOLVE(target, to);
    RESOLVE(source, from);
    return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *data) {
    RESOLVE(stream, handle);
    REQUIRE(function, CUDA_ERROR_INVALID_VALUE);
    struct task task = {.kind = TASK_HOST, .host = {function, data}};
    return stream_do(stream, &task, NULL);
}
