/* One operation as a sequence of stretches: parts that need one engine for one length of work.
 *
 * Work that touches only plain memory is a single stretch. Work on managed memory walks through its
 * blocks as the hardware would: runs of resident blocks cost what plain memory costs; a block that
 * is elsewhere is faulted in, slowly, one at a time, and on a full GPU somebody else's block leaves
 * first; a block that prefers the host is made there and read over the bus each time. */
#include "stretch.h"

#include "residency.h"

enum { PREFETCH_CHUNK_BLOCKS = 32 };

static const struct reference *reference_at(const struct place *place,
                                            const struct operation *operation) {
    uint64_t index = operation->first_reference + operation->at_reference;
    return &place->queue->references[index % REFERENCE_SLOTS];
}

/* NULL when it was freed meanwhile, even if another range has its number now. */
static struct range *range_of(const struct place *place, const struct reference *reference) {
    struct range *range = &place->slot->ranges[reference->range % MAX_RANGES];
    uint32_t offset = reference->first_block - range->first_block;
    bool inside = reference->first_block >= range->first_block && offset <= range->blocks &&
                  reference->blocks <= range->blocks - offset;
    return range->in_use && inside ? range : NULL;
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
    operation->moves =
        engine != ENGINE_NONE && (stretch == STRETCH_ARRIVING || stretch == STRETCH_LEAVING);
}

/* What came in over the bus of one GPU, and what left by another's or the same. */
static void count_bytes(const struct place *place, uint8_t from, uint8_t to, uint64_t bytes) {
    if (to >= LOCATION_GPU) {
        place->node->gpus[to - LOCATION_GPU].in_bytes += bytes;
        place->slot->accounts[to - LOCATION_GPU].in_bytes += bytes;
    }
    if (from >= LOCATION_GPU) {
        place->node->gpus[from - LOCATION_GPU].out_bytes += bytes;
        place->slot->accounts[from - LOCATION_GPU].out_bytes += bytes;
    }
}

/* A block that changes its place, which is not all that goes over a bus. */
static void count_move(struct node *node, uint8_t from, uint8_t to) {
    if (to >= LOCATION_GPU)
        node->gpus[to - LOCATION_GPU].moved_in_bytes += BLOCK_BYTES;
    if (from >= LOCATION_GPU)
        node->gpus[from - LOCATION_GPU].moved_out_bytes += BLOCK_BYTES;
}

/* Somebody may have taken the room that was there when the stretch began. A fault takes it back; a
 * prefetch has to make room in its own way first. */
static bool has_room_at(const struct place *place, const struct operation *operation) {
    if (operation->target < LOCATION_GPU)
        return true;
    const struct gpu *target = &place->node->gpus[operation->target - LOCATION_GPU];
    if (operation->kind != OPERATION_PREFETCH && !gpu_has_room(target))
        gpu_evict(place->node, operation->target - LOCATION_GPU, 1);
    return gpu_has_room(target);
}

/* Puts the blocks of the stretch where they were going; returns how many found room. After a crash
 * in finish() the stretch may lie one further on than it was, hence the limit. */
static uint32_t put_blocks(const struct place *place, const struct operation *operation) {
    const struct reference *reference = reference_at(place, operation);
    struct range *range = range_of(place, reference);
    for (uint32_t i = 0; range && i < operation->stretch_blocks; i++) {
        if (operation->at_block + i >= reference->blocks)
            break;
        const struct block *block = block_at(place, reference, operation->at_block + i);
        if (block->location == operation->target)
            continue;
        if (!has_room_at(place, operation))
            return i;
        if (block->location != LOCATION_NOWHERE) {
            count_bytes(place, block->location, operation->target, BLOCK_BYTES);
            count_move(place->node, block->location, operation->target);
        }
        uint32_t in_range = reference->first_block + operation->at_block + i - range->first_block;
        block_move(place->node, place->slot, range, in_range, operation->target);
    }
    return operation->stretch_blocks;
}

static double bytes_of_run(const struct reference *reference, uint32_t run) {
    return run ? (double)reference->bytes * run / reference->blocks : 0;
}

static void finish_arrival(const struct place *place, struct operation *operation) {
    uint32_t arrived = put_blocks(place, operation);
    if (operation->stretch_engine == ENGINE_FAULT)
        place->node->gpus[place->gpu].faults += operation->stretch_blocks;
    if (operation->kind == OPERATION_PREFETCH)
        operation->stretch_blocks = arrived; /* the others come next; a fault gives up */
}

static void finish(const struct place *place, struct operation *operation) {
    if (operation->stretch == STRETCH_LEAVING) {
        gpu_evict(place->node, operation->target - LOCATION_GPU, operation->stretch_blocks);
        operation->stretch_blocks = 0;
    }
    if (operation->stretch == STRETCH_ARRIVING)
        finish_arrival(place, operation);
    if (operation->stretch == STRETCH_REMOTE && operation->engine == ENGINE_COMPUTE)
        count_bytes(
            place, LOCATION_NOWHERE, (uint8_t)(LOCATION_GPU + place->gpu),
            (uint64_t)bytes_of_run(reference_at(place, operation), operation->stretch_blocks));
    operation->at_block += operation->stretch_blocks;
    operation->stretch_blocks = 0;
}

