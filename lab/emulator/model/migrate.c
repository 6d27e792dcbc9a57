/* Prefetches: managed blocks are moved to a place, by a thread that calls the driver.
 *
 * Published driver (uvm_migrate, uvm_va_block_migrate_locked):
 *  - The calling thread works through the blocks, in two passes if there are several: it sends all
 *    of them, and then again those that were taken meanwhile. The second pass also maps.
 *  - To the GPU, it unmaps from the CPU, finds a chunk, with an eviction if it must, and queues the
 *    copies. Then the call returns. A copy waits on the GPU until the chunk that it goes to has
 *    been copied out; the thread does not.
 *  - To the CPU it allocates pages, queues the copies, and then maps each block after its copies
 *    are done, while copies of later blocks go on (block_map_cpu_page_to). The call returns after
 *    the last one. Pages that were never touched are made there, of zeroes.
 *  - A prefetch is never skipped because the GPU is full. It fails when nothing can be evicted.
 *
 * A block counts as being at its new place as soon as the thread has queued its copy, as in the
 * driver. An operation that uses it before the copy is done waits (stretch.c). Not modelled: an
 * eviction waits for the copies that bring its victim in.
 *
 * Copies to the host are one sequence per GPU (out_queued, out_done), for prefetches and evictions
 * of all processes; that they go in order is assumed. Copies to the GPU are each operation's
 * own. */
#include "migrate.h"

#include "chunks.h"
#include "residency.h"

/* Blocks that are processed together, to save work here. The first ones go one by one, so that
 * copies begin at once. */
enum { BATCH_BLOCKS = 8 };

static const double ROUNDING = 1e-3; /* bytes */

bool out_reached(const struct gpu *gpu, uint64_t point) {
    return gpu->out_done + ROUNDING >= (double)point || point > gpu->out_queued;
}

static bool goes_to_gpu(const struct operation *operation) {
    return operation->target >= LOCATION_GPU;
}

static const struct gpu_profile *profile_of(const struct place *place,
                                            const struct operation *operation) {
    uint32_t gpu = goes_to_gpu(operation) ? (uint32_t)operation->target - LOCATION_GPU : place->gpu;
    return &place->node->gpus[gpu].profile;
}

/* The cost of a batch for the thread: the number of its blocks that need each step. */
struct bill {
    uint32_t blocks, pages, unmaps, maps, zeroes, chunks;
};

static void add_to_bill(struct bill *bill, const struct place *place,
                        const struct operation *operation, uint32_t index) {
    const struct block *block = &place->slot->blocks[index];
    bill->blocks++;
    if (block->location == operation->target)
        return;
    if (goes_to_gpu(operation)) {
        bill->unmaps += (block->host & HOST_MAPPED) != 0;
        bill->chunks += !place->slot->chunks[operation->target - LOCATION_GPU][index];
    } else {
        bill->pages += !(block->host & HOST_PAGES);
        bill->zeroes += block->location == LOCATION_NOWHERE;
    }
}

/* Evicted blocks may need pages, which the evicting thread allocates. */
static double eviction_ns(struct node *node, uint32_t gpu, uint64_t chunks) {
    const struct gpu_profile *profile = &node->gpus[gpu].profile;
    uint64_t idle = gpu_idle_chunks(&node->gpus[gpu]);
    struct listed victim;
    if (chunks <= idle || !chunk_oldest(node, gpu, CHUNK_USED, &victim))
        return 0;
    bool has_pages = node->slots[victim.slot].blocks[victim.block].host & HOST_PAGES;
    return (double)((chunks - idle) *
                    (profile->evict_ns + (has_pages ? 0 : profile->host_page_ns)));
}

static double cost_of(const struct place *place, const struct operation *operation,
                      const struct bill *bill) {
    const struct gpu_profile *profile = profile_of(place, operation);
    double ns = (double)(bill->blocks * profile->service_ns + bill->pages * profile->host_page_ns +
                         bill->unmaps * profile->host_unmap_ns + bill->maps * profile->host_map_ns);
    if (bill->zeroes) /* assumed: the CPU zeroes as fast as first touch does */
        ns += bill->zeroes * (double)BLOCK_BYTES * 1e9 / (double)profile->populate_bandwidth;
    if (goes_to_gpu(operation))
        ns += eviction_ns(place->node, operation->target - LOCATION_GPU, bill->chunks);
    return ns;
}

static int transfer_to_gpu(const struct place *place, struct operation *operation, uint32_t index) {
    struct block *block = &place->slot->blocks[index];
    bool copies = block->location != operation->target && block->location != LOCATION_NOWHERE;
    int result = block_bring(place->node, place->slot_index, index,
                             operation->target - LOCATION_GPU, COPIES_QUEUED);
    if (result == 0 && copies && block->arriving < UINT8_MAX) {
        block->arriving++;
        operation->to_copy += BLOCK_BYTES;
    }
    return result;
}

