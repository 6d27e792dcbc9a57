#include "lane.h"

#include <errno.h>
#include <string.h>

#include "process/contexts.h"
#include "process/devices.h"

/* Blocking: a waiting thread would otherwise spin on a processor that the program needs. */
static bool make_events(struct lane *lane) {
    const unsigned flags = CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC;
    for (int i = 0; i < LANE_CHUNKS; i++)
        if (real.cuEventCreate(&lane->chunks[i].event, flags) != CUDA_SUCCESS) {
            lane->chunks[i].event = NULL;
            return false;
        }
    return true;
}

static void undo(struct lane *lane) {
    CUcontext context;
    for (int i = 0; i < LANE_CHUNKS; i++)
        if (lane->chunks[i].event)
            real.cuEventDestroy_v2(lane->chunks[i].event);
    if (lane->stream)
        real.cuStreamDestroy_v2(lane->stream);
    real.cuCtxPopCurrent_v2(&context);
    memset(lane, 0, sizeof *lane);
}

static bool open_in(struct lane *lane, const struct context *context) {
    if (real.cuCtxPushCurrent_v2(context->handle) != CUDA_SUCCESS)
        return false;
    lane->context = context->id;
    if (real.cuStreamCreate(&lane->stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
        lane->stream = NULL;
    if (lane->stream && make_events(lane))
        return true;
    undo(lane);
    return false;
}

/* A context stays while lanes are open, but the list of contexts may change. A failed context
 * answers everything with its error; another may work. */
int lane_open(struct lane *lane, struct device *device, CUdevice target) {
    bool is_open = false, is_any = false;
    memset(lane, 0, sizeof *lane);
    contexts_lock();
    for (const struct context *one = contexts_first(); one && !is_open; one = one->next) {
        if (one->device != device)
            continue;
        is_any = true;
        is_open = open_in(lane, one);
    }
    contexts_unlock();
    lane->target = target;
    return is_open ? 0 : is_any ? -EIO : -ENODEV;
}

void lane_close(struct lane *lane) {
    undo(lane);
}

static struct lane_chunk *next_chunk(struct lane *lane) {
    return &lane->chunks[(lane->oldest + lane->count) % LANE_CHUNKS];
}

struct lane_chunk *lane_begin(struct lane *lane) {
    struct lane_chunk *chunk = next_chunk(lane);
    chunk->count = 0;
    chunk->bytes = chunk->moved_bytes = 0;
    return chunk;
}

/* Every driver has the first form of the call, so far. */
static CUresult prefetch(const struct lane *lane, const struct residency_piece *piece) {
    CUresult result =
        real.cuMemPrefetchAsync(piece->address, piece->bytes, lane->target, lane->stream);
    if (result != CUDA_ERROR_NOT_FOUND)
        return result;
    CUmemLocation place = {.type = CU_MEM_LOCATION_TYPE_HOST};
    if (lane->target != CU_DEVICE_CPU)
        place = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = lane->target};
    return real.cuMemPrefetchAsync_v2(piece->address, piece->bytes, place, 0, lane->stream);
}

int lane_add(struct lane *lane, const struct residency_piece *piece) {
    if (prefetch(lane, piece) != CUDA_SUCCESS)
        return -EINVAL;
    struct lane_chunk *chunk = next_chunk(lane);
    chunk->pieces[chunk->count++] = *piece;
    chunk->bytes += piece->bytes;
    chunk->moved_bytes += piece->crosses ? piece->bytes : 0;
    return 0;
}

/* Without the event it could not be known later that the chunk has arrived. */
void lane_send(struct lane *lane) {
    struct lane_chunk *chunk = next_chunk(lane);
    if (real.cuEventRecord(chunk->event, lane->stream) != CUDA_SUCCESS)
        real.cuStreamSynchronize(lane->stream);
    lane->count++;
}

bool lane_is_through(const struct lane *lane) {
    return real.cuEventQuery(lane->chunks[lane->oldest].event) != CUDA_ERROR_NOT_READY;
}

const struct lane_chunk *lane_wait(struct lane *lane) {
    struct lane_chunk *chunk = &lane->chunks[lane->oldest];
    real.cuEventSynchronize(chunk->event);
    lane->oldest = (lane->oldest + 1) % LANE_CHUNKS;
    lane->count--;
    return chunk;
}
