/* Contexts: made current, created, destroyed. Everything that a context frees leaves the
 * records. */
#include <pthread.h>

#include "gate/gate.h"
#include "memory/allocations.h"
#include "memory/newcomer.h"
#include "process/config.h"
#include "process/contexts.h"
#include "process/devices.h"
#include "process/streams.h"

/* Any of the calls that make a context. */
struct making {
    CUresult (*call)(const struct making *making);
    CUcontext *context;
    CUdevice device;
    unsigned flags;
    CUexecAffinityParam *affinity;
    int affinities;
    CUctxCreateParams *parameters;
};

static CUresult make(struct making making) {
    struct newcomer newcomer = {0};
    CUresult result = device_may_be_used(making.device);
    if (result != CUDA_SUCCESS)
        return result;
    if (config()->disable)
        return making.call(&making);
    do
        result = making.call(&making);
    while (result == CUDA_ERROR_OUT_OF_MEMORY && newcomer_waits(&newcomer, making.device));
    newcomer_is_done(&newcomer, making.device, result == CUDA_SUCCESS);
    return result;
}

static CUresult create(struct making making) {
    CUresult result = make(making);
    if (result == CUDA_SUCCESS && !config()->disable)
        context_created(*making.context);
    return result;
}

static CUresult call_create(const struct making *m) {
    return real.cuCtxCreate(m->context, m->flags, m->device);
}

static CUresult call_create_v2(const struct making *m) {
    return real.cuCtxCreate_v2(m->context, m->flags, m->device);
}

static CUresult call_create_v3(const struct making *m) {
    return real.cuCtxCreate_v3(m->context, m->affinity, m->affinities, m->flags, m->device);
}

static CUresult call_create_v4(const struct making *m) {
    return real.cuCtxCreate_v4(m->context, m->parameters, m->flags, m->device);
}

CUresult cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev) {
    return create((struct making){call_create, pctx, dev, flags, NULL, 0, NULL});
}

CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev) {
    return create((struct making){call_create_v2, pctx, dev, flags, NULL, 0, NULL});
}

CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams,
                        unsigned int flags, CUdevice dev) {
    return create((struct making){call_create_v3, pctx, dev, flags, paramsArray, numParams, NULL});
}

CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags,
                        CUdevice dev) {
    return create((struct making){call_create_v4, pctx, dev, flags, NULL, 0, ctxCreateParams});
}

static struct mover *mover_of(struct device *device) {
    return device ? &device->mover : NULL;
}

/* The records are cleared before the driver frees anything: other contexts may get the
 * addresses. */
static CUresult destroy(__typeof__(cuCtxDestroy_v2) *call, CUcontext handle) {
    struct mover *mover = mover_of(context_device(handle));
    mover_bar(mover);
    struct context *context = context_take(handle);
    uint64_t id = context ? context->id : 0;
    struct allocation_context taken = allocation_take_context(id);
    CUresult result = call(handle);
    gate_forget();
    if (result == CUDA_SUCCESS) {
        streams_gone(id);
        allocation_context_gone(taken);
    } else if (context) {
        context_put_back(context);
        allocation_context_stays(taken);
    }
    mover_unbar(mover);
    return result;
}

CUresult cuCtxDestroy(CUcontext ctx) {
    driver_need();
    return destroy(real.cuCtxDestroy, ctx);
}

CUresult cuCtxDestroy_v2(CUcontext ctx) {
    driver_need();
    return destroy(real.cuCtxDestroy_v2, ctx);
}

/* A green context has a context of its own, but the memory is that of the primary one. */
CUresult cuGreenCtxDestroy(CUgreenCtx hCtx) {
    CUcontext handle;
    driver_need();
    bool known = real.cuCtxFromGreenCtx(&handle, hCtx) == CUDA_SUCCESS;
    struct mover *mover = mover_of(known ? context_device(handle) : NULL);
    mover_bar(mover);
    struct context *context = known ? context_take(handle) : NULL;
    CUresult result = real.cuGreenCtxDestroy(hCtx);
    gate_forget();
    if (result != CUDA_SUCCESS && context)
        context_put_back(context);
    mover_unbar(mover);
    return result;
}

