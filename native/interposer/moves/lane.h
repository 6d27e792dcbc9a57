/* A way for memory between the GPU and the host: a stream of its own in one context of the device,
 * with a few chunks in flight, so that the bus is never idle. For one thread, which has the context
 * pushed while the lane is open. Contexts are not destroyed before lanes are closed, see
 * mover.h. */
#ifndef NVSHARE_LANE_H
#define NVSHARE_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "lookup/driver.h"
#include "residency.h"

struct device;

/* Chunks are sized to take this long, once the speed is known. */
#define LANE_CHUNK_FIRST ((uint64_t)32 << 20)
#define LANE_CHUNK_LEAST ((uint64_t)4 << 20)
#define LANE_CHUNK_MOST  ((uint64_t)256 << 20)
#define LANE_CHUNK_NS    ((uint64_t)5000000)

enum {
    LANE_CHUNKS = 3,  /* in flight, on a driver that returns before the work is done */
    LANE_PIECES = 64, /* of a chunk: small allocations go together */
};

struct lane_chunk {
    CUevent event;
    struct residency_piece pieces[LANE_PIECES];
    unsigned count;
    uint64_t bytes;
    uint64_t moved_bytes; /* of these, bytes that have to cross the bus */
};

struct lane {
    uint64_t context; /* the number of its context */
    CUstream stream;
    CUdevice target; /* where everything goes */
    struct lane_chunk chunks[LANE_CHUNKS];
    unsigned oldest, count;
};

/* Opens a lane to a device, or from it to the host with CU_DEVICE_CPU. Returns 0, -ENODEV if there
 * is no context, or -EIO if none works any more. */
int lane_open(struct lane *lane, struct device *device, CUdevice target);

/* Only when nothing is in flight. */
void lane_close(struct lane *lane);

static inline bool lane_is_full(const struct lane *lane) {
    return lane->count == LANE_CHUNKS;
}

/* A chunk is begun, gets pieces, and is sent off. lane_add returns 0, or -EINVAL if the driver will
 * not move the piece: it may have been freed a moment ago. */
struct lane_chunk *lane_begin(struct lane *lane);
int lane_add(struct lane *lane, const struct residency_piece *piece);
void lane_send(struct lane *lane);

/* Whether the oldest chunk is known to have arrived. */
bool lane_is_through(const struct lane *lane);

/* Waits for the oldest chunk, and takes it out. It stays valid until the next lane_send. */
const struct lane_chunk *lane_wait(struct lane *lane);

#endif
