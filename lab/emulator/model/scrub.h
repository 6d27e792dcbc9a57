/* Freed memory that is not zero yet. */
#ifndef NVSHARE_EMULATOR_SCRUB_H
#define NVSHARE_EMULATOR_SCRUB_H

#include "state.h"

/* So many bytes have been freed: they count as free at once, and are zero in a while. */
void scrub_begin(struct gpu *gpu, uint64_t bytes);

/* Of the free bytes, those that are zero; and those that are not yet. */
uint64_t gpu_clean_bytes(const struct gpu *gpu);
uint64_t gpu_dirty_bytes(const struct gpu *gpu);

/* The time for which pinned memory of this size has to wait for the scrubber, in emulated ns. 0:
 * there is enough without it, perhaps after evictions; or there is nothing to wait for. */
uint64_t scrub_wait_ns(const struct gpu *gpu, uint64_t bytes);

#endif
