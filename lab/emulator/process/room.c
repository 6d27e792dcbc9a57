/* Room on a GPU for memory that cannot be evicted. */
#include "room.h"

#include <errno.h>

#include "../model/residency.h"
#include "../model/scrub.h"

static void wait_for_evictions(uint32_t gpu, const struct room *room) {
    const struct gpu_profile *profile = gpu_profile(gpu);
    if (!driver->model || !room->until)
        return;
    driver_pause(room->evicted / BLOCK_BYTES * profile->evict_ns);
    for (;;) {
        node_lock(driver->node);
        double left = (double)room->until - driver->node->gpus[gpu].out_done;
        node_unlock(driver->node);
        if (left < 1)
            return;
        driver_pause((uint64_t)(left * 1e9 / (double)profile->d2h_bandwidth) + 1);
    }
}

static int take(uint32_t gpu, enum room_for what, uint64_t bytes, struct room *room) {
    switch (what) {
    case ROOM_FOR_PLAIN: return gpu_take_plain(driver->node, driver->slot, gpu, bytes, room);
    case ROOM_FOR_CODE: return gpu_take_code(driver->node, driver->slot, gpu, bytes, room);
    default: return gpu_take_context(driver->node, driver->slot, gpu, room);
    }
}

/* If nothing takes time, the scrubber takes none. */
static uint64_t scrub_wait(struct gpu *gpu, uint64_t bytes) {
    uint64_t ns = scrub_wait_ns(gpu, bytes);
    if (driver->model || !ns)
        return ns;
    gpu->scrubbed_at = 0;
    return 0;
}

CUresult room_take(uint32_t gpu, enum room_for what, uint64_t bytes) {
    struct gpu *of = &driver->node->gpus[gpu];
    struct room room = {0};
    int result;
    if (what == ROOM_FOR_CONTEXT)
        bytes = of->profile.context_bytes;
    node_lock(driver->node);
    uint64_t ns = scrub_wait(of, bytes);
    if (ns) {
        node_unlock(driver->node);
        driver_pause(ns); /* another process may take the room meanwhile */
        node_lock(driver->node);
        result = gpu_clean_bytes(of) >= bytes ? take(gpu, what, bytes, &room) : -ENOMEM;
    } else {
        result = take(gpu, what, bytes, &room);
    }
    node_unlock(driver->node);
    wait_for_evictions(gpu, &room);
    return result < 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

void room_give_plain(uint32_t gpu, uint64_t bytes) {
    node_lock(driver->node);
    gpu_give_plain(driver->node, driver->slot, gpu, bytes);
    node_unlock(driver->node);
}
