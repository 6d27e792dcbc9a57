/* The places of the blocks of managed memory, and the choice of a victim when a GPU is full.
 *
 * All rules but the last are the published driver's:
 *  - A block that has left for the host keeps its chunk, unused, and uses it again when it returns
 *    (block_clear_resident_processor). The chunk is freed with the range or the process, or when it
 *    is taken for another block.
 *  - Chunks come from the same allocator as plain memory, 64 at a time, or as many as there are.
 *    Chunks that are not needed at once wait for the next block of any process, and count as used
 *    (alloc_root_chunk). So free memory does not rise when managed memory is moved out.
 *  - A block that needs a chunk takes, in this order: its own; one that waits; new ones; an unused
 *    one of any block; the one whose block was served longest ago (pick_root_chunk_to_evict). The
 *    blocks are those of any process.
 *  - Plain memory and contexts evict in the same order (uvm_pmm_gpu_pma_evict_pages), and wait.
 *    They cannot have freed memory before it is zero (scrub.c).
 *  - Evicted blocks are not mapped for the CPU (uvm_va_block_evict_chunks).
 *  - Assumed: waiting chunks are freed when no process has a context on the GPU any more. */
#include "residency.h"

#include <errno.h>
#include <string.h>

#include "chunks.h"
#include "host.h"
#include "scrub.h"

enum { BATCH_CHUNKS = 64 };

uint64_t gpu_free_bytes(const struct gpu *gpu) {
    uint64_t used = gpu->plain_bytes + gpu->context_bytes + gpu->stolen_bytes +
                    ((uint64_t)gpu->chunks + gpu->surplus) * BLOCK_BYTES;
    return used < gpu->profile.usable_bytes ? gpu->profile.usable_bytes - used : 0;
}

uint64_t gpu_idle_chunks(const struct gpu *gpu) {
    return gpu_free_bytes(gpu) / BLOCK_BYTES + gpu->surplus + gpu->chunks - gpu->resident_blocks;
}

bool gpu_could_make_room(const struct gpu *gpu) {
    return gpu->chunks || gpu->surplus || gpu_free_bytes(gpu) >= BLOCK_BYTES;
}

static void count_block(struct node *node, uint32_t slot, uint8_t location, int by) {
    if (location < LOCATION_GPU)
        return;
    uint32_t g = location - LOCATION_GPU;
    node->slots[slot].accounts[g].resident_blocks += (uint32_t)by;
    node->gpus[g].resident_blocks += (uint32_t)by;
}

/* The block's chunk is in the other list from now on. */
static void relocate(struct node *node, uint32_t slot, uint32_t index, uint8_t to) {
    struct block *block = &node->slots[slot].blocks[index];
    uint8_t from = block->location;
    count_block(node, slot, from, -1);
    block->location = to;
    count_block(node, slot, to, +1);
    if (from >= LOCATION_GPU && from != to)
        chunk_list(node, slot, index, from - LOCATION_GPU);
    if (to >= LOCATION_GPU)
        chunk_list(node, slot, index, to - LOCATION_GPU);
}

/* Counts a block that came in over the bus of one GPU, or left over the bus of another. */
static void count_move(struct node *node, uint32_t slot, uint8_t from, uint8_t to) {
    if (to >= LOCATION_GPU) {
        node->gpus[to - LOCATION_GPU].in_bytes += BLOCK_BYTES;
        node->gpus[to - LOCATION_GPU].moved_in_bytes += BLOCK_BYTES;
        node->slots[slot].accounts[to - LOCATION_GPU].in_bytes += BLOCK_BYTES;
    }
    if (from >= LOCATION_GPU) {
        node->gpus[from - LOCATION_GPU].out_bytes += BLOCK_BYTES;
        node->gpus[from - LOCATION_GPU].moved_out_bytes += BLOCK_BYTES;
        node->slots[slot].accounts[from - LOCATION_GPU].out_bytes += BLOCK_BYTES;
    }
}

