#include "locking.h"

#include "log.h"
#include "process/contexts.h"
#include "process/devices.h"
#include "session/session.h"

static void lock_pages(struct extent *extent, uint64_t context) {
    CUresult result =
        real.cuMemHostRegister_v2(extent->at, extent_bytes(extent), CU_MEMHOSTREGISTER_PORTABLE);
    extent->context = result == CUDA_SUCCESS ? context : 0;
    extent->is_refused = result != CUDA_SUCCESS;
    if (result != CUDA_SUCCESS)
        log_warn_once("the driver cannot lock host memory (CUDA error %d): this program's memory "
                      "moves out slowly",
                      (int)result);
}

/* Pushes a working context of the device. Returns its number, or 0 if there is none. */
static uint64_t push_context(const struct device *device) {
    uint64_t id = 0;
    contexts_lock();
    for (const struct context *one = contexts_first(); one && !id; one = one->next)
        if (one->device == device && real.cuCtxPushCurrent_v2(one->handle) == CUDA_SUCCESS)
            id = one->id;
    contexts_unlock();
    return id;
}

/* Locks go with the context that made them. Only the mover's thread locks extents and takes them
 * out, so the extent found stays. */
static struct extent *next_unlocked(struct extents *extents) {
    pthread_mutex_lock(&extents->lock);
    struct extent *one = extents->first;
    while (one && (one->is_refused || (one->context && context_exists(one->context))))
        one = one->next;
    pthread_mutex_unlock(&extents->lock);
    return one;
}

static bool give_one_back(struct device *device) {
    uint64_t most = atomic_load(&device->explicit.regions.movable);
    struct extent *spare = extents_take_spare(&device->explicit.extents, most);
    if (!spare)
        return false;
    if (spare->context && context_exists(spare->context))
        real.cuMemHostUnregister(spare->at);
    extent_unmap(spare);
    session_memory_changed(device);
    return true;
}

bool locking_prepare(struct mover *mover) {
    struct device *device = mover->device;
    CUcontext popped;
    uint64_t context = push_context(device);
    if (!context)
        return false;
    bool has_done = give_one_back(device);
    struct extent *next = has_done ? NULL : next_unlocked(&device->explicit.extents);
    if (next)
        lock_pages(next, context);
    real.cuCtxPopCurrent_v2(&popped);
    return has_done || next;
}
