/* Working out again what is derived from what is primary (see state.h). */
#include "recover.h"

#include <string.h>

#include "activity.h"

static void recount_range(struct slot *slot, struct range *range) {
    memset(range->resident, 0, sizeof range->resident);
    if (!range->in_use)
        return;
    for (uint32_t i = 0; i < range->blocks; i++) {
        uint8_t location = slot->blocks[range->first_block + i].location;
        if (location >= LOCATION_GPU)
            range->resident[location - LOCATION_GPU]++;
    }
}

static void recount_slot(struct slot *slot, uint32_t gpu_count) {
    for (uint32_t g = 0; g < gpu_count; g++)
        slot->accounts[g].resident_blocks = 0;
    for (uint32_t i = 0; i < slot->range_limit; i++) {
        recount_range(slot, &slot->ranges[i]);
        for (uint32_t g = 0; g < gpu_count; g++)
            slot->accounts[g].resident_blocks += slot->ranges[i].resident[g];
    }
}

static void recount_gpu(struct node *node, uint32_t g) {
    struct gpu *gpu = &node->gpus[g];
    gpu->plain_bytes = gpu->context_bytes = 0;
    gpu->resident_blocks = 0;
    for (uint32_t i = 0; i < node->slot_limit; i++) {
        const struct account *account = &node->slots[i].accounts[g];
        gpu->plain_bytes += account->plain_bytes;
        gpu->context_bytes += account->context_bytes;
        gpu->resident_blocks += account->resident_blocks;
    }
}

static void rebuild_activity(struct node *node) {
    for (uint32_t g = 0; g < node->profile.gpu_count; g++)
        node->gpus[g].active_count = 0;
    for (uint32_t s = 0; s < node->slot_limit; s++) {
        struct slot *slot = &node->slots[s];
        for (uint32_t q = 0; q < MAX_QUEUES && q < slot->queue_limit; q++) {
            slot->queues[q].active = 0;
            if (slot->in_use && slot->queues[q].completed < slot->queues[q].submitted)
                activate(node, s, q);
        }
    }
    node->waits_across = count_waits_across(node);
}

void recount(struct node *node) {
    for (uint32_t i = 0; i < node->slot_limit; i++)
        if (node->slots[i].in_use)
            recount_slot(&node->slots[i], node->profile.gpu_count);
    for (uint32_t g = 0; g < node->profile.gpu_count; g++)
        recount_gpu(node, g);
    rebuild_activity(node);
}

void node_recover(struct node *node) {
    node->recoveries++;
    /* A slot taken but not yet marked in use lies beyond the limit or is simply free. */
    for (uint32_t i = 0; i < MAX_PROCESSES; i++)
        if (node->slots[i].in_use && i >= node->slot_limit)
            node->slot_limit = i + 1;
    recount(node);
}

/* Is every queue with work in its GPU's list, once, and no other? */
static bool activity_differs(const struct node *node) {
    uint32_t pending = 0, listed = 0;
    for (uint32_t s = 0; s < node->slot_limit; s++) {
        const struct slot *slot = &node->slots[s];
        for (uint32_t q = 0; slot->in_use && q < slot->queue_limit; q++) {
            bool has_work = slot->queues[q].completed < slot->queues[q].submitted;
            if (has_work != slot->queues[q].active)
                return true;
            pending += has_work;
        }
    }
    for (uint32_t g = 0; g < node->profile.gpu_count; g++) {
        const struct gpu *gpu = &node->gpus[g];
        listed += gpu->active_count;
        for (uint32_t i = 0; i < gpu->active_count; i++)
            if (!node->slots[gpu->active[i].slot].queues[gpu->active[i].queue].active)
                return true;
    }
    return pending != listed;
}

/* One number of a GPU that is derived, by name. */
static const char *gpu_difference(struct node *node, uint32_t g) {
    struct gpu *gpu = &node->gpus[g];
    uint64_t plain = gpu->plain_bytes, contexts = gpu->context_bytes;
    uint32_t resident = gpu->resident_blocks;
    recount_gpu(node, g);
    if (plain != gpu->plain_bytes)
        return "plain_bytes of a GPU";
    if (contexts != gpu->context_bytes)
        return "context_bytes of a GPU";
    return resident != gpu->resident_blocks ? "resident_blocks of a GPU" : NULL;
}

static const char *slot_difference(struct slot *slot, uint32_t gpu_count) {
    uint32_t before[MAX_GPUS];
    for (uint32_t i = 0; i < slot->range_limit; i++) {
        struct range *range = &slot->ranges[i];
        memcpy(before, range->resident, sizeof before);
        recount_range(slot, range);
        if (memcmp(before, range->resident, sizeof before) != 0)
            return "residents of a range";
    }
    for (uint32_t g = 0; g < gpu_count; g++)
        before[g] = slot->accounts[g].resident_blocks;
    recount_slot(slot, gpu_count);
    for (uint32_t g = 0; g < gpu_count; g++)
        if (before[g] != slot->accounts[g].resident_blocks)
            return "resident_blocks of a process";
    return NULL;
}

const char *node_difference(struct node *node) {
    const char *difference = NULL;
    for (uint32_t s = 0; s < node->slot_limit && !difference; s++)
        if (node->slots[s].in_use)
            difference = slot_difference(&node->slots[s], node->profile.gpu_count);
    for (uint32_t g = 0; g < node->profile.gpu_count && !difference; g++)
        difference = gpu_difference(node, g);
    if (!difference && activity_differs(node))
        difference = "lists of active queues";
    if (!difference && node->waits_across != count_waits_across(node))
        difference = "waits_across";
    return difference;
}
