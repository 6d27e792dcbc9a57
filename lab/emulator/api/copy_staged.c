/* Copies of memory that the driver does not know. A driver makes them in the calling thread, in
 * pieces, through a page-locked buffer of its own. Work that another thread queues meanwhile runs
 * between two pieces.
 *
 * Documented: to the device the call returns when everything is in the buffer, and the last of it
 * may still be on its way; from the device, when everything is there. The CPU copies one piece
 * while the bus carries another, and is the slower of the two: its rate is assumed
 * (bus.pageable_gb_per_s). Managed memory and boxes go at the speed of the bus, and are waited for.
 *
 * Real pieces are a few megabytes. Here a large copy has a few pieces of any size: at high speed,
 * waking up for more pieces would take longer than the pieces do. Only two pieces have their real
 * size: the one left in the buffer at the end, and the one that arrives before the CPU can begin.
 */
#include "copy.h"

#include "../process/toll.h"
#include "capture.h"

enum { MOST_PIECES = 8, IN_FLIGHT = 2 };
static const size_t least_piece = (size_t)32 << 20, buffer_bytes = (size_t)4 << 20;

/* Boxes stay in one piece. */
static size_t piece_bytes(const struct copy_task *copy) {
    size_t piece = copy->width / MOST_PIECES + 1;
    if (copy->rows > 1 || copy->layers > 1)
        return copy->width;
    return piece < least_piece ? least_piece : piece;
}

static struct copy_task piece_of(const struct copy_task *copy, size_t at, size_t bytes) {
    struct copy_task piece = *copy;
    piece.width = copy->width - at < bytes ? copy->width - at : bytes;
    piece.from.address += at;
    piece.to.address += at;
    return piece;
}

/* The CPU's part of a piece. */
static void copy_by_cpu(const struct CUstream_st *stream, size_t bytes) {
    double rate = (double)gpu_profile(stream->context->gpu)->pageable_bandwidth;
    toll_of_own((uint64_t)((double)bytes * 1e9 / rate));
}

static CUresult queue_piece(struct CUstream_st *stream, const struct copy_task *piece,
                            uint64_t *ticket) {
    struct task task = {.kind = TASK_COPY, .copy = *piece};
    return task_queue(stream, &task, ticket);
}

/* Keeps two pieces under way, and waits for all of them. */
static CUresult copy_in_pieces(struct CUstream_st *stream, const struct copy_task *copy,
                               bool by_cpu) {
    uint64_t tickets[IN_FLIGHT] = {0};
    size_t bytes = piece_bytes(copy);
    unsigned count = 0;
    CUresult result = CUDA_SUCCESS;
    for (size_t at = 0; at < copy->width && result == CUDA_SUCCESS; at += bytes, count++) {
        struct copy_task piece = piece_of(copy, at, bytes);
        if (by_cpu)
            copy_by_cpu(stream, piece.width);
        queue_wait(stream->queue, tickets[count % IN_FLIGHT]);
        result = queue_piece(stream, &piece, &tickets[count % IN_FLIGHT]);
    }
    for (unsigned i = 0; i < IN_FLIGHT; i++)
        queue_wait(stream->queue, tickets[i]);
    return result == CUDA_SUCCESS ? stream->context->failed : result;
}

/* The GPU finishes the last bytes, those that fit into the buffer. */
static CUresult copy_to_device(struct CUstream_st *stream, const struct copy_task *copy) {
    size_t waited = copy->width > buffer_bytes ? copy->width - buffer_bytes : 0;
    struct copy_task most = piece_of(copy, 0, waited), rest = piece_of(copy, waited, buffer_bytes);
    queue_wait(stream->queue, queue_newest(stream->queue)); /* documented, too */
    CUresult result = waited ? copy_in_pieces(stream, &most, true) : stream->context->failed;
    if (result != CUDA_SUCCESS)
        return result;
    copy_by_cpu(stream, rest.width);
    rest.staged = true;
    return queue_piece(stream, &rest, NULL);
}

/* One piece crosses the bus while the CPU copies the one before it. */
static CUresult copy_from_device(struct CUstream_st *stream, const struct copy_task *copy) {
    uint64_t ticket = 0;
    size_t at = 0, bytes = buffer_bytes, before = 0;
    CUresult result = CUDA_SUCCESS;
    while (at < copy->width && result == CUDA_SUCCESS) {
        struct copy_task piece = piece_of(copy, at, bytes);
        result = queue_piece(stream, &piece, &ticket);
        copy_by_cpu(stream, before);
        queue_wait(stream->queue, ticket);
        at += piece.width;
        before = piece.width;
        bytes = piece_bytes(copy);
    }
    copy_by_cpu(stream, before);
    return result == CUDA_SUCCESS ? stream->context->failed : result;
}

CUresult copy_staged(struct CUstream_st *stream, const struct copy_task *copy,
                     const struct copy_nature *nature) {
    CUresult result = capture_forbids(stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (nature->to_device)
        return copy_to_device(stream, copy);
    if (nature->from_device)
        return copy_from_device(stream, copy);
    return copy_in_pieces(stream, copy, false);
}
