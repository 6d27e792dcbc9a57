/* Tasks: captured or queued, copied and dropped. The kinds have files of their own. */
#include "task.h"

#include <stdlib.h>
#include <string.h>

#include "../api/capture.h"
#include "event.h"
#include "memory.h"

/* The legacy default stream waits for every blocking stream of its context, and they for it. */
static void wait_for_neighbours(struct CUstream_st *stream) {
    struct CUctx_st *context = stream->context;
    if (stream->flags & CU_STREAM_NON_BLOCKING)
        return;
    if (!stream->is_legacy) {
        uint32_t legacy = context->legacy->queue;
        uint64_t newest = queue_newest(legacy);
        if (!queue_reached(legacy, newest))
            stream_push_wait(stream, legacy, newest);
        return;
    }
    uint32_t queues[MAX_QUEUES], count = 0;
    driver_lock();
    for (struct CUstream_st *s = context->streams; s && count < MAX_QUEUES; s = s->next)
        if (!(s->flags & CU_STREAM_NON_BLOCKING) &&
            !queue_reached(s->queue, queue_newest(s->queue)))
            queues[count++] = s->queue;
    driver_unlock();
    for (uint32_t i = 0; i < count; i++)
        stream_push_wait(stream, queues[i], queue_newest(queues[i]));
}

void stream_push_wait(struct CUstream_st *stream, uint32_t queue, uint64_t ticket) {
    if (!driver->model || queue == stream->queue)
        return;
    struct operation wait = {.kind = OPERATION_WAIT, .wait_queue = queue, .wait_ticket = ticket};
    queue_push(stream->queue, &wait, NULL, (struct effect){0});
}

uint64_t stream_push(struct CUstream_st *stream, struct operation operation,
                     const struct touch *touch, struct effect effect) {
    if (!driver->model) { /* everything is done at once, at no time */
        effect_at_once(stream->queue, effect);
        return 0;
    }
    wait_for_neighbours(stream);
    operation.references = touch ? (uint16_t)touch->references : 0;
    return queue_push(stream->queue, &operation, touch ? touch->reference : NULL, effect);
}

uint64_t stream_push_poll(struct CUstream_st *stream, struct operation operation,
                          const struct touch *touch, struct effect effect, poll_function *poll) {
    wait_for_neighbours(stream);
    operation.references = (uint16_t)touch->references;
    return queue_push_poll(stream->queue, &operation, touch->reference, effect, poll);
}

struct host_call {
    CUhostFn function;
    void *data;
};

static void call_host(void *data) {
    struct host_call call = *(struct host_call *)data;
    free(data);
    call.function(call.data);
}

static CUresult queue_host(struct CUstream_st *stream, const struct task *task, uint64_t *ticket) {
    if (!driver->model) {
        task->host.function(task->host.data);
        return CUDA_SUCCESS;
    }
    struct host_call *call = malloc(sizeof *call);
    if (!call)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *call = (struct host_call){task->host.function, task->host.data};
    wait_for_neighbours(stream);
    *ticket = queue_push_host(stream->queue, call_host, call);
    return CUDA_SUCCESS;
}

CUresult task_queue(struct CUstream_st *stream, const struct task *task, uint64_t *ticket) {
    uint64_t ignored;
    if (!ticket)
        ticket = &ignored;
    *ticket = 0;
    switch (task->kind) {
    case TASK_KERNEL: return queue_kernel(stream, &task->kernel, ticket);
    case TASK_COPY: return queue_copy(stream, &task->copy, ticket);
    case TASK_FILL: return queue_fill(stream, &task->fill, ticket);
    case TASK_HOST: return queue_host(stream, task, ticket);
    case TASK_EVENT_RECORD: return queue_event_record(stream, task->event.event, ticket);
    case TASK_EVENT_WAIT: return queue_event_wait(stream, task->event.event, ticket);
    case TASK_FREE: return queue_free(stream, task->memory.address, ticket);
    case TASK_PREFETCH: return queue_prefetch(stream, task, ticket);
    case TASK_WRITE_VALUE: return queue_write_value(stream, task, ticket);
    case TASK_WAIT_VALUE: return queue_wait_value(stream, task, ticket);
    case TASK_ALLOCATE:
    case TASK_NOTHING:
        *ticket = stream_push(stream, (struct operation){.kind = OPERATION_MARKER}, NULL,
                              (struct effect){0});
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult stream_do(struct CUstream_st *stream, const struct task *task, uint64_t *ticket) {
    if (stream->capture || capture_concerns(stream, task))
        return capture_add(stream, task);
    if (task->kind == TASK_EVENT_RECORD)
        capture_forget(task->event.event);
    return task_queue(stream, task, ticket);
}

CUresult stream_do_and_wait(struct CUstream_st *stream, const struct task *task) {
    CUresult result = capture_forbids(stream);
    uint64_t ticket = 0;
    if (result == CUDA_SUCCESS)
        result = task_queue(stream, task, &ticket);
    if (result == CUDA_SUCCESS) {
        queue_wait(stream->queue, ticket);
        result = stream->context->failed;
    }
    return result;
}

CUresult task_copy(const struct task *task, struct task *out) {
    struct task copy = *task;
    if (task->kind == TASK_KERNEL && task->kernel.parameter_bytes) {
        copy.kernel.parameters = malloc(task->kernel.parameter_bytes);
        if (!copy.kernel.parameters)
            return CUDA_ERROR_OUT_OF_MEMORY;
        memcpy(copy.kernel.parameters, task->kernel.parameters, task->kernel.parameter_bytes);
    }
    *out = copy;
    return CUDA_SUCCESS;
}

void task_drop(struct task *task) {
    if (task->kind == TASK_KERNEL)
        free(task->kernel.parameters);
    *task = (struct task){.kind = TASK_NOTHING};
}
