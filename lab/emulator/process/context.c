/* Contexts and the stack of them that every thread has. */
#include "context.h"

#include <stdlib.h>

#include "../model/residency.h"
#include "memory.h"
#include "pool.h"
#include "room.h"
#include "worker.h"

enum { STACK_DEPTH = 64 };

static _Thread_local struct {
    struct driver *of; /* the stack of a parent process means nothing after a fork */
    int depth;
    struct CUctx_st *stack[STACK_DEPTH];
} thread;

static void forget_parent(void) {
    if (thread.of != driver) {
        thread.of = driver;
        thread.depth = 0;
    }
}

struct CUctx_st *context_current(void) {
    if (__builtin_expect(thread.of != driver, 0))
        forget_parent();
    return thread.depth ? thread.stack[thread.depth - 1] : NULL;
}

CUresult context_push(struct CUctx_st *context) {
    forget_parent();
    if (thread.depth == STACK_DEPTH)
        return CUDA_ERROR_OUT_OF_MEMORY;
    thread.stack[thread.depth++] = context;
    return CUDA_SUCCESS;
}

struct CUctx_st *context_pop(void) {
    struct CUctx_st *top = context_current();
    if (top)
        thread.depth--;
    return top;
}

void context_set(struct CUctx_st *context) {
    context_pop();
    if (context)
        context_push(context);
}

bool context_exists(const struct CUctx_st *context) {
    bool found = false;
    driver_lock();
    for (const struct CUctx_st *c = driver->contexts; c && !found; c = c->next)
        found = c == context;
    driver_unlock();
    return found;
}

CUresult context_error(const struct CUctx_st *context) {
    CUresult error = CUDA_SUCCESS;
    if (!driver->some_failed) /* a fast path: every query of an event calls this */
        return error;
    driver_lock();
    for (const struct CUctx_st *c = driver->contexts; c; c = c->next)
        if (c == context)
            error = c->failed;
    driver_unlock();
    return error;
}

void context_fail(uint32_t number, CUresult error) {
    driver_lock();
    driver->some_failed = true;
    for (struct CUctx_st *c = driver->contexts; c; c = c->next)
        if (c->number == number && c->failed == CUDA_SUCCESS)
            c->failed = error;
    driver_unlock();
}

static void set_default_limits(struct CUctx_st *context) {
    context->limits[CU_LIMIT_STACK_SIZE] = 1024;
    context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
    context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
    context->limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
    context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
    context->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
}

CUresult context_create(uint32_t gpu, unsigned flags, struct CUctx_st **out) {
    CUresult result = room_take(gpu, ROOM_FOR_CONTEXT, 0);
    if (result != CUDA_SUCCESS)
        return result;
    driver_pause(gpu_profile(gpu)->context_create_ns);
    struct CUctx_st *context = calloc(1, sizeof *context);
    if (!context)
        return CUDA_ERROR_OUT_OF_MEMORY;
    context->magic = CONTEXT_MAGIC;
    context->gpu = gpu;
    context->flags = flags;
    context->users = 1;
    set_default_limits(context);
    driver_lock();
    context->number = ++driver->last_context;
    context->next = driver->contexts;
    driver->contexts = context;
    driver_unlock();
    result = stream_create(context, 0, 0, &context->legacy);
    if (result != CUDA_SUCCESS) {
        context_destroy(context);
        return result;
    }
    context->legacy->is_legacy = true;
    *out = context;
    return CUDA_SUCCESS;
}

CUresult context_retain_primary(uint32_t gpu, struct CUctx_st **out) {
    static pthread_mutex_t creation = PTHREAD_MUTEX_INITIALIZER;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&creation);
    struct CUctx_st *context = driver->primary[gpu];
    if (context) {
        context->users++;
    } else {
        result = context_create(gpu, 0, &context);
        if (result == CUDA_SUCCESS) {
            context->primary = true;
            driver->primary[gpu] = context;
        }
    }
    pthread_mutex_unlock(&creation);
    if (result == CUDA_SUCCESS)
        *out = context;
    return result;
}

CUresult context_synchronize(struct CUctx_st *context) {
    stream_synchronize(context->legacy);
    for (;;) {
        struct CUstream_st *busy = NULL;
        driver_lock();
        for (struct CUstream_st *s = context->streams; s && !busy; s = s->next)
            if (!queue_reached(s->queue, queue_newest(s->queue)))
                busy = s;
        uint32_t queue = busy ? busy->queue : 0;
        driver_unlock();
        if (!busy)
            break;
        queue_wait(queue, queue_newest(queue));
    }
    pools_trim();
    return context->failed;
}

static void unlink_context(struct CUctx_st *context) {
    struct CUctx_st **at = &driver->contexts;
    while (*at && *at != context)
        at = &(*at)->next;
    if (*at)
        *at = context->next;
    if (driver->primary[context->gpu] == context)
        driver->primary[context->gpu] = NULL;
}

static void release_allocations(struct CUctx_st *context) {
    driver_lock();
    while (context->allocations) {
        struct allocation *allocation = context->allocations;
        if (allocation->kind == MEMORY_PLAIN || allocation->kind == MEMORY_MANAGED)
            memory_release(allocation);
        else
            memory_unregister(allocation);
    }
    driver_unlock();
}

void context_destroy(struct CUctx_st *context) {
    if (context->legacy)
        context_synchronize(context);
    release_allocations(context);
    while (context->streams)
        stream_destroy(context->streams);
    if (context->legacy)
        stream_destroy(context->legacy);
    driver_lock();
    unlink_context(context);
    driver_unlock();
    node_lock(driver->node);
    gpu_give_code(driver->node, driver->slot, context->gpu, context->code_bytes);
    gpu_give_context(driver->node, driver->slot, context->gpu);
    node_unlock(driver->node);
    if (context_current() == context)
        context_pop();
    context->magic = 0;
    free(context);
}

CUresult context_take_code(struct CUctx_st *context, uint64_t bytes) {
    CUresult result = room_take(context->gpu, ROOM_FOR_CODE, bytes);
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    context->code_bytes += bytes;
    driver_unlock();
    return CUDA_SUCCESS;
}

void context_give_code(uint32_t number, uint64_t bytes) {
    driver_lock();
    for (struct CUctx_st *c = driver->contexts; c; c = c->next) {
        if (c->number != number)
            continue;
        c->code_bytes -= bytes;
        node_lock(driver->node);
        gpu_give_code(driver->node, driver->slot, c->gpu, bytes);
        node_unlock(driver->node);
    }
    driver_unlock();
}

void context_adopt(struct CUctx_st *context, struct allocation *allocation) {
    allocation->previous = NULL;
    allocation->next = context->allocations;
    if (context->allocations)
        context->allocations->previous = allocation;
    context->allocations = allocation;
}

void context_disown(struct CUctx_st *context, struct allocation *allocation) {
    if (allocation->next)
        allocation->next->previous = allocation->previous;
    if (allocation->previous)
        allocation->previous->next = allocation->next;
    else
        context->allocations = allocation->next;
}
