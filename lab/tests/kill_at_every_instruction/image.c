/* The parts of the node that changes affect, for comparison and for a fresh start. */
#include <stdlib.h>
#include <string.h>

#include "kill.h"

static void add_part(struct image *image, void *from, void *to) {
    struct part part = {from, (size_t)((char *)to - (char *)from)};
    image->parts[image->count] = part;
    image->copies[image->count] = malloc(part.size);
    check(image->copies[image->count], "no memory");
    memcpy(image->copies[image->count++], part.bytes, part.size);
}

struct image take_image(struct node *node) {
    struct image image = {0};
    add_part(&image, node, &node->gpus[0].active[WATCHED_SLOTS]);
    struct gpu *gpu = &node->gpus[0];
    add_part(&image, &gpu->used, &gpu->used.entries[WATCHED_ENTRIES]);
    add_part(&image, &gpu->unused, &gpu->unused.entries[WATCHED_ENTRIES]);
    for (uint32_t s = 0; s < WATCHED_SLOTS; s++) {
        struct slot *slot = &node->slots[s];
        add_part(&image, slot, &slot->queues[0].operations[8]);
        add_part(&image, slot->queues[0].references, &slot->queues[0].references[8]);
        add_part(&image, slot->ranges, &slot->ranges[4]);
        add_part(&image, slot->blocks, &slot->blocks[32]);
        add_part(&image, slot->chunks[0], &slot->chunks[0][32]);
    }
    return image;
}

bool update_image(struct image *image) {
    bool changed = false;
    for (uint32_t i = 0; i < image->count; i++) {
        if (memcmp(image->copies[i], image->parts[i].bytes, image->parts[i].size) == 0)
            continue;
        memcpy(image->copies[i], image->parts[i].bytes, image->parts[i].size);
        changed = true;
    }
    return changed;
}

void put_back(const struct image *image) {
    for (uint32_t i = 0; i < image->count; i++)
        memcpy(image->parts[i].bytes, image->copies[i], image->parts[i].size);
}

void drop_image(struct image *image) {
    for (uint32_t i = 0; i < image->count; i++)
        free(image->copies[i]);
}
