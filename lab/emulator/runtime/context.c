#include "context.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MAX_DEVICES = 64 };

/* The device that this thread has chosen, for as long as it has no current context. */
static _Thread_local int chosen;

static _Atomic(CUcontext) primary[MAX_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* One reference per device, so that contexts last as long as the process. */
static CUresult retain(const struct driver *driver, int device, CUcontext *out) {
    pthread_mutex_lock(&lock);
    CUcontext context = primary[device];
    CUresult result = CUDA_SUCCESS;
    if (!context) {
        /* A capturing thread may make a context too: that submits no work. */
        CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
        driver->cuThreadExchangeStreamCaptureMode(&mode);
        result = driver->cuDevicePrimaryCtxRetain(&context, device);
        driver->cuThreadExchangeStreamCaptureMode(&mode);
    }
    if (result == CUDA_SUCCESS)
        primary[device] = *out = context;
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult context_primary(const struct driver *driver, int device, CUcontext *out) {
    if (device < 0 || device >= MAX_DEVICES)
        return CUDA_ERROR_INVALID_DEVICE;
    CUcontext context = primary[device];
    if (!context)
        return retain(driver, device, out);
    *out = context;
    return CUDA_SUCCESS;
}

CUresult context_choose(const struct driver *driver, int device) {
    CUcontext context;
    CUresult result = context_primary(driver, device, &context);
    if (result == CUDA_SUCCESS)
        result = driver->cuCtxSetCurrent(context);
    if (result == CUDA_SUCCESS)
        chosen = device;
    return result;
}

CUresult context_bind(const struct driver *driver) {
    CUcontext current;
    CUresult result = driver->cuCtxGetCurrent(&current);
    return result != CUDA_SUCCESS || current ? result : context_choose(driver, chosen);
}

CUresult context_device(const struct driver *driver, int *device) {
    CUcontext current;
    CUresult result = driver->cuCtxGetCurrent(&current);
    if (result != CUDA_SUCCESS)
        return result;
    if (current)
        return driver->cuCtxGetDevice(device);
    *device = chosen;
    return CUDA_SUCCESS;
}

CUresult context_reset(const struct driver *driver) {
    int device;
    CUresult result = context_device(driver, &device);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&lock);
    if (device < MAX_DEVICES)
        primary[device] = NULL;
    result = driver->cuDevicePrimaryCtxReset(device);
    pthread_mutex_unlock(&lock);
    CUresult cleared = driver->cuCtxSetCurrent(NULL);
    chosen = device;
    return result != CUDA_SUCCESS ? result : cleared;
}