static int transfer_to_host(const struct place *place, struct operation *operation,
                            uint32_t index) {
    int result = block_send(place->node, place->slot_index, index, COPIES_QUEUED);
    if (result == 0)
        operation->last_copy = place->slot->blocks[index].busy_until;
    return result;
}

static int carry_out(const struct place *place, struct operation *operation, uint32_t index) {
    if (goes_to_gpu(operation))
        return transfer_to_gpu(place, operation, index);
    if (operation->pass == PASS_TRANSFER)
        return transfer_to_host(place, operation, index);
    if (place->slot->blocks[index].location == LOCATION_HOST)
        place->slot->blocks[index].host |= HOST_MAPPED;
    return 0;
}

static void end_thread(struct operation *operation, int error) {
    operation->error = error;
    operation->pass = PASS_OVER;
    operation->issued = 1;
}

/* Repeating this after a crash changes nothing: a block that is there is not sent again. */
static void finish_batch(const struct place *place, struct operation *operation) {
    const struct reference *reference = reference_at(place, operation, operation->at_reference);
    bool alive = range_of(place, reference);
    for (uint32_t i = 0; alive && i < operation->stretch_blocks; i++) {
        if (operation->at_block + i >= reference->blocks)
            break;
        int result = carry_out(place, operation, reference->first_block + operation->at_block + i);
        if (result < 0) {
            operation->stretch_blocks = 0;
            end_thread(operation, result);
            return;
        }
    }
    if (operation->pass == PASS_TRANSFER)
        operation->to_issue -= operation->stretch_blocks < operation->to_issue
                                   ? operation->stretch_blocks
                                   : operation->to_issue;
    operation->at_block += operation->stretch_blocks;
    operation->stretch_blocks = 0;
}

static uint32_t batch_of_first_pass(const struct place *place, const struct operation *operation,
                                    const struct reference *reference, struct bill *bill) {
    uint32_t most = operation->at_block < BATCH_BLOCKS ? operation->at_block + 1 : BATCH_BLOCKS;
    uint32_t run = 0;
    while (run < most && operation->at_block + run < reference->blocks)
        add_to_bill(bill, place, operation, reference->first_block + operation->at_block + run++);
    return run;
}

/* Blocks that are no longer on the GPU. Zero if the next one is: it is skipped. */
static uint32_t batch_of_taken(const struct place *place, struct operation *operation,
                               const struct reference *reference, struct bill *bill) {
    uint32_t run = 0;
    while (run < BATCH_BLOCKS && operation->at_block + run < reference->blocks) {
        uint32_t index = reference->first_block + operation->at_block + run;
        if (place->slot->blocks[index].location == operation->target)
            break;
        add_to_bill(bill, place, operation, index);
        run++;
    }
    operation->again |= run > 0;
    return run;
}

/* Blocks whose copies are done, for mapping. Zero if the next one is still on its way. */
static uint32_t batch_of_arrived(const struct place *place, struct operation *operation,
                                 const struct reference *reference, struct bill *bill) {
    uint32_t run = 0;
    while (run < BATCH_BLOCKS && operation->at_block + run < reference->blocks) {
        const struct block *block =
            &place->slot->blocks[reference->first_block + operation->at_block + run];
        if (!out_reached(&place->node->gpus[block->busy_gpu], block->busy_until)) {
            if (!run) {
                operation->awaits = block->busy_until;
                operation->awaits_gpu = block->busy_gpu;
            }
            break;
        }
        bill->maps += block->location == LOCATION_HOST && !(block->host & HOST_MAPPED);
        run++;
    }
    return run;
}

static void next_pass(struct operation *operation) {
    bool single = operation->blocks == 1 && goes_to_gpu(operation);
    operation->at_reference = 0;
    operation->at_block = 0;
    if (operation->pass == PASS_AGAIN || single)
        end_thread(operation, 0);
    else
        operation->pass = PASS_AGAIN;
}

/* Returns whether anything has changed; false only if the thread waits for a copy. */
static bool begin_batch(const struct place *place, struct operation *operation) {
    if (operation->at_reference >= operation->references) {
        next_pass(operation);
        return true;
    }
    const struct reference *reference = reference_at(place, operation, operation->at_reference);
    if (operation->at_block >= reference->blocks || !range_of(place, reference)) {
        operation->at_reference++;
        operation->at_block = 0;
        return true;
    }
    struct bill bill = {0};
    uint32_t run = 0;
    if (operation->pass == PASS_TRANSFER)
        run = batch_of_first_pass(place, operation, reference, &bill);
    else if (goes_to_gpu(operation))
        run = batch_of_taken(place, operation, reference, &bill);
    else
        run = batch_of_arrived(place, operation, reference, &bill);
    if (run == 0 && operation->awaits)
        return false;
    if (run == 0)
        operation->at_block++;
    operation->stretch_blocks = run;
    operation->left = cost_of(place, operation, &bill);
    return true;
}