int block_send(struct node *node, uint32_t slot, uint32_t index, enum copies copies) {
    struct block *block = &node->slots[slot].blocks[index];
    int result = host_take(node, slot, index);
    if (result < 0 || block->location == LOCATION_HOST)
        return result;
    if (block->location >= LOCATION_GPU) {
        struct gpu *gpu = &node->gpus[block->location - LOCATION_GPU];
        count_move(node, slot, block->location, LOCATION_HOST);
        if (copies == COPIES_QUEUED) {
            gpu->out_queued += BLOCK_BYTES;
            block->busy_gpu = (uint8_t)(block->location - LOCATION_GPU);
            block->busy_until = gpu->out_queued;
        }
    }
    block->host &= (uint8_t)~HOST_MAPPED;
    relocate(node, slot, index, LOCATION_HOST);
    return 0;
}

/* Takes the oldest unused chunk, else the oldest used one. `until`: the end of its copies out. */
static int take_away(struct node *node, uint32_t gpu, enum copies copies, uint64_t *until) {
    struct listed victim;
    if (chunk_oldest(node, gpu, CHUNK_UNUSED, &victim)) {
        node->gpus[gpu].reclaims++;
    } else if (chunk_oldest(node, gpu, CHUNK_USED, &victim)) {
        int result = block_send(node, victim.slot, victim.block, copies);
        if (result < 0)
            return result;
        node->gpus[gpu].evictions++;
    } else {
        return -ENOMEM;
    }
    const struct block *block = &node->slots[victim.slot].blocks[victim.block];
    *until = block->busy_gpu == gpu ? block->busy_until : 0;
    chunk_drop(node, victim.slot, victim.block, gpu);
    return 0;
}

static int take_chunk(struct node *node, uint32_t slot, uint32_t index, uint32_t g,
                      enum copies copies) {
    struct gpu *gpu = &node->gpus[g];
    struct block *block = &node->slots[slot].blocks[index];
    if (node->slots[slot].chunks[g][index])
        return 0;
    uint64_t until = 0, fresh = gpu_free_bytes(gpu) / BLOCK_BYTES;
    bool listable = gpu->chunks + gpu->surplus < LISTED_CHUNKS / 2;
    if (!gpu->surplus && fresh && listable)
        gpu->surplus = fresh < BATCH_CHUNKS ? (uint32_t)fresh : BATCH_CHUNKS;
    if (gpu->surplus) {
        gpu->surplus--;
    } else {
        int result = take_away(node, g, copies, &until);
        if (result < 0)
            return result;
    }
    block->busy_gpu = (uint8_t)g;
    block->busy_until = until;
    chunk_give(node, slot, index, g);
    return 0;
}

int block_bring(struct node *node, uint32_t slot, uint32_t index, uint32_t gpu,
                enum copies copies) {
    struct block *block = &node->slots[slot].blocks[index];
    uint8_t to = (uint8_t)(LOCATION_GPU + gpu);
    if (block->location != to) {
        int result = take_chunk(node, slot, index, gpu, copies);
        if (result < 0)
            return result;
        if (block->location != LOCATION_NOWHERE)
            count_move(node, slot, block->location, to);
        block->host &= (uint8_t)~HOST_MAPPED;
    }
    relocate(node, slot, index, to);
    return 0;
}

void block_put(struct node *node, uint32_t slot, uint32_t index, uint8_t location) {
    struct block *block = &node->slots[slot].blocks[index];
    if (location >= LOCATION_GPU &&
        take_chunk(node, slot, index, location - LOCATION_GPU, COPIES_IN_FAULT) < 0)
        return;
    if (location == LOCATION_HOST && host_take(node, slot, index) < 0)
        return;
    block->host &= (uint8_t)~HOST_MAPPED;
    if (location == LOCATION_HOST)
        block->host |= HOST_MAPPED;
    relocate(node, slot, index, location);
}

