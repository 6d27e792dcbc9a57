/* One operation as a sequence of stretches: parts that need one engine for one length of work.
 *
 * Work that touches only plain memory is a single stretch. Work on managed memory walks through its
 * blocks as the hardware would. Runs of resident blocks cost what plain memory costs. Blocks that
 * are elsewhere are faulted in, slowly, one by one, and on a full GPU another block leaves first. A
 * block that prefers the host is made there and read over the bus each time. Prefetches do not work
 * this way: see migrate.c. */
#include "stretch.h"

#include <errno.h>

#include "cancel.h"
#include "host.h"
#include "residency.h"

const struct reference *reference_at(const struct place *place, const struct operation *operation,
                                     uint32_t number) {
    uint64_t index = operation->first_reference + number;
    return &place->queue->references[index % REFERENCE_SLOTS];
}

const struct range *range_of(const struct place *place, const struct reference *reference) {
    const struct range *range = &place->slot->ranges[reference->range % MAX_RANGES];
    uint32_t offset = reference->first_block - range->first_block;
    bool inside = reference->first_block >= range->first_block && offset <= range->blocks &&
                  reference->blocks <= range->blocks - offset;
    return range->in_use && inside ? range : NULL;
}

static const struct reference *reference_here(const struct place *place,
                                              const struct operation *operation) {
    return reference_at(place, operation, operation->at_reference);
}

static struct block *block_at(const struct place *place, const struct reference *reference,
                              uint32_t i) {
    return &place->slot->blocks[reference->first_block + i];
}

static void begin(struct operation *operation, enum stretch stretch, enum engine engine,
                  uint32_t blocks, double left) {
    operation->stretch = (uint8_t)stretch;
    operation->stretch_engine = (uint8_t)engine;
    operation->stretch_blocks = blocks;
    operation->left = left;
    operation->moves = 0;
    operation->serving = 0;
}

static double bytes_of_run(const struct reference *reference, uint32_t run) {
    return run ? (double)reference->bytes * run / reference->blocks : 0;
}

/* Puts the block at its target. After a crash in finish() the stretch may lie one block further on,
 * hence the check. If there is no block to push out, this one stays where it is, and is read there.
 * If the host has no page for a block that has to leave, the context dies. */
static void finish_arrival(const struct place *place, struct operation *operation) {
    const struct reference *reference = reference_here(place, operation);
    if (!range_of(place, reference) || operation->at_block >= reference->blocks)
        return;
    uint32_t block = reference->first_block + operation->at_block;
    int result;
    if (operation->target < LOCATION_GPU)
        result = block_send(place->node, place->slot_index, block, COPIES_IN_FAULT);
    else
        result = block_bring(place->node, place->slot_index, block,
                             operation->target - LOCATION_GPU, COPIES_IN_FAULT);
    place->node->gpus[place->gpu].faults++;
    if (result == -ENOSPC)
        cancel_faults(place->node, place->gpu, place->queue);
}

static void finish(const struct place *place, struct operation *operation) {
    if (operation->stretch == STRETCH_ARRIVING)
        finish_arrival(place, operation);
    if (operation->stretch == STRETCH_REMOTE && operation->engine == ENGINE_COMPUTE) {
        double bytes = bytes_of_run(reference_here(place, operation), operation->stretch_blocks);
        place->node->gpus[place->gpu].in_bytes += (uint64_t)bytes;
        place->slot->accounts[place->gpu].in_bytes += (uint64_t)bytes;
    }
    operation->at_block += operation->stretch_blocks;
    operation->stretch_blocks = 0;
}

static double compute_ns(const struct place *place, double bytes) {
    return bytes * 1e9 / (double)place->node->gpus[place->gpu].profile.bandwidth;
}

static double block_ns(uint64_t bandwidth) {
    return (double)BLOCK_BYTES * 1e9 / (double)bandwidth;
}

/* The number of blocks from here on that have the same location and advice, and are complete. */
static uint32_t run_length(const struct place *place, const struct reference *reference,
                           uint32_t from, uint32_t most) {
    const struct block *first = block_at(place, reference, from);
    uint32_t run = 1;
    while (run < most && from + run < reference->blocks) {
        const struct block *next = block_at(place, reference, from + run);
        if (next->location != first->location || next->preferred != first->preferred ||
            next->accessed_by != first->accessed_by || next->arriving)
            break;
        run++;
    }
    return run;
}

static bool reads_remotely(const struct place *place, const struct operation *operation,
                           const struct block *block) {
    if (operation->flags & OPERATION_READS_ONLY)
        return true;
    if (!gpu_could_make_room(&place->node->gpus[place->gpu]))
        return true;
    return block->preferred == LOCATION_HOST || (block->accessed_by >> place->gpu & 1);
}