static void context_is_gone(const struct context *context) {
    if (!context)
        return;
    streams_gone(context->id);
    allocation_context_gone(allocation_take_context(context->id));
}

/* Destroys the context only if there is no other user, which shows afterwards. */
CUresult cuCtxDetach(CUcontext ctx) {
    unsigned version;
    driver_need();
    struct mover *mover = mover_of(context_device(ctx));
    mover_bar(mover);
    CUresult result = real.cuCtxDetach(ctx);
    gate_forget();
    if (result == CUDA_SUCCESS &&
        real.cuCtxGetApiVersion(ctx, &version) == CUDA_ERROR_INVALID_CONTEXT)
        context_is_gone(context_take(ctx));
    mover_unbar(mover);
    return result;
}

CUresult cuCtxPushCurrent(CUcontext ctx) {
    driver_need();
    CUresult result = real.cuCtxPushCurrent(ctx);
    context_switched(result == CUDA_SUCCESS ? ctx : NULL);
    return result;
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx) {
    driver_need();
    CUresult result = real.cuCtxPushCurrent_v2(ctx);
    context_switched(result == CUDA_SUCCESS ? ctx : NULL);
    return result;
}

CUresult cuCtxPopCurrent(CUcontext *pctx) {
    driver_need();
    context_switched(NULL);
    return real.cuCtxPopCurrent(pctx);
}

CUresult cuCtxPopCurrent_v2(CUcontext *pctx) {
    driver_need();
    context_switched(NULL);
    return real.cuCtxPopCurrent_v2(pctx);
}

CUresult cuCtxSetCurrent(CUcontext ctx) {
    driver_need();
    CUresult result = real.cuCtxSetCurrent(ctx);
    context_switched(result == CUDA_SUCCESS ? ctx : NULL);
    return result;
}

/* Only the driver knows the reference count of a primary context. One thread at a time, so that no
 * thread makes a new one before the old one has left the records. */
static pthread_mutex_t primary = PTHREAD_MUTEX_INITIALIZER;

static CUresult call_retain(const struct making *m) {
    pthread_mutex_lock(&primary);
    CUresult result = real.cuDevicePrimaryCtxRetain(m->context, m->device);
    pthread_mutex_unlock(&primary);
    return result;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev) {
    return make((struct making){call_retain, pctx, dev, 0, NULL, 0, NULL});
}

/* The list of contexts stays locked during the call: the session must not use one that is being
 * destroyed. */
static CUresult give_up(__typeof__(cuDevicePrimaryCtxRelease_v2) *call, CUdevice ordinal) {
    unsigned flags;
    int is_active = 1;
    struct context *gone = NULL;
    struct mover *mover = mover_of(device_known(ordinal));
    mover_bar(mover);
    pthread_mutex_lock(&primary);
    contexts_lock();
    CUresult result = call(ordinal);
    real.cuDevicePrimaryCtxGetState(ordinal, &flags, &is_active);
    if (result == CUDA_SUCCESS && !is_active && device_known(ordinal))
        gone = context_take_primary(device_known(ordinal));
    contexts_unlock();
    context_is_gone(gone);
    pthread_mutex_unlock(&primary);
    mover_unbar(mover);
    gate_forget();
    return result;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev) {
    driver_need();
    return give_up(real.cuDevicePrimaryCtxRelease, dev);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
    driver_need();
    return give_up(real.cuDevicePrimaryCtxRelease_v2, dev);
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev) {
    driver_need();
    return give_up(real.cuDevicePrimaryCtxReset, dev);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev) {
    driver_need();
    return give_up(real.cuDevicePrimaryCtxReset_v2, dev);
}
