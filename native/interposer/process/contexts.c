#include "contexts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "devices.h"
#include "gate/gate.h"

static struct {
    pthread_mutex_t lock;
    struct context *first;
    uint64_t last_id;
    _Atomic uint64_t forgotten; /* how many are gone: a thread may remember one of them */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The last context that this thread found. */
static _Thread_local struct {
    CUcontext handle;
    uint64_t forgotten;
    const struct context *context;
} memo __attribute__((tls_model("initial-exec")));

static struct context **find(CUcontext handle) {
    struct context **at = &state.first;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

static struct context *add(CUcontext handle, struct device *device) {
    struct context *context = calloc(1, sizeof *context);
    if (!context)
        return NULL;
    context->handle = handle;
    context->id = ++state.last_id;
    context->device = device;
    context->next = state.first;
    state.first = context;
    return context;
}

/* The current context is on the current device; that is all the driver tells. */
static struct context *learn(CUcontext handle) {
    CUdevice ordinal;
    if (real.cuCtxGetDevice(&ordinal) != CUDA_SUCCESS)
        return NULL;
    struct device *device = device_get(ordinal);
    if (!device)
        return NULL;
    contexts_lock();
    struct context *context = *find(handle);
    if (!context)
        context = add(handle, device);
    contexts_unlock();
    return context;
}

const struct context *context_here(void) {
    CUcontext handle;
    if (real.cuCtxGetCurrent(&handle) != CUDA_SUCCESS || !handle)
        return NULL;
    uint64_t forgotten = atomic_load_explicit(&state.forgotten, memory_order_acquire);
    if (__builtin_expect(memo.handle != handle || memo.forgotten != forgotten, 0)) {
        memo.context = learn(handle);
        memo.handle = memo.context ? handle : NULL;
        memo.forgotten = forgotten;
    }
    return memo.context;
}

void context_switched(CUcontext handle) {
    uint64_t forgotten = atomic_load_explicit(&state.forgotten, memory_order_acquire);
    if (handle && memo.handle == handle && memo.forgotten == forgotten)
        gate_be_at(&memo.context->device->gate);
    else
        gate_forget();
}

void context_created(CUcontext handle) {
    struct context *context = learn(handle);
    if (context)
        context->is_created = true;
    context_switched(NULL);
}

/* Records are not freed: a thread that uses a context while another destroys it may still read the
 * record. They are small, and contexts are few. */
static struct context *take(struct context **at) {
    struct context *context = *at;
    if (context)
        *at = context->next;
    atomic_fetch_add(&state.forgotten, 1);
    return context;
}

struct context *context_take(CUcontext handle) {
    contexts_lock();
    struct context *context = take(find(handle));
    contexts_unlock();
    return context;
}

void context_put_back(struct context *context) {
    contexts_lock();
    context->next = state.first;
    state.first = context;
    atomic_fetch_add(&state.forgotten, 1);
    contexts_unlock();
}

struct context *context_take_primary(const struct device *device) {
    struct context **at = &state.first;
    while (*at && ((*at)->device != device || (*at)->is_created))
        at = &(*at)->next;
    return *at ? take(at) : NULL;
}

struct device *context_device(CUcontext handle) {
    contexts_lock();
    const struct context *context = *find(handle);
    struct device *device = context ? context->device : NULL;
    contexts_unlock();
    return device;
}

CUcontext context_handle(uint64_t id) {
    contexts_lock();
    const struct context *context = state.first;
    while (context && context->id != id)
        context = context->next;
    CUcontext handle = context ? context->handle : NULL;
    contexts_unlock();
    return handle;
}

bool context_exists(uint64_t id) {
    return context_handle(id) != NULL;
}

void contexts_lock(void) {
    pthread_mutex_lock(&state.lock);
}

void contexts_unlock(void) {
    pthread_mutex_unlock(&state.lock);
}

struct context *contexts_first(void) {
    return state.first;
}

void contexts_forget(void) {
    pthread_mutex_init(&state.lock, NULL);
    state.first = NULL;
    atomic_fetch_add(&state.forgotten, 1);
    memo.handle = NULL;
}
