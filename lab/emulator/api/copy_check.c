/* Rules for every copy: its sides must exist, and some copies are waited for. */
#include "capture.h"
#include "copy.h"

#include "../process/memory.h"
#include "../process/reservation.h"

struct copy_task copy_line(uint64_t to, uint64_t from, size_t bytes) {
    struct copy_task copy = {.width = bytes, .rows = 1, .layers = 1};
    copy.from = (struct copy_side){.address = from, .pitch = bytes, .height = 1};
    copy.to = (struct copy_side){.address = to, .pitch = bytes, .height = 1};
    return copy;
}

/* The bytes from a side's first to its last; false if no memory is that large. */
static bool extent(const struct copy_task *copy, const struct copy_side *side, uint64_t *out) {
    uint64_t rows;
    return !__builtin_mul_overflow((uint64_t)(copy->layers - 1), side->height, &rows) &&
           !__builtin_add_overflow(rows, copy->rows - 1, &rows) &&
           !__builtin_mul_overflow(rows, side->pitch, out) &&
           !__builtin_add_overflow(*out, copy->width, out) && side->address + *out > side->address;
}

static CUresult check_side(const struct copy_task *copy, const struct copy_side *side,
                           enum side_claim claim, struct copy_nature *nature) {
    uint64_t bytes;
    REQUIRE(side->address && extent(copy, side, &bytes), CUDA_ERROR_INVALID_VALUE);
    const struct allocation *allocation = memory_find(side->address);
    if (allocation) {
        bool device = allocation->kind == MEMORY_PLAIN || allocation->kind == MEMORY_MAPPED;
        nature->device_only &= device && !allocation->sync_memops;
        bool covered = memory_covers(side->address, bytes) ||
                       (allocation->guarded && reservation_covers(side->address, bytes));
        return covered ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
    if (reservation_covers(side->address, bytes)) /* the GPU will find the memory, or fail */
        return CUDA_SUCCESS;
    nature->device_only = false;
    nature->pageable = true;
    bool own = claim != SIDE_IS_DEVICE && !memory_is_device_address(side->address);
    return own ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static bool is_device_memory(uint64_t address) {
    const struct allocation *allocation = memory_find(address);
    return allocation ? allocation->kind == MEMORY_PLAIN || allocation->kind == MEMORY_MAPPED
                      : reservation_find(address) != NULL;
}

CUresult copy_check(const struct copy_task *copy, struct copy_claims claims,
                    struct copy_nature *nature) {
    *nature = (struct copy_nature){.device_only = true};
    if (!copy->width || !copy->rows || !copy->layers)
        return CUDA_SUCCESS;
    driver_lock();
    CUresult result = check_side(copy, &copy->from, claims.from, nature);
    if (result == CUDA_SUCCESS)
        result = check_side(copy, &copy->to, claims.to, nature);
    if (nature->pageable && copy->rows == 1 && copy->layers == 1) {
        nature->to_device = is_device_memory(copy->to.address);
        nature->from_device = is_device_memory(copy->from.address);
    }
    driver_unlock();
    return result;
}

/* As documented: synchronous calls wait, except for copies between device memories; asynchronous
 * ones do not, except for pageable memory, which the driver has to stage. */
CUresult copy_do(CUstream handle, enum copy_mode mode, const struct copy_task *copy,
                 struct copy_claims claims) {
    struct CUstream_st *stream;
    struct copy_nature nature;
    CUresult result = stream_resolve(handle, &stream);
    if (result == CUDA_SUCCESS)
        result = copy_check(copy, claims, &nature);
    if (result != CUDA_SUCCESS || !copy->width || !copy->rows || !copy->layers)
        return result;
    struct task task = {.kind = TASK_COPY, .copy = *copy};
    if (mode == COPY_SYNC && nature.device_only) {
        result = capture_forbids(stream);
        return result == CUDA_SUCCESS ? task_queue(stream, &task, NULL) : result;
    }
    if (nature.pageable && !(mode == COPY_ASYNC && stream->capture))
        return copy_staged(stream, copy, &nature);
    if (mode == COPY_SYNC)
        return stream_do_and_wait(stream, &task);
    return stream_do(stream, &task, NULL);
}
