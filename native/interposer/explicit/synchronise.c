#include "synchronise.h"

#include <unistd.h>

#include "process/contexts.h"
#include "process/streams.h"

enum { PAUSE_US = 50 };

/* Not cuCtxSynchronize, which would invalidate a capture that another thread begins meanwhile. An
 * event in the default stream comes after all work in ordinary streams; others are queried one by
 * one. */
static CUresult mark(CUevent *event, bool *is_marked) {
    CUresult result = real.cuEventCreate(event, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC);
    if (result != CUDA_SUCCESS)
        return result;
    streams_lock();
    *is_marked = !streams_any_capture();
    if (*is_marked)
        result = real.cuEventRecord(*event, CU_STREAM_LEGACY);
    streams_unlock();
    return result;
}

static bool others_are_busy(uint64_t context) {
    streams_lock();
    bool busy = streams_any_busy(context);
    streams_unlock();
    return busy;
}

static CUresult wait_for_work(uint64_t context, bool *is_done) {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUevent event = NULL;
    real.cuThreadExchangeStreamCaptureMode(&mode);
    CUresult result = mark(&event, is_done);
    if (result == CUDA_SUCCESS && *is_done)
        result = real.cuEventSynchronize(event);
    while (result == CUDA_SUCCESS && *is_done && others_are_busy(context))
        usleep(PAUSE_US);
    if (event)
        real.cuEventDestroy_v2(event);
    real.cuThreadExchangeStreamCaptureMode(&mode);
    return result;
}

/* The thread need not have that context current, nor any. */
CUresult synchronise_work(uint64_t context, bool *is_done) {
    CUcontext handle = context_handle(context), popped;
    *is_done = true;
    if (!handle || real.cuCtxPushCurrent_v2(handle) != CUDA_SUCCESS)
        return CUDA_SUCCESS; /* it is gone, and with it all its work */
    CUresult result = wait_for_work(context, is_done);
    real.cuCtxPopCurrent_v2(&popped);
    return result;
}
