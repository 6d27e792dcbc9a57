/* Waiting for memory that has to leave the GPU first. */
#include "room.h"

void room_wait(uint32_t gpu, const struct room *room) {
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