/* Makes room for bytes that cannot be evicted themselves. */
static int make_room(struct node *node, uint32_t g, uint64_t bytes, struct room *room) {
    struct gpu *gpu = &node->gpus[g];
    uint64_t pinned = gpu->plain_bytes + gpu->context_bytes + gpu->stolen_bytes;
    uint64_t out = gpu->moved_out_bytes;
    *room = (struct room){0};
    if (bytes > gpu->profile.usable_bytes || pinned > gpu->profile.usable_bytes - bytes)
        return -ENOMEM;
    uint64_t evictable = ((uint64_t)gpu->chunks + gpu->surplus) * BLOCK_BYTES;
    bool clean = gpu_clean_bytes(gpu) + evictable >= bytes;
    while ((clean ? gpu_clean_bytes(gpu) : gpu_free_bytes(gpu)) < bytes) {
        uint64_t until = 0;
        if (gpu->surplus)
            gpu->surplus--;
        else if (take_away(node, g, COPIES_QUEUED, &until) < 0)
            return -ENOMEM;
        if (until > room->until)
            room->until = until;
    }
    room->evicted = gpu->moved_out_bytes - out;
    return 0;
}

int gpu_take_plain(struct node *node, uint32_t slot, uint32_t g, uint64_t bytes,
                   struct room *room) {
    int result = make_room(node, g, bytes, room);
    if (result < 0)
        return result;
    node->slots[slot].accounts[g].plain_bytes += bytes;
    node->gpus[g].plain_bytes += bytes;
    return 0;
}

void gpu_give_plain(struct node *node, uint32_t slot, uint32_t g, uint64_t bytes) {
    node->slots[slot].accounts[g].plain_bytes -= bytes;
    node->gpus[g].plain_bytes -= bytes;
    scrub_begin(&node->gpus[g], bytes);
}

int gpu_take_code(struct node *node, uint32_t slot, uint32_t g, uint64_t bytes, struct room *room) {
    int result = make_room(node, g, bytes, room);
    if (result < 0)
        return result;
    node->slots[slot].accounts[g].context_bytes += bytes;
    node->gpus[g].context_bytes += bytes;
    return 0;
}

void gpu_give_code(struct node *node, uint32_t slot, uint32_t g, uint64_t bytes) {
    node->slots[slot].accounts[g].context_bytes -= bytes;
    node->gpus[g].context_bytes -= bytes;
    scrub_begin(&node->gpus[g], bytes);
}

int gpu_take_context(struct node *node, uint32_t slot, uint32_t g, struct room *room) {
    int result = gpu_take_code(node, slot, g, node->gpus[g].profile.context_bytes, room);
    if (result == 0)
        node->slots[slot].accounts[g].contexts++;
    return result;
}

void gpu_give_context(struct node *node, uint32_t slot, uint32_t g) {
    struct gpu *gpu = &node->gpus[g];
    node->slots[slot].accounts[g].contexts--;
    gpu_give_code(node, slot, g, gpu->profile.context_bytes);
    if (!gpu->context_bytes && !gpu->chunks)
        gpu->surplus = 0;
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

static void clear_block(struct node *node, uint32_t slot, uint32_t index) {
    relocate(node, slot, index, LOCATION_NOWHERE);
    for (uint32_t g = 0; g < node->profile.gpu_count; g++)
        chunk_drop(node, slot, index, g);
    host_give(node, slot, index);
    memset(&node->slots[slot].blocks[index], 0, sizeof(struct block));
}

void range_destroy(struct node *node, uint32_t slot_index, uint32_t index) {
    struct slot *slot = &node->slots[slot_index];
    struct range *range = &slot->ranges[index];
    for (uint32_t i = 0; i < range->blocks; i++)
        clear_block(node, slot_index, range->first_block + i);
    range->in_use = 0;
    if (index < slot->range_hint)
        slot->range_hint = index;
}
