/* The time that calls cost the calling thread.
 *
 * Reported: processes that map on different GPUs delay each other (kvcached, bench_map_parallelism:
 * four take 1.1 to 1.9 times as long as one). Inferred: one lock of the driver serves the whole
 * machine, so such calls of all processes run one after the other. Page-locking takes no such lock
 * (published driver: RmCreateOsDescriptor locks the pages before it enters the resource
 * manager). */
#ifndef NVSHARE_EMULATOR_TOLL_H
#define NVSHARE_EMULATOR_TOLL_H

#include "driver.h"

/* Spends emulated time of the calling thread, with the driver's lock of the whole node or without.
 * The caller may hold no lock of ours. */
void toll_of_node(uint64_t ns);
void toll_of_own(uint64_t ns);

/* The cost of a call on `bytes` of memory: `call_ns`, and `block_ns` for every 2 MiB. */
static inline uint64_t toll_for(uint64_t call_ns, uint64_t block_ns, uint64_t bytes) {
    return call_ns + (uint64_t)((double)bytes / (double)BLOCK_BYTES * (double)block_ns);
}

#endif
