/* Writing a word of memory in stream order, and waiting for one. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "memory.h"
#include "task.h"

struct value_task {
    uint64_t address, value;
    unsigned bytes, flags;
};

static struct value_task *new_value_task(const struct task *task) {
    struct value_task *own = malloc(sizeof *own);
    if (own)
        *own = (struct value_task){task->value.address, task->value.value, task->value.bytes,
                                   task->value.flags};
    return own;
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
    *ticket = stream_push(stream, (struct operation){.kind = OPERATION_MARKER}, NULL,
                          (struct effect){write_value, own, true});
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

/* The worker looks at the word until it is right. Other streams' host functions wait meanwhile. */
static void wait_value(void *data) {
    struct value_task *own = data;
    const struct timespec pause = {0, 20000};
    while (!is_there(own)) {
        worker_pump();
        nanosleep(&pause, NULL);
    }
    free(own);
}

CUresult queue_wait_value(struct CUstream_st *stream, const struct task *task, uint64_t *ticket) {
    struct value_task *own = new_value_task(task);
    if (!own)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!driver->model) {
        wait_value(own);
        return CUDA_SUCCESS;
    }
    *ticket = queue_push_host(stream->queue, wait_value, own);
    return CUDA_SUCCESS;
}
