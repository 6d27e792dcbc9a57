/* A memset as work for the model, and the bytes themselves. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "reach.h"
#include "task.h"

/* Doubles the filled part of a row by copying it: single elements take tens of times as long. */
static void fill_row(unsigned char *bytes, const struct fill_task *fill, size_t size) {
    size_t done = fill->element_bytes;
    memcpy(bytes, &fill->value, done);
    while (done < size) {
        size_t more = done < size - done ? done : size - done;
        memcpy(bytes + done, bytes, more);
        done += more;
    }
}

/* A row may span several adjacent mappings; they end on multiples of an element. */
static void fill_at(uint64_t address, const struct fill_task *fill) {
    size_t left = fill->width * fill->element_bytes;
    while (left) {
        driver_lock();
        const struct allocation *allocation = memory_find(address);
        uint64_t rest = allocation ? allocation->bytes - (address - allocation->address) : left;
        size_t piece = rest < left ? (size_t)rest : left;
        unsigned char *bytes = memory_resolve(address);
        driver_unlock();
        if (bytes)
            fill_row(bytes, fill, piece);
        address += piece;
        left -= piece;
    }
}

static void fill_all(const struct fill_task *fill) {
    for (size_t row = 0; row < fill->rows; row++)
        fill_at(fill->address + row * fill->pitch, fill);
}

static void carry_out(void *data, uint64_t finished_at) {
    (void)finished_at;
    fill_all(data);
    free(data);
}

CUresult queue_fill(struct CUstream_st *stream, const struct fill_task *fill, uint64_t *ticket) {
    uint64_t bytes = (uint64_t)fill->width * fill->element_bytes * fill->rows;
    if (bytes == 0) {
        *ticket = queue_newest(stream->queue);
        return CUDA_SUCCESS;
    }
    if (!driver->model && !driver->reservations) {
        if (driver->data)
            fill_all(fill);
        return CUDA_SUCCESS;
    }
    struct effect effect = {.work = true};
    if (driver->data) {
        struct fill_task *own = malloc(sizeof *own);
        if (!own)
            return CUDA_ERROR_OUT_OF_MEMORY;
        *own = *fill;
        effect.run = carry_out;
        effect.data = own;
    }
    uint64_t extent = (fill->rows - 1) * fill->pitch + fill->width * fill->element_bytes;
    struct touch touch = {0};
    driver_lock();
    memory_touch(&touch, fill->address, bytes);
    reach_add(&effect.reach, fill->address, extent, stream->context->gpu, REACH_WRITES);
    driver_unlock();
    effect.eager = effect.run || effect.reach;
    struct operation operation = {.kind = OPERATION_WORK, .engine = ENGINE_COMPUTE};
    if (effect.reach) /* even if there is no memory yet */
        touch.plain_bytes = bytes;
    operation.amount = (uint64_t)((double)touch.plain_bytes * 1e9 /
                                  (double)gpu_profile(stream->context->gpu)->bandwidth);
    *ticket = stream_push(stream, operation, &touch, effect);
    return CUDA_SUCCESS;
}
