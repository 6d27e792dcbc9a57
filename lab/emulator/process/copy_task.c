/* A copy as work for the model: its direction, its cost, and the bytes themselves. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "reach.h"
#include "reservation.h"
#include "task.h"

static uint64_t bytes_of(const struct copy_task *copy) {
    return (uint64_t)copy->width * copy->rows * copy->layers;
}

static uint64_t address_at(const struct copy_side *side, size_t layer, size_t row) {
    return side->address + (layer * side->height + row) * side->pitch;
}

/* The bytes from an address on that are in one piece. */
static size_t piece_at(uint64_t address, size_t wanted) {
    const struct allocation *allocation = memory_find(address);
    if (!allocation)
        return wanted;
    uint64_t rest = allocation->bytes - (address - allocation->address);
    return rest < wanted ? rest : wanted;
}

/* A row may span several adjacent mappings of physical memory. */
static void copy_row(uint64_t to, uint64_t from, size_t bytes) {
    while (bytes) {
        driver_lock();
        size_t piece = piece_at(to, piece_at(from, bytes));
        void *target = memory_resolve(to);
        const void *source = memory_resolve(from);
        driver_unlock(); /* a large copy must not hold up other threads */
        if (target && source)
            memmove(target, source, piece);
        to += piece;
        from += piece;
        bytes -= piece;
    }
}

static void copy_bytes(const struct copy_task *copy) {
    for (size_t layer = 0; layer < copy->layers; layer++)
        for (size_t row = 0; row < copy->rows; row++)
            copy_row(address_at(&copy->to, layer, row), address_at(&copy->from, layer, row),
                     copy->width);
}

static void carry_out(void *data, uint64_t finished_at) {
    (void)finished_at;
    copy_bytes(data);
    free(data);
}

enum side_kind { SIDE_HOST, SIDE_DEVICE, SIDE_MANAGED };

static enum side_kind kind_of(uint64_t address, uint32_t *gpu) {
    const struct allocation *allocation = memory_find(address);
    if (!allocation) /* reserved: it may be mapped before the copy runs */
        return reservation_find(address) ? SIDE_DEVICE : SIDE_HOST;
    if (allocation->kind == MEMORY_HOST || allocation->kind == MEMORY_REGISTERED)
        return SIDE_HOST;
    *gpu = allocation->gpu;
    return allocation->kind == MEMORY_MANAGED ? SIDE_MANAGED : SIDE_DEVICE;
}

/* A copy from host to host by the CPU takes no GPU time. Copies inside a GPU read and write its
 * memory. Copies between GPUs leave through the bus of the GPU whose stream it is. */
static void plan(const struct copy_task *copy, uint32_t gpu, struct operation *operation,
                 struct touch *touch) {
    const struct gpu_profile *profile = gpu_profile(gpu);
    uint32_t from_gpu = gpu, to_gpu = gpu;
    driver_lock();
    enum side_kind from = kind_of(copy->from.address, &from_gpu);
    enum side_kind to = kind_of(copy->to.address, &to_gpu);
    uint64_t bytes = bytes_of(copy);
    operation->amount = bytes;
    if (from == SIDE_MANAGED)
        memory_touch(touch, copy->from.address, bytes);
    if (to == SIDE_MANAGED)
        memory_touch(touch, copy->to.address, bytes);
    driver_unlock();
    bool between = from == SIDE_DEVICE && to == SIDE_DEVICE && from_gpu != to_gpu;
    if (between) {
        operation->engine = ENGINE_BUS_OUT;
        operation->amount = (uint64_t)((double)bytes * (double)profile->d2h_bandwidth /
                                       (double)profile->peer_bandwidth);
    } else if (from == SIDE_HOST && to == SIDE_HOST) {
        operation->amount = 0;
    } else if (from == SIDE_HOST) {
        operation->engine = ENGINE_BUS_IN;
        operation->flags |= OPERATION_OVERWRITES;
    } else if (to == SIDE_HOST) {
        operation->engine = ENGINE_BUS_OUT;
        operation->flags |= OPERATION_READS_ONLY;
    } else {
        operation->engine = ENGINE_COMPUTE;
        operation->amount = (uint64_t)(2.0 * (double)bytes * 1e9 / (double)profile->bandwidth);
        operation->flags |= OPERATION_FIXED_COST | OPERATION_OVERWRITES;
    }
}

static void reach_side(struct reach **reach, const struct copy_task *copy,
                       const struct copy_side *side, uint32_t gpu, enum reach_access access) {
    uint64_t last = address_at(side, copy->layers - 1, copy->rows - 1) + copy->width;
    reach_add(reach, side->address, last - side->address, side->reacher ? side->reacher - 1 : gpu,
              access);
}

static CUresult effect_of(const struct copy_task *copy, uint32_t gpu, struct effect *out) {
    struct effect effect = {.work = true};
    if (driver->data) {
        struct copy_task *own = malloc(sizeof *own + (copy->staged ? copy->width : 0));
        if (!own)
            return CUDA_ERROR_OUT_OF_MEMORY;
        *own = *copy;
        if (copy->staged) {
            memcpy(own + 1, (const void *)(uintptr_t)copy->from.address, copy->width);
            own->from.address = (uint64_t)(uintptr_t)(own + 1);
        }
        effect.run = carry_out;
        effect.data = own;
        effect.eager = true;
    }
    if (driver->reservations) {
        driver_lock();
        reach_side(&effect.reach, copy, &copy->from, gpu, REACH_READS);
        reach_side(&effect.reach, copy, &copy->to, gpu, REACH_WRITES);
        driver_unlock();
    }
    effect.eager |= effect.reach != NULL;
    *out = effect;
    return CUDA_SUCCESS;
}

CUresult queue_copy(struct CUstream_st *stream, const struct copy_task *copy, uint64_t *ticket) {
    if (bytes_of(copy) == 0) {
        *ticket = queue_newest(stream->queue);
        return CUDA_SUCCESS;
    }
    if (!driver->model && !driver->reservations) {
        if (driver->data)
            copy_bytes(copy);
        return CUDA_SUCCESS;
    }
    struct effect effect;
    CUresult result = effect_of(copy, stream->context->gpu, &effect);
    if (result != CUDA_SUCCESS)
        return result;
    struct operation operation = {.kind = OPERATION_WORK};
    struct touch touch = {0};
    if (driver->model)
        plan(copy, stream->context->gpu, &operation, &touch);
    *ticket = stream_push(stream, operation, &touch, effect);
    return CUDA_SUCCESS;
}
