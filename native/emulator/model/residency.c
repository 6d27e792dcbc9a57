/* Which blocks of managed memory are where, and who leaves when a GPU is full.
 *
 * Least recently used is meant as a driver sees it: it notices use when a block is faulted in or
 * prefetched, and nothing tells it of later accesses. So the block that came first goes first, hot
 * or not, which is why two programs that do not fit together thrash. */
#include "residency.h"

#include <errno.h>
#include <string.h>

uint64_t gpu_free_bytes(const struct gpu *gpu) {
    uint64_t used = gpu->plain_bytes + gpu->context_bytes + gpu->resident_blocks * BLOCK_BYTES;
    return used < gpu->profile.usable_bytes ? gpu->profile.usable_bytes - used : 0;
}

bool gpu_has_room(const struct gpu *gpu) {
    return gpu_free_bytes(gpu) >= BLOCK_BYTES;
}

bool gpu_could_make_room(const struct gpu *gpu) {
    return gpu_has_room(gpu) || gpu->resident_blocks > 0;
}

static void count_block(struct node *node, struct slot *slot, struct range *range, uint8_t location,
                        int by) {
    if (location < LOCATION_GPU)
        return;
    uint32_t g = location - LOCATION_GPU;
    range->resident[g] += (uint32_t)by;
    slot->accounts[g].resident_blocks += (uint32_t)by;
    node->gpus[g].resident_blocks += (uint32_t)by;
}

void block_move(struct node *node, struct slot *slot, struct range *range, uint32_t block,
                uint8_t location) {
    struct block *moved = &slot->blocks[range->first_block + block];
    if (location >= LOCATION_GPU && !range->resident[location - LOCATION_GPU])
        range->eviction_hand = block; /* the first to come is the first to go */
    count_block(node, slot, range, moved->location, -1);
    moved->location = location;
    moved->arrival = ++node->arrivals;
    count_block(node, slot, range, location, +1);
}

struct victim {
    struct slot *slot;
    struct range *range;
};

/* Moves the range's hand on to its next resident block, and returns it. */
static const struct block *next_to_leave(struct slot *slot, struct range *range, uint32_t gpu) {
    for (uint32_t step = 0; step < range->blocks; step++) {
        const struct block *block = &slot->blocks[range->first_block + range->eviction_hand];
        if (block->location == LOCATION_GPU + gpu)
            return block;
        range->eviction_hand = (range->eviction_hand + 1) % range->blocks;
    }
    return NULL;
}

/* The range whose next block came first. Blocks of a range come in order, so one is enough to look
 * at. */
static struct victim least_recently_used(struct node *node, uint32_t gpu) {
    struct victim oldest = {0};
    uint64_t oldest_arrival = UINT64_MAX;
    for (uint32_t s = 0; s < node->slot_limit; s++) {
        struct slot *slot = &node->slots[s];
        if (!slot->in_use || !slot->accounts[gpu].resident_blocks)
            continue;
        for (uint32_t r = 0; r < slot->range_limit; r++) {
            struct range *range = &slot->ranges[r];
            const struct block *block =
                range->resident[gpu] ? next_to_leave(slot, range, gpu) : NULL;
            if (block && block->arrival < oldest_arrival) {
                oldest_arrival = block->arrival;
                oldest = (struct victim){slot, range};
            }
        }
    }
    return oldest;
}

uint32_t gpu_evict(struct node *node, uint32_t gpu, uint32_t count) {
    uint32_t evicted = 0;
    while (evicted < count) {
        struct victim victim = least_recently_used(node, gpu);
        if (!victim.range)
            break;
        uint32_t block = victim.range->eviction_hand;
        block_move(node, victim.slot, victim.range, block, LOCATION_HOST);
        /* On at once: if it comes back before the next eviction, it is the last to go. */
        victim.range->eviction_hand = (block + 1) % victim.range->blocks;
        evicted++;
    }
    node->gpus[gpu].evictions += evicted;
    node->gpus[gpu].out_bytes += evicted * BLOCK_BYTES;
    node->gpus[gpu].moved_out_bytes += evicted * BLOCK_BYTES;
    return evicted;
}

/* Room for bytes that cannot be evicted themselves. */
static int make_room(struct node *node, uint32_t g, uint64_t bytes, uint64_t *evicted) {
    struct gpu *gpu = &node->gpus[g];
    uint64_t pinned = gpu->plain_bytes + gpu->context_bytes;
    *evicted = 0;
    if (bytes > gpu->profile.usable_bytes || pinned > gpu->profile.usable_bytes - bytes)
        return -ENOMEM;
    uint64_t available = gpu_free_bytes(gpu);
    if (bytes > available) {
        uint64_t blocks = (bytes - available + BLOCK_BYTES - 1) / BLOCK_BYTES;
        *evicted = gpu_evict(node, g, (uint32_t)blocks) * BLOCK_BYTES;
    }
    return 0;
}

int gpu_take_plain(struct node *node, uint32_t slot, uint32_t g, uint64_t bytes,
                   uint64_t *evicted) {
    int result = make_room(node, g, bytes, evicted);
    if (result < 0)
        return result;
    node->slots[slot].accounts[g].plain_bytes += bytes;
    node->gpus[g].plain_bytes += bytes;
    return 0;
}

void gpu_give_plain(struct node *node, uint32_t slot, uint32_t g, uint64_t bytes) {
    node->slots[slot].accounts[g].plain_bytes -= bytes;
    node->gpus[g].plain_bytes -= bytes;
}

int gpu_take_context(struct node *node, uint32_t slot, uint32_t g) {
    struct account *account = &node->slots[slot].accounts[g];
    uint64_t bytes = node->gpus[g].profile.context_bytes, evicted;
    int result = make_room(node, g, bytes, &evicted);
    if (result < 0)
        return result;
    account->contexts++;
    account->context_bytes += bytes;
    node->gpus[g].context_bytes += bytes;
    return 0;
}

void gpu_give_context(struct node *node, uint32_t slot, uint32_t g) {
    struct account *account = &node->slots[slot].accounts[g];
    uint64_t bytes = node->gpus[g].profile.context_bytes;
    account->contexts--;
    account->context_bytes -= bytes;
    node->gpus[g].context_bytes -= bytes;
}

int range_create(struct node *node, uint32_t slot_index, uint32_t first_block, uint32_t blocks) {
    struct slot *slot = &node->slots[slot_index];
    if (first_block > MAX_BLOCKS || blocks > MAX_BLOCKS - first_block)
        return -ENOSPC;
    uint32_t index = slot->range_hint;
    while (index < MAX_RANGES && slot->ranges[index].in_use)
        index++;
    if (index == MAX_RANGES)
        return -ENOSPC;
    struct range *range = &slot->ranges[index];
    memset(range, 0, sizeof *range);
    range->first_block = first_block;
    range->blocks = blocks;
    if (first_block + blocks > slot->block_limit)
        slot->block_limit = first_block + blocks;
    if (index >= slot->range_limit)
        slot->range_limit = index + 1;
    slot->range_hint = index + 1;
    range->in_use = 1;
    return (int)index;
}

void range_destroy(struct node *node, uint32_t slot_index, uint32_t index) {
    struct slot *slot = &node->slots[slot_index];
    struct range *range = &slot->ranges[index];
    for (uint32_t i = 0; i < range->blocks; i++) {
        block_move(node, slot, range, i, LOCATION_NOWHERE);
        memset(&slot->blocks[range->first_block + i], 0, sizeof(struct block));
    }
    range->in_use = 0;
    if (index < slot->range_hint)
        slot->range_hint = index;
}
