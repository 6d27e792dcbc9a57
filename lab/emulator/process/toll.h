/* What calls cost the thread that makes them.
 *
 * Reported: processes that map on different GPUs hold each other up (kvcached, bench_map_parallelism: four
 * take 1.1 to 1.9 times as long as one). Inferred: one lock of the driver serves the whole machine, so
 * such calls come one after the other, whosever they are. Page-locking takes no such lock (published
 * driver: RmCreateOsDescriptor locks the pages before it enters the resource manager). */
#ifndef NVSHARE_EMULATOR_TOLL_H
#define NVSHARE_EMULATOR_TOLL_H

#include "driver.h"

/* So much emulated time of the calling thread; with the driver's lock of the whole node, or without.
 * No lock of ours may be held. */
void toll_of_node(uint64_t ns);
void toll_of_own(uint64_t ns);

/* What a call on so much memory costs, of which every 2 MiB cost so much. */
static inline uint64_t toll_for(uint64_t call_ns, uint64_t block_ns, uint64_t bytes) {
    return call_ns + (uint64_t)((double)bytes / (double)BLOCK_BYTES * (double)block_ns);
}

#endif