static double compute_ns(const struct place *place, double bytes) {
    return bytes * 1e9 / (double)place->node->gpus[place->gpu].profile.bandwidth;
}

/* How many blocks from here on have the same location and advice. */
static uint32_t run_length(const struct place *place, const struct reference *reference,
                           uint32_t from, uint32_t most) {
    const struct block *first = block_at(place, reference, from);
    uint32_t run = 1;
    while (run < most && from + run < reference->blocks) {
        const struct block *next = block_at(place, reference, from + run);
        if (next->location != first->location || next->preferred != first->preferred ||
            next->accessed_by != first->accessed_by)
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
static bool begin_arrival(const struct place *place, struct operation *operation, double left,
                          bool is_new) {
    const struct gpu *gpu = &place->node->gpus[place->gpu];
    bool full = !gpu_has_room(gpu);
    if (full)
        left += (double)BLOCK_BYTES * 1e9 / (double)gpu->profile.d2h_bandwidth;
    operation->target = (uint8_t)(LOCATION_GPU + place->gpu);
    begin(operation, STRETCH_ARRIVING, ENGINE_FAULT, 1, left);
    operation->moves = full || !is_new;
    return true;
}

/* First touch: the block comes into being where it is wanted. */
static bool begin_populating(const struct place *place, struct operation *operation,
                             const struct block *block) {
    const struct gpu_profile *profile = &place->node->gpus[place->gpu].profile;
    double left = (double)BLOCK_BYTES * 1e9 / (double)profile->populate_bandwidth;
    if (operation->flags & OPERATION_OVERWRITES)
        left = 0;
    if (block->preferred != LOCATION_HOST)
        return begin_arrival(place, operation, left, true);
    operation->target = LOCATION_HOST;
    if (operation->engine == ENGINE_COMPUTE) /* as in begin_in_place() */
        left += (double)BLOCK_BYTES * 1e9 / (double)profile->h2d_bandwidth;
    begin(operation, STRETCH_ARRIVING, ENGINE_FAULT, 1, left);
    operation->moves = 0;
    return true;
}

/* The next stretch of work on the block at hand. */
static bool begin_touch(const struct place *place, struct operation *operation,
                        const struct reference *reference) {
    const struct gpu *gpu = &place->node->gpus[place->gpu];
    const struct block *block = block_at(place, reference, operation->at_block);
    uint32_t rest = reference->blocks - operation->at_block;
    if (block->location == LOCATION_GPU + place->gpu) {
        uint32_t run = run_length(place, reference, operation->at_block, rest);
        return begin_in_place(place, operation, reference, run, false);
    }
    if (block->location == LOCATION_NOWHERE && gpu_could_make_room(gpu))
        return begin_populating(place, operation, block);
    if (reads_remotely(place, operation, block)) {
        uint32_t run = run_length(place, reference, operation->at_block, rest);
        return begin_in_place(place, operation, reference, run, true);
    }
    return begin_arrival(place, operation,
                         (double)BLOCK_BYTES * 1e9 / (double)gpu->profile.fault_bandwidth, false);
}

/* The next chunk of a prefetch, or the eviction that makes room for it. */
static bool begin_prefetch(const struct place *place, struct operation *operation,
                           const struct reference *reference) {
    const struct block *block = block_at(place, reference, operation->at_block);
    uint32_t run = run_length(place, reference, operation->at_block, PREFETCH_CHUNK_BLOCKS);
    bool to_gpu = operation->target >= LOCATION_GPU;
    if (block->location == operation->target || (!to_gpu && block->location == LOCATION_NOWHERE)) {
        begin(operation, STRETCH_RESIDENT, ENGINE_NONE, run, 0);
        return true;
    }
    double bytes = run * (double)BLOCK_BYTES;
    if (!to_gpu) {
        begin(operation, STRETCH_ARRIVING, ENGINE_BUS_OUT, run, bytes);
        return true;
    }
    struct gpu *target = &place->node->gpus[operation->target - LOCATION_GPU];
    uint64_t room = gpu_free_bytes(target) / BLOCK_BYTES;
    if (room == 0) {
        bool evicts = place->node->profile.full_prefetch_evicts && target->resident_blocks > 0;
        uint32_t leaving = run < target->resident_blocks ? run : target->resident_blocks;
        if (evicts)
            begin(operation, STRETCH_LEAVING, ENGINE_BUS_OUT, leaving,
                  leaving * (double)BLOCK_BYTES);
        else
            begin(operation, STRETCH_RESIDENT, ENGINE_NONE, run, 0); /* skipped: it moves nothing */
        return true;
    }
    if (run > room)
        run = (uint32_t)room;
    bool populates = block->location == LOCATION_NOWHERE;
    begin(operation, STRETCH_ARRIVING, populates ? ENGINE_NONE : ENGINE_BUS_IN, run,
          populates ? 0 : run * (double)BLOCK_BYTES);
    return true;
}

static bool begin_next(const struct place *place, struct operation *operation) {
    while (operation->at_reference < operation->references) {
        const struct reference *reference = reference_at(place, operation);
        if (operation->at_block < reference->blocks && range_of(place, reference))
            return operation->kind == OPERATION_PREFETCH
                       ? begin_prefetch(place, operation, reference)
                       : begin_touch(place, operation, reference);
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
