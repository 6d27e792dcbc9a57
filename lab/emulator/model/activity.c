/* The lists of queues that have work, per GPU. */
#include "activity.h"

#include <stddef.h>

void activate(struct node *node, uint32_t slot, uint32_t index) {
    struct queue *queue = &node->slots[slot].queues[index];
    struct gpu *gpu = &node->gpus[queue->gpu];
    if (queue->active || gpu->active_count == sizeof gpu->active / sizeof gpu->active[0])
        return;
    gpu->active[gpu->active_count] =
        (struct active_queue){.slot = (uint16_t)slot, .queue = (uint16_t)index};
    gpu->active_count++;
    queue->active = 1;
}

void deactivate(struct node *node, struct gpu *gpu, uint32_t position) {
    struct active_queue gone = gpu->active[position];
    node->slots[gone.slot].queues[gone.queue].active = 0;
    gpu->active[position] = gpu->active[gpu->active_count - 1];
    gpu->active_count--;
}

static uint32_t count_in_queue(const struct queue *queue) {
    uint32_t count = 0;
    for (uint64_t i = queue->completed; i < queue->submitted; i++)
        count += queue->operations[i % QUEUE_SLOTS].across;
    return count;
}

uint32_t count_waits_across(const struct node *node) {
    uint32_t count = 0;
    for (uint32_t g = 0; g < node->profile.gpu_count; g++) {
        const struct gpu *gpu = &node->gpus[g];
        for (uint32_t i = 0; i < gpu->active_count; i++) {
            const struct slot *slot = &node->slots[gpu->active[i].slot];
            count += count_in_queue(&slot->queues[gpu->active[i].queue]);
        }
    }
    return count;
}
