/* memset in all its forms. */
#include "fill.h"

#include "../process/memory.h"
#include "../process/reservation.h"
#include "capture.h"

static bool is_aligned(const struct fill_task *fill) {
    unsigned bytes = fill->element_bytes;
    return (bytes == 1 || bytes == 2 || bytes == 4) && fill->address % bytes == 0 &&
           (fill->rows <= 1 || (fill->pitch % bytes == 0 && fill->pitch / bytes >= fill->width));
}

static bool extent(const struct fill_task *fill, uint64_t *out) {
    uint64_t row;
    return !__builtin_mul_overflow(fill->width, (uint64_t)fill->element_bytes, &row) &&
           !__builtin_mul_overflow((uint64_t)(fill->rows - 1), fill->pitch, out) &&
           !__builtin_add_overflow(*out, row, out);
}

CUresult fill_check(const struct fill_task *fill, bool *on_device) {
    uint64_t bytes;
    if (on_device)
        *on_device = true;
    REQUIRE(is_aligned(fill), CUDA_ERROR_INVALID_VALUE);
    if (!fill->width || !fill->rows)
        return CUDA_SUCCESS;
    REQUIRE(extent(fill, &bytes), CUDA_ERROR_INVALID_VALUE);
    driver_lock();
    const struct allocation *allocation = memory_find(fill->address);
    bool covered = (allocation && memory_covers(fill->address, bytes)) ||
                   reservation_covers(fill->address, bytes);
    if (allocation && covered && on_device)
        *on_device = (allocation->kind == MEMORY_PLAIN || allocation->kind == MEMORY_MAPPED) &&
                     !allocation->sync_memops;
    driver_unlock();
    return covered ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

enum fill_mode { FILL_SYNC, FILL_ASYNC };

/* As documented: even the synchronous forms return at once when the memory is the GPU's own. */
static CUresult fill(CUstream handle, enum fill_mode mode, const struct fill_task *wanted) {
    REQUIRE_CONTEXT(context);
    (void)context;
    struct CUstream_st *stream;
    bool on_device;
    CUresult result = stream_resolve(handle, &stream);
    if (result == CUDA_SUCCESS)
        result = fill_check(wanted, &on_device);
    if (result != CUDA_SUCCESS || !wanted->width || !wanted->rows)
        return result;
    struct task task = {.kind = TASK_FILL, .fill = *wanted};
    if (mode == FILL_ASYNC)
        return stream_do(stream, &task, NULL);
    if (!on_device)
        return stream_do_and_wait(stream, &task);
    result = capture_forbids(stream);
    return result == CUDA_SUCCESS ? task_queue(stream, &task, NULL) : result;
}

static struct fill_task line(uint64_t address, uint32_t value, unsigned element, size_t count) {
    return (struct fill_task){.address = address,
                              .pitch = count * element,
                              .width = count,
                              .rows = 1,
                              .element_bytes = element,
                              .value = value};
}

static struct fill_task plane(uint64_t address, size_t pitch, uint32_t value, unsigned element,
                              size_t width, size_t rows) {
    return (struct fill_task){.address = address,
                              .pitch = pitch,
                              .width = width,
                              .rows = rows,
                              .element_bytes = element,
                              .value = value};
}

CUresult cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N) {
    struct fill_task wanted = line(dstDevice, uc, 1, N);
    return fill(NULL, FILL_SYNC, &wanted);
}

CUresult cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N) {
    struct fill_task wanted = line(dstDevice, us, 2, N);
    return fill(NULL, FILL_SYNC, &wanted);
}

CUresult cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N) {
    struct fill_task wanted = line(dstDevice, ui, 4, N);
    return fill(NULL, FILL_SYNC, &wanted);
}

CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream) {
    struct fill_task wanted = line(dstDevice, uc, 1, N);
    return fill(hStream, FILL_ASYNC, &wanted);
}

CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream) {
    struct fill_task wanted = line(dstDevice, us, 2, N);
    return fill(hStream, FILL_ASYNC, &wanted);
}

CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream) {
    struct fill_task wanted = line(dstDevice, ui, 4, N);
    return fill(hStream, FILL_ASYNC, &wanted);
}

CUresult cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                         size_t Height) {
    struct fill_task wanted = plane(dstDevice, dstPitch, uc, 1, Width, Height);
    return fill(NULL, FILL_SYNC, &wanted);
}

CUresult cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                          size_t Height) {
    struct fill_task wanted = plane(dstDevice, dstPitch, us, 2, Width, Height);
    return fill(NULL, FILL_SYNC, &wanted);
}

CUresult cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                          size_t Height) {
    struct fill_task wanted = plane(dstDevice, dstPitch, ui, 4, Width, Height);
    return fill(NULL, FILL_SYNC, &wanted);
}

CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
                           size_t Height, CUstream hStream) {
    struct fill_task wanted = plane(dstDevice, dstPitch, uc, 1, Width, Height);
    return fill(hStream, FILL_ASYNC, &wanted);
}

CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
                            size_t Height, CUstream hStream) {
    struct fill_task wanted = plane(dstDevice, dstPitch, us, 2, Width, Height);
    return fill(hStream, FILL_ASYNC, &wanted);
}

CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
                            size_t Height, CUstream hStream) {
    struct fill_task wanted = plane(dstDevice, dstPitch, ui, 4, Width, Height);
    return fill(hStream, FILL_ASYNC, &wanted);
}
