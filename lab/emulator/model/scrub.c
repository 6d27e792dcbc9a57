/* Freed memory that is not zero yet.
 *
 * Published driver (pmaFreePages, pmaAllocatePages, scrubCheckAndWaitForSize): freed pages count as
 * free at once, and a copy engine zeroes them in the background. An allocation takes pages that are
 * zero, and evicts managed memory. If both do not suffice, it waits until the scrubber has zeroed
 * the rest, and then tries once more, without evictions. Inferred: zeroing takes bytes / bandwidth.
 * Assumed: it slows no other work, and chunks of managed memory are not scrubbed. */
#include "scrub.h"

#include "residency.h"

static double ns_per_byte(const struct gpu *gpu) {
    return 1e9 / (double)gpu->profile.bandwidth;
}

void scrub_begin(struct gpu *gpu, uint64_t bytes) {
    if (gpu->scrubbed_at < gpu->clock)
        gpu->scrubbed_at = gpu->clock;
    gpu->scrubbed_at += (uint64_t)((double)bytes * ns_per_byte(gpu));
}

uint64_t gpu_dirty_bytes(const struct gpu *gpu) {
    uint64_t free = gpu_free_bytes(gpu);
    if (gpu->scrubbed_at <= gpu->clock)
        return 0;
    uint64_t dirty = (uint64_t)((double)(gpu->scrubbed_at - gpu->clock) / ns_per_byte(gpu));
    return dirty < free ? dirty : free;
}

uint64_t gpu_clean_bytes(const struct gpu *gpu) {
    return gpu_free_bytes(gpu) - gpu_dirty_bytes(gpu);
}

uint64_t scrub_wait_ns(const struct gpu *gpu, uint64_t bytes) {
    uint64_t clean = gpu_clean_bytes(gpu), dirty = gpu_dirty_bytes(gpu);
    uint64_t evictable = ((uint64_t)gpu->chunks + gpu->surplus) * BLOCK_BYTES;
    if (clean + evictable >= bytes || !dirty)
        return 0;
    uint64_t lacks = bytes - clean;
    return (uint64_t)((double)(lacks < dirty ? lacks : dirty) * ns_per_byte(gpu)) + 1;
}
