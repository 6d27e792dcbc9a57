/* Writing a word of memory in stream order, and waiting for one. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "memory.h"
#include "reach.h"
#include "task.h"
#include "worker_state.h"

struct value_task {
    uint64_t address, value;
    unsigned bytes, flags;
    uint32_t queue;
    struct reach *reach; /* of a wait */
};

static struct value_task *new_value_task(const struct task *task) {
    struct value_task *own = malloc(sizeof *own);
    if (own)
        *own = (struct value_task){.address = task->value.address,
                                   .value = task->value.value,
                                   .bytes = task->value.bytes,
                                   .flags = task->value.flags};
    return own;
}

static struct reach *reach_of(const struct CUstream_st *stream, const struct value_task *own,
                              enum reach_access access) {
    struct reach *reach = NULL;
    driver_lock();
    reach_add(&reach, own->address, own->bytes, stream->context->gpu, access);
    driver_unlock();
    return reach;
}

static void write_value(void *data, uint64_t finished_at) {
    (void)finished_at;
    struct value_task *own = data;
    driver_lock();
    void *bytes = memory_resolve(own->address);
    if (bytes)
        memcpy(bytes, &own->value, own->bytes);
    driver_unlock();
    free(own);
}

CUresult queue_write_value(struct CUstream_st *stream, const struct task *task, uint64_t *ticket) {
    struct value_task *own = new_value_task(task);
    if (!own)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct effect effect = {.run = write_value, .data = own, .eager = true, .work = true};
    effect.reach = reach_of(stream, own, REACH_WRITES);
    *ticket = stream_push(stream, (struct operation){.kind = OPERATION_MARKER}, NULL, effect);
    return CUDA_SUCCESS;
}

static bool is_there(const struct value_task *own) {
    uint64_t word = 0;
    driver_lock();
    const void *bytes = memory_resolve(own->address);
    if (bytes)
        memcpy(&word, bytes, own->bytes);
    driver_unlock();
    switch (own->flags & 3) {
    case CU_STREAM_WAIT_VALUE_EQ: return word == own->value;
    case CU_STREAM_WAIT_VALUE_AND: return (word & own->value) != 0;
    case CU_STREAM_WAIT_VALUE_NOR: return ~(word | own->value) != 0;
    default: /* greater or equal, cyclically, as documented */
        return own->bytes == 4 ? (int32_t)((uint32_t)word - (uint32_t)own->value) >= 0
                               : (int64_t)(word - own->value) >= 0;
    }
}

/* A wait for a word that cannot be read ends, and its context dies. With `effects` held. */
static bool has_come(void *data) {
    const struct value_task *own = data;
    return (own->reach && !judge(driver->worker, own->queue, own->reach)) || is_there(own);
}

static void end_wait(void *data, uint64_t finished_at) {
    (void)finished_at;
    struct value_task *own = data;
    free(own->reach);
    free(own);
}

/* If nothing takes time, the calling thread waits. */
static void wait_here(struct value_task *own) {
    const struct timespec pause = {0, 20000};
    for (bool over = false; !over;) {
        pthread_mutex_lock(&driver->worker->effects);
        over = has_come(own);
        pthread_mutex_unlock(&driver->worker->effects);
        if (!over)
            nanosleep(&pause, NULL);
    }
    end_wait(own, 0);
}

CUresult queue_wait_value(struct CUstream_st *stream, const struct task *task, uint64_t *ticket) {
    struct value_task *own = new_value_task(task);
    if (!own)
        return CUDA_ERROR_OUT_OF_MEMORY;
    own->queue = stream->queue;
    own->reach = reach_of(stream, own, REACH_READS);
    if (!driver->model) {
        wait_here(own);
        return CUDA_SUCCESS;
    }
    struct operation operation = {.kind = OPERATION_HOST};
    struct effect effect = {.run = end_wait, .data = own};
    *ticket = queue_push_poll(stream->queue, &operation, NULL, effect, has_come);
    return CUDA_SUCCESS;
}
