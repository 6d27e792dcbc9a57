/* Host pages of managed memory.
 *
 * Published driver: pages are the kernel's, are not swapped, are charged to the memory cgroup of
 * the process that owns the range (block_populate_pages_cpu, uvm_memcg_context_start), and stay
 * allocated when the block returns to the GPU. A full cgroup calls its OOM killer: inferred from
 * the flags of the allocation. That the owner is the process killed is assumed; the kernel chooses
 * among all processes of the cgroup. */
#include "host.h"

#include <errno.h>

static bool exceeds_own_limit(const struct slot *slot) {
    return slot->host_limit && slot->host_blocks * BLOCK_BYTES > slot->host_limit;
}

/* Adds up all processes of the node in one cgroup, and what that cgroup really uses. */
static bool exceeds_cgroup(const struct node *node, const struct slot *slot) {
    if (!slot->cgroup || slot->host_limit)
        return false;
    uint64_t bytes = slot->cgroup_bytes;
    for (uint32_t s = 0; s < node->slot_limit; s++)
        if (node->slots[s].in_use && node->slots[s].cgroup == slot->cgroup)
            bytes += node->slots[s].host_blocks * BLOCK_BYTES;
    return bytes > slot->cgroup_limit;
}

int host_take(struct node *node, uint32_t index, uint32_t block) {
    struct slot *slot = &node->slots[index];
    if (slot->blocks[block].host & HOST_PAGES)
        return 0;
    uint64_t limit = node->profile.host_bytes;
    if (limit && (node->host_blocks + (uint64_t)1) * BLOCK_BYTES > limit)
        return -ENOSPC;
    slot->blocks[block].host |= HOST_PAGES;
    slot->host_blocks++;
    node->host_blocks++;
    if (exceeds_own_limit(slot) || exceeds_cgroup(node, slot))
        slot->doomed = 1;
    return 0;
}

void host_give(struct node *node, uint32_t index, uint32_t block) {
    struct slot *slot = &node->slots[index];
    if (!(slot->blocks[block].host & HOST_PAGES))
        return;
    slot->blocks[block].host = 0;
    slot->host_blocks--;
    node->host_blocks--;
}