/* Blocks that are on the GPU, or are used where they are. */
static bool begin_in_place(const struct place *place, struct operation *operation,
                           const struct reference *reference, uint32_t run, bool remote) {
    const struct gpu_profile *profile = &place->node->gpus[place->gpu].profile;
    double bytes = bytes_of_run(reference, run);
    if (operation->engine != ENGINE_COMPUTE) /* a copy: its bus time is in `amount` */
        bytes = 0;
    double left = remote ? bytes * 1e9 / (double)profile->h2d_bandwidth
                  : operation->flags & OPERATION_FIXED_COST ? 0
                                                            : compute_ns(place, bytes);
    begin(operation, remote ? STRETCH_REMOTE : STRETCH_RESIDENT, ENGINE_COMPUTE, run, left);
    return true;
}

/* One block comes to the GPU by a fault; on a full one, another leaves first. */
static bool begin_arrival(const struct place *place, struct operation *operation, uint32_t block,
                          double left, bool is_new) {
    const struct gpu *gpu = &place->node->gpus[place->gpu];
    bool full = !place->slot->chunks[place->gpu][block] && !gpu_idle_chunks(gpu);
    if (full)
        left += block_ns(gpu->profile.fault_evict_bandwidth);
    operation->target = (uint8_t)(LOCATION_GPU + place->gpu);
    begin(operation, STRETCH_ARRIVING, ENGINE_FAULT, 1, left);
    operation->moves = full || !is_new;
    return true;
}

/* First touch: the block is created where it is wanted. */
static bool begin_populating(const struct place *place, struct operation *operation,
                             uint32_t index) {
    const struct gpu_profile *profile = &place->node->gpus[place->gpu].profile;
    double left = block_ns(profile->populate_bandwidth);
    if (operation->flags & OPERATION_OVERWRITES)
        left = 0;
    if (place->slot->blocks[index].preferred != LOCATION_HOST)
        return begin_arrival(place, operation, index, left, true);
    operation->target = LOCATION_HOST;
    if (operation->engine == ENGINE_COMPUTE) /* as in begin_in_place() */
        left += block_ns(profile->h2d_bandwidth);
    begin(operation, STRETCH_ARRIVING, ENGINE_FAULT, 1, left);
    return true;
}

/* The next stretch of work on the block at hand. */
static bool begin_touch(const struct place *place, struct operation *operation,
                        const struct reference *reference) {
    const struct gpu *gpu = &place->node->gpus[place->gpu];
    const struct block *block = block_at(place, reference, operation->at_block);
    uint32_t index = reference->first_block + operation->at_block;
    uint32_t rest = reference->blocks - operation->at_block;
    if (block->arriving) {
        begin(operation, STRETCH_WAITING, ENGINE_NONE, 0, 1);
        return true;
    }
    if (block->location == LOCATION_GPU + place->gpu) {
        uint32_t run = run_length(place, reference, operation->at_block, rest);
        return begin_in_place(place, operation, reference, run, false);
    }
    if (block->location == LOCATION_NOWHERE && gpu_could_make_room(gpu))
        return begin_populating(place, operation, index);
    if (reads_remotely(place, operation, block)) {
        uint32_t run = run_length(place, reference, operation->at_block, rest);
        return begin_in_place(place, operation, reference, run, true);
    }
    return begin_arrival(place, operation, index, block_ns(gpu->profile.fault_bandwidth), false);
}

bool stretch_is_waiting(const struct place *place, const struct operation *operation) {
    const struct reference *reference = reference_here(place, operation);
    return range_of(place, reference) && operation->at_block < reference->blocks &&
           block_at(place, reference, operation->at_block)->arriving;
}

static bool begin_next(const struct place *place, struct operation *operation) {
    while (operation->at_reference < operation->references) {
        const struct reference *reference = reference_here(place, operation);
        if (operation->at_block < reference->blocks && range_of(place, reference))
            return begin_touch(place, operation, reference);
        operation->at_reference++;
        operation->at_block = 0;
    }
    return false;
}

bool stretch_next(const struct place *place, struct operation *operation) {
    if (operation->stretch == STRETCH_FIRST) {
        begin(operation, STRETCH_PLAIN, (enum engine)operation->engine, 0,
              (double)operation->amount);
    } else {
        finish(place, operation);
        if (!begin_next(place, operation))
            return false;
    }
    while (operation->left <= 0) {
        finish(place, operation);
        if (!begin_next(place, operation))
            return false;
    }
    return true;
}
