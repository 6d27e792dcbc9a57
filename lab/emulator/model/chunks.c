/* Chunks, and the order in which they are reclaimed.
 *
 * Published driver: a chunk goes to the tail of the list USED when it is allocated and whenever a
 * fault or a migrate call is served on its block (block_mark_memory_used), and to the tail of
 * UNUSED when its block has left (uvm_pmm_gpu_mark_root_chunk_unused). Kernels' accesses change
 * nothing.
 *
 * A list here is an array in order. An entry holds the number that its chunk had when it was added.
 * If the chunk has another number by now, it has moved, and the entry is skipped. So nothing is
 * ever taken out of the middle, and the next victim is found without looking at other chunks. */
#include "chunks.h"

#include <stdlib.h>

enum { SPARE_ENTRIES = 4096 }; /* that may be out of date before a list is compacted */

static struct chunk_list *list_of(struct gpu *gpu, enum chunk_use use) {
    return use == CHUNK_USED ? &gpu->used : &gpu->unused;
}

static enum chunk_use use_of(const struct slot *slot, uint32_t block, uint32_t gpu) {
    return slot->blocks[block].location == LOCATION_GPU + gpu ? CHUNK_USED : CHUNK_UNUSED;
}

static bool is_so(const struct node *node, uint32_t gpu, enum chunk_use use,
                  const struct listed *entry) {
    const struct slot *slot = &node->slots[entry->slot];
    return slot->in_use && slot->chunks[gpu][entry->block] == entry->order &&
           use_of(slot, entry->block, gpu) == use;
}

static void tidy(struct node *node, uint32_t gpu, enum chunk_use use) {
    struct chunk_list *list = list_of(&node->gpus[gpu], use);
    uint32_t kept = 0;
    for (uint32_t i = list->head; i < list->tail; i++)
        if (is_so(node, gpu, use, &list->entries[i]))
            list->entries[kept++] = list->entries[i];
    list->head = 0;
    list->tail = kept;
}

static void append(struct node *node, uint32_t gpu, enum chunk_use use, struct listed entry) {
    struct gpu *owner = &node->gpus[gpu];
    struct chunk_list *list = list_of(owner, use);
    uint32_t live =
        use == CHUNK_USED ? owner->resident_blocks : owner->chunks - owner->resident_blocks;
    if (list->tail == LISTED_CHUNKS || list->tail > 2 * live + SPARE_ENTRIES)
        tidy(node, gpu, use);
    if (list->tail < LISTED_CHUNKS) /* there are never half as many chunks */
        list->entries[list->tail++] = entry;
}

void chunk_give(struct node *node, uint32_t slot, uint32_t block, uint32_t gpu) {
    node->slots[slot].chunks[gpu][block] = ++node->services;
    node->slots[slot].accounts[gpu].chunks++;
    node->gpus[gpu].chunks++;
}

void chunk_drop(struct node *node, uint32_t slot, uint32_t block, uint32_t gpu) {
    if (!node->slots[slot].chunks[gpu][block])
        return;
    node->slots[slot].chunks[gpu][block] = 0;
    node->slots[slot].accounts[gpu].chunks--;
    node->gpus[gpu].chunks--;
}

void chunk_list(struct node *node, uint32_t index, uint32_t block, uint32_t gpu) {
    struct slot *slot = &node->slots[index];
    if (!slot->chunks[gpu][block])
        return;
    slot->chunks[gpu][block] = ++node->services;
    append(node, gpu, use_of(slot, block, gpu),
           (struct listed){.order = node->services, .slot = index, .block = block});
}

bool chunk_oldest(struct node *node, uint32_t gpu, enum chunk_use use, struct listed *out) {
    struct chunk_list *list = list_of(&node->gpus[gpu], use);
    while (list->head < list->tail && !is_so(node, gpu, use, &list->entries[list->head]))
        list->head++;
    if (list->head == list->tail)
        return false;
    *out = list->entries[list->head];
    return true;
}

static int by_order(const void *left, const void *right) {
    uint64_t a = ((const struct listed *)left)->order, b = ((const struct listed *)right)->order;
    return (a > b) - (a < b);
}

static void collect(struct node *node, uint32_t index, uint32_t gpu) {
    const struct slot *slot = &node->slots[index];
    for (uint32_t block = 0; slot->in_use && block < slot->block_limit; block++) {
        uint64_t order = slot->chunks[gpu][block];
        struct chunk_list *list = list_of(&node->gpus[gpu], use_of(slot, block, gpu));
        if (order && list->tail < LISTED_CHUNKS)
            list->entries[list->tail++] =
                (struct listed){.order = order, .slot = index, .block = block};
    }
}

void chunks_rebuild(struct node *node) {
    for (uint32_t g = 0; g < node->profile.gpu_count; g++) {
        struct gpu *gpu = &node->gpus[g];
        gpu->used.head = gpu->used.tail = gpu->unused.head = gpu->unused.tail = 0;
        for (uint32_t s = 0; s < node->slot_limit; s++)
            collect(node, s, g);
        qsort(gpu->used.entries, gpu->used.tail, sizeof gpu->used.entries[0], by_order);
        qsort(gpu->unused.entries, gpu->unused.tail, sizeof gpu->unused.entries[0], by_order);
    }
}

/* The number of entries that are up to date; UINT32_MAX if they are not in order. */
static uint32_t count_entries(const struct node *node, uint32_t gpu, enum chunk_use use) {
    const struct chunk_list *list =
        use == CHUNK_USED ? &node->gpus[gpu].used : &node->gpus[gpu].unused;
    uint32_t count = 0;
    uint64_t before = 0;
    for (uint32_t i = list->head; i < list->tail; i++) {
        if (!is_so(node, gpu, use, &list->entries[i]))
            continue;
        if (list->entries[i].order <= before)
            return UINT32_MAX;
        before = list->entries[i].order;
        count++;
    }
    return count;
}

bool chunks_differ(const struct node *node) {
    for (uint32_t g = 0; g < node->profile.gpu_count; g++) {
        uint32_t have[2] = {0};
        for (uint32_t s = 0; s < node->slot_limit; s++) {
            const struct slot *slot = &node->slots[s];
            for (uint32_t b = 0; slot->in_use && b < slot->block_limit; b++)
                have[use_of(slot, b, g)] += slot->chunks[g][b] != 0;
        }
        if (count_entries(node, g, CHUNK_UNUSED) != have[CHUNK_UNUSED] ||
            count_entries(node, g, CHUNK_USED) != have[CHUNK_USED])
            return true;
    }
    return false;
}
