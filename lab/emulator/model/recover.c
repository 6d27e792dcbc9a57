/* Recomputes derived state from primary state (see state.h). */
#include "recover.h"

#include "activity.h"
#include "chunks.h"

/* The derived state of one process: for each GPU, and for the host. */
struct tally {
    uint32_t resident[MAX_GPUS], chunks[MAX_GPUS];
    uint32_t host_blocks;
};

static struct tally count_slot(const struct slot *slot, uint32_t gpu_count) {
    struct tally tally = {0};
    for (uint32_t b = 0; slot->in_use && b < slot->block_limit; b++) {
        uint8_t location = slot->blocks[b].location;
        if (location >= LOCATION_GPU)
            tally.resident[location - LOCATION_GPU]++;
        tally.host_blocks += (slot->blocks[b].host & HOST_PAGES) != 0;
        for (uint32_t g = 0; g < gpu_count; g++)
            tally.chunks[g] += slot->chunks[g][b] != 0;
    }
    return tally;
}

static void recount_slot(struct slot *slot, uint32_t gpu_count) {
    struct tally tally = count_slot(slot, gpu_count);
    slot->host_blocks = tally.host_blocks;
    for (uint32_t g = 0; g < gpu_count; g++) {
        slot->accounts[g].resident_blocks = tally.resident[g];
        slot->accounts[g].chunks = tally.chunks[g];
    }
}

static void recount_gpu(struct node *node, uint32_t g) {
    struct gpu *gpu = &node->gpus[g];
    gpu->plain_bytes = gpu->context_bytes = 0;
    gpu->resident_blocks = gpu->chunks = 0;
    for (uint32_t i = 0; i < node->slot_limit; i++) {
        const struct account *account = &node->slots[i].accounts[g];
        gpu->plain_bytes += account->plain_bytes;
        gpu->context_bytes += account->context_bytes;
        gpu->resident_blocks += account->resident_blocks;
        gpu->chunks += account->chunks;
    }
    if (!gpu->context_bytes && !gpu->chunks) /* as in gpu_give_context() */
        gpu->surplus = 0;
}

static void recount_host(struct node *node) {
    node->host_blocks = 0;
    for (uint32_t i = 0; i < node->slot_limit; i++)
        if (node->slots[i].in_use)
            node->host_blocks += node->slots[i].host_blocks;
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
    recount_host(node);
    rebuild_activity(node);
}

void node_recover(struct node *node) {
    node->recoveries++;
    /* A slot taken but not yet marked in use lies beyond the limit or is simply free. */
    for (uint32_t i = 0; i < MAX_PROCESSES; i++)
        if (node->slots[i].in_use && i >= node->slot_limit)
            node->slot_limit = i + 1;
    recount(node);
    chunks_rebuild(node);
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

/* The name of a derived number of a GPU that is wrong, or NULL. */
static const char *gpu_difference(struct node *node, uint32_t g) {
    struct gpu *gpu = &node->gpus[g];
    uint64_t plain = gpu->plain_bytes, contexts = gpu->context_bytes;
    uint32_t resident = gpu->resident_blocks, chunks = gpu->chunks, surplus = gpu->surplus;
    recount_gpu(node, g);
    gpu->surplus = surplus;
    if (plain != gpu->plain_bytes)
        return "plain_bytes of a GPU";
    if (contexts != gpu->context_bytes)
        return "context_bytes of a GPU";
    if (chunks != gpu->chunks)
        return "chunks of a GPU";
    return resident != gpu->resident_blocks ? "resident_blocks of a GPU" : NULL;
}

static const char *slot_difference(const struct slot *slot, uint32_t gpu_count) {
    struct tally tally = count_slot(slot, gpu_count);
    if (slot->host_blocks != tally.host_blocks)
        return "host_blocks of a process";
    for (uint32_t g = 0; g < gpu_count; g++) {
        if (slot->accounts[g].resident_blocks != tally.resident[g])
            return "resident_blocks of a process";
        if (slot->accounts[g].chunks != tally.chunks[g])
            return "chunks of a process";
    }
    return NULL;
}

static const char *host_difference(struct node *node) {
    uint32_t before = node->host_blocks;
    recount_host(node);
    return before != node->host_blocks ? "host_blocks" : NULL;
}

/* Everything on a GPU fits, unless something was counted twice. */
static const char *room_difference(const struct gpu *gpu) {
    uint64_t held = gpu->plain_bytes + gpu->context_bytes +
                    ((uint64_t)gpu->chunks + gpu->surplus) * BLOCK_BYTES;
    return held > gpu->profile.usable_bytes ? "more memory on a GPU than fits" : NULL;
}

const char *node_difference(struct node *node) {
    const char *difference = NULL;
    for (uint32_t s = 0; s < node->slot_limit && !difference; s++)
        if (node->slots[s].in_use)
            difference = slot_difference(&node->slots[s], node->profile.gpu_count);
    for (uint32_t g = 0; g < node->profile.gpu_count && !difference; g++) {
        difference = gpu_difference(node, g);
        if (!difference)
            difference = room_difference(&node->gpus[g]);
    }
    if (!difference)
        difference = host_difference(node);
    if (!difference && chunks_differ(node))
        difference = "lists of chunks";
    if (!difference && activity_differs(node))
        difference = "lists of active queues";
    if (!difference && node->waits_across != count_waits_across(node))
        difference = "waits_across";
    return difference;
}