static bool thread_step(const struct place *place, struct operation *operation) {
    if (operation->pass == PASS_OVER || operation->left > 0)
        return false;
    if (operation->awaits &&
        !out_reached(&place->node->gpus[operation->awaits_gpu], operation->awaits))
        return false;
    operation->awaits = 0;
    if (operation->stretch_blocks) {
        finish_batch(place, operation);
        return true;
    }
    return begin_batch(place, operation);
}

/* True if the thread has queued nothing beyond this place yet. */
static bool copies_are_up_to_date(const struct operation *operation) {
    return operation->pass == PASS_TRANSFER &&
           operation->copy_reference == operation->at_reference &&
           operation->copy_block >= operation->at_block;
}

static bool is_copyable(const struct place *place, const struct operation *operation,
                        const struct block *block) {
    const struct gpu *target = &place->node->gpus[operation->target - LOCATION_GPU];
    return block->arriving && (block->busy_gpu != operation->target - LOCATION_GPU ||
                               out_reached(target, block->busy_until));
}

static void begin_copy(const struct place *place, struct operation *operation,
                       const struct reference *reference) {
    const struct block *blocks = &place->slot->blocks[reference->first_block];
    uint32_t first = operation->copy_block, run = 0;
    while (run < BATCH_BLOCKS && first + run < reference->blocks &&
           is_copyable(place, operation, &blocks[first + run]))
        run++;
    operation->copy_awaits = run ? 0 : blocks[first].busy_until;
    operation->copy_blocks = run;
    operation->copy_left = run * (double)BLOCK_BYTES;
}

/* A block may be on its way more than once, so the place advances only when it is not any more. */
static void finish_copy(const struct place *place, struct operation *operation) {
    const struct reference *reference = reference_at(place, operation, operation->copy_reference);
    bool alive = range_of(place, reference);
    for (uint32_t i = 0; alive && i < operation->copy_blocks; i++) {
        struct block *block = &place->slot->blocks[reference->first_block];
        if (operation->copy_block + i < reference->blocks &&
            block[operation->copy_block + i].arriving)
            block[operation->copy_block + i].arriving--;
    }
    uint64_t bytes = operation->copy_blocks * BLOCK_BYTES;
    operation->to_copy -= bytes < operation->to_copy ? bytes : operation->to_copy;
    operation->copy_blocks = 0;
}

/* Advances to the next block that is on its way. Returns false at the end of the queued blocks. */
static bool find_copy(const struct place *place, struct operation *operation) {
    while (operation->copy_reference < operation->references && !copies_are_up_to_date(operation)) {
        const struct reference *reference =
            reference_at(place, operation, operation->copy_reference);
        if (operation->copy_block >= reference->blocks || !range_of(place, reference)) {
            operation->copy_reference++;
            operation->copy_block = 0;
        } else if (place->slot->blocks[reference->first_block + operation->copy_block].arriving) {
            begin_copy(place, operation, reference);
            return operation->copy_blocks;
        } else {
            operation->copy_block++;
        }
    }
    return false;
}

static bool copies_step(const struct place *place, struct operation *operation) {
    if (operation->copies_over || operation->copy_left > 0)
        return false;
    if (!goes_to_gpu(operation)) {
        operation->copies_over = 1;
        return true;
    }
    if (operation->copy_blocks) {
        finish_copy(place, operation);
        return true;
    }
    operation->copy_awaits = 0;
    if (find_copy(place, operation))
        return true;
    if (operation->copy_reference < operation->references || operation->pass != PASS_OVER)
        return false;
    operation->copy_reference = 0;
    operation->copy_block = 0;
    operation->copies_over = !operation->again || operation->copy_walk;
    operation->copy_walk = 1;
    return true;
}

bool migrate_step(const struct place *place, struct operation *operation) {
    bool any = false;
    for (bool progress = true; progress; any |= progress)
        progress = thread_step(place, operation) | copies_step(place, operation);
    return any;
}

bool migrate_is_over(const struct operation *operation) {
    return operation->pass == PASS_OVER && operation->copies_over;
}

void migrate_abandon(const struct place *place, const struct operation *operation) {
    for (uint32_t r = 0; r < operation->references; r++) {
        const struct reference *reference = reference_at(place, operation, r);
        bool alive = range_of(place, reference);
        for (uint32_t i = 0; alive && i < reference->blocks; i++)
            place->slot->blocks[reference->first_block + i].arriving = 0;
    }
}
