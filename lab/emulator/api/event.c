/* Events. */
#include "../process/event.h"

#include "../process/task.h"
#include "capture.h"

CUresult cuEventCreate(CUevent *out, unsigned int flags) {
    REQUIRE_CONTEXT(context);
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    /* As documented: other processes could not tell the time of the event. */
    REQUIRE(!(flags & CU_EVENT_INTERPROCESS) || (flags & CU_EVENT_DISABLE_TIMING),
            CUDA_ERROR_INVALID_VALUE);
    return event_create(context, flags, NULL, out);
}

CUresult cuEventDestroy_v2(CUevent event) {
    REQUIRE_DRIVER();
    REQUIRE(event_exists(event), CUDA_ERROR_INVALID_HANDLE);
    event_destroy(event);
    return CUDA_SUCCESS;
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream handle, unsigned int flags) {
    REQUIRE_DRIVER();
    REQUIRE(event_exists(event), CUDA_ERROR_INVALID_HANDLE);
    struct CUstream_st *stream;
    CUresult result = stream_resolve(handle, &stream);
    REQUIRE(result == CUDA_SUCCESS, result);
    REQUIRE(stream->context == event->context, CUDA_ERROR_INVALID_HANDLE);
    struct task task = {.kind = TASK_EVENT_RECORD, .event = {event, flags}};
    return stream_do(stream, &task, NULL);
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    return cuEventRecordWithFlags(event, stream, 0);
}

CUresult cuEventQuery(CUevent event) {
    REQUIRE_DRIVER();
    REQUIRE(event_exists(event), CUDA_ERROR_INVALID_HANDLE);
    CUresult result = capture_forbids_event(event);
    if (result == CUDA_SUCCESS)
        result = event_query(event);
    CUresult error = context_error(event->context);
    return error == CUDA_SUCCESS ? result : error;
}

CUresult cuEventSynchronize(CUevent event) {
    REQUIRE_DRIVER();
    REQUIRE(event_exists(event), CUDA_ERROR_INVALID_HANDLE);
    CUresult result = capture_forbids_event(event);
    REQUIRE(result == CUDA_SUCCESS, result);
    event_wait(event);
    return context_error(event->context);
}

CUresult cuEventElapsedTime_v2(float *ms, CUevent from, CUevent to) {
    REQUIRE_DRIVER();
    REQUIRE(ms, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(event_exists(from) && event_exists(to), CUDA_ERROR_INVALID_HANDLE);
    return event_elapsed_ms(from, to, ms);
}
