/* Copies of memory that the driver knows nothing of. A driver makes them from the thread that calls, in pieces, by
 * way of a buffer of its own: what another thread queues meanwhile comes between two of them.
 *
 * Real pieces are a few megabytes. Here a large copy has a few pieces, however large they are: at high speed,
 * waking up for more of them would take longer than they do. */
#include "copy.h"

#include "capture.h"

enum { MOST_PIECES = 8, IN_FLIGHT = 2 };
static const size_t least_piece = (size_t)32 << 20;

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

CUresult copy_staged(struct CUstream_st *stream, const struct copy_task *copy) {
    uint64_t tickets[IN_FLIGHT] = {0};
    size_t bytes = piece_bytes(copy);
    unsigned count = 0;
    CUresult result = capture_forbids(stream);
    for (size_t at = 0; at < copy->width && result == CUDA_SUCCESS; at += bytes, count++) {
        struct task task = {.kind = TASK_COPY, .copy = piece_of(copy, at, bytes)};
        queue_wait(stream->queue, tickets[count % IN_FLIGHT]);
        result = task_queue(stream, &task, &tickets[count % IN_FLIGHT]);
    }
    for (unsigned i = 0; i < IN_FLIGHT; i++)
        queue_wait(stream->queue, tickets[i]);
    return result == CUDA_SUCCESS ? stream->context->failed : result;
}
