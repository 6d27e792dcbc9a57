/* CUDA_VISIBLE_DEVICES: which GPUs of the node a program sees, and in which order. */
#include "visible.h"

#include <stdlib.h>
#include <string.h>

static uint32_t find_by_uuid(const struct node *node, const char *entry, size_t length) {
    uint32_t found = NO_INDEX;
    for (uint32_t g = 0; g < node->profile.gpu_count; g++) {
        if (strncasecmp(node->gpus[g].profile.uuid, entry, length) != 0)
            continue;
        if (found != NO_INDEX)
            return NO_INDEX; /* the beginning of more than one UUID */
        found = g;
    }
    return found;
}

static uint32_t find_gpu(const struct node *node, const char *entry, size_t length) {
    if (length > 4 && strncmp(entry, "GPU-", 4) == 0)
        return find_by_uuid(node, entry, length);
    char *end;
    long number = strtol(entry, &end, 10);
    bool whole = length > 0 && end == entry + length;
    return whole && number >= 0 && number < (long)node->profile.gpu_count ? (uint32_t)number
                                                                          : NO_INDEX;
}

static bool contains(const uint32_t *visible, uint32_t count, uint32_t gpu) {
    for (uint32_t i = 0; i < count; i++)
        if (visible[i] == gpu)
            return true;
    return false;
}

uint32_t visible_gpus(const struct node *node, const char *list, uint32_t visible[MAX_GPUS]) {
    uint32_t count = 0;
    if (!list) {
        for (; count < node->profile.gpu_count; count++)
            visible[count] = count;
        return count;
    }
    while (count < MAX_GPUS) {
        size_t length = strcspn(list, ",");
        uint32_t gpu = find_gpu(node, list, length);
        if (gpu == NO_INDEX)
            break;
        if (contains(visible, count, gpu))
            return 0; /* a GPU named twice makes the whole list void */
        visible[count++] = gpu;
        if (!list[length])
            break;
        list += length + 1;
    }
    return count;
}
