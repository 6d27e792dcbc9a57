#include "convoy.h"

#include "backing.h"
#include "process/clock.h"
#include "process/devices.h"

int convoy_open(struct convoy *convoy, struct mover *mover) {
    *convoy = (struct convoy){.mover = mover,
                              .device = mover->device,
                              .regions = &mover->device->explicit.regions,
                              .since_ns = clock_now()};
    return lane_open(&convoy->lane, mover->device, CU_DEVICE_CPU);
}

void convoy_close(struct convoy *convoy) {
    lane_close(&convoy->lane);
}

static uint64_t time_passed(struct convoy *convoy) {
    uint64_t before = convoy->since_ns;
    convoy->since_ns = clock_now();
    return convoy->since_ns - before;
}

/* Only allocated bytes matter; in a shared region they may be anywhere. */
static uint64_t bytes_to_copy(const struct chunk *chunk) {
    return chunk->region->slab ? chunk->bytes : chunk->live;
}

static struct flight *next_flight(struct convoy *convoy) {
    return &convoy->flights[(convoy->lane.oldest + convoy->lane.count) % LANE_CHUNKS];
}

/* An address at which a chunk can be copied. */
static CUresult find_address(struct convoy *convoy, const struct chunk *chunk, uint64_t *address) {
    CUdevice gpu = convoy->device->ordinal;
    struct flight *flight = next_flight(convoy);
    flight->window = 0;
    *address = backing_address(chunk, gpu);
    if (*address)
        return CUDA_SUCCESS;
    CUresult result = backing_open_window(chunk, gpu, address);
    flight->window = result == CUDA_SUCCESS ? *address : 0;
    return result;
}

static CUresult copy_piece(struct convoy *convoy, const struct slot_piece *piece, uint64_t address,
                           uint64_t bytes, bool leaves) {
    char *at = slot_piece_at(piece);
    return leaves ? real.cuMemcpyDtoHAsync_v2(at, address, bytes, convoy->lane.stream)
                  : real.cuMemcpyHtoDAsync_v2(address, at, bytes, convoy->lane.stream);
}

static CUresult copy(struct convoy *convoy, const struct chunk *chunk, bool leaves) {
    uint64_t address, left = bytes_to_copy(chunk), done = 0;
    CUresult result = find_address(convoy, chunk, &address);
    if (result != CUDA_SUCCESS)
        return result;
    for (unsigned i = 0; left && i < chunk->slot.count && result == CUDA_SUCCESS; i++) {
        const struct slot_piece *piece = &chunk->slot.pieces[i];
        uint64_t bytes = left < slot_piece_bytes(piece) ? left : slot_piece_bytes(piece);
        result = copy_piece(convoy, piece, address + done, bytes, leaves);
        done += bytes;
        left -= bytes;
    }
    if (result != CUDA_SUCCESS)
        real.cuStreamSynchronize(convoy->lane.stream); /* earlier pieces may be on their way */
    if (result != CUDA_SUCCESS && next_flight(convoy)->window)
        backing_close_window(chunk, address);
    return result;
}

/* Whether an error other than a lack of memory is due to a dead context, which answers everything
 * with its error. */
static bool is_dead(const struct convoy *convoy, CUresult result) {
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_OUT_OF_MEMORY)
        return false;
    result = real.cuStreamQuery(convoy->lane.stream);
    return result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY;
}

static bool send(struct convoy *convoy, struct chunk *chunk, uint64_t live, bool leaves) {
    lane_begin(&convoy->lane);
    CUresult result = copy(convoy, chunk, leaves);
    convoy->has_failed |= is_dead(convoy, result);
    if (result != CUDA_SUCCESS)
        return false;
    struct flight *flight = next_flight(convoy);
    flight->chunk = chunk;
    flight->live = live;
    flight->leaves = leaves;
    convoy->flying += live;
    lane_send(&convoy->lane);
    return true;
}

static void arrive(struct convoy *convoy, struct chunk *chunk, enum chunk_state state) {
    pthread_mutex_lock(&convoy->regions->lock);
    chunk_set_state(convoy->regions, chunk, state);
    chunk_landed(convoy->regions, chunk);
    pthread_mutex_unlock(&convoy->regions->lock);
}

/* Another chunk is to leave in its place, if there is one. */
static void does_not_leave(struct convoy *convoy, struct chunk *chunk, uint64_t live) {
    struct mover *mover = convoy->mover;
    pthread_mutex_lock(&mover->lock);
    mover->leaving -= live;
    if (mover_wants(mover, MOVER_OUT))
        mover->bytes += live < UINT64_MAX - mover->bytes ? live : UINT64_MAX - mover->bytes;
    mover->leaving_there -= live;
    pthread_mutex_unlock(&mover->lock);
    slot_give_back(&chunk->slot, &convoy->device->explicit.extents);
    arrive(convoy, chunk, CHUNK_THERE);
}

/* In one step, so that it counts as away exactly once at any moment. */
static void arrive_on_host(struct convoy *convoy, const struct flight *flight) {
    pthread_mutex_lock(&convoy->mover->lock);
    arrive(convoy, flight->chunk, CHUNK_STORED);
    convoy->mover->leaving_there -= flight->live;
    pthread_mutex_unlock(&convoy->mover->lock);
}

bool convoy_send_out(struct convoy *convoy, struct chunk *chunk, uint64_t live) {
    if (send(convoy, chunk, live, true))
        return true;
    does_not_leave(convoy, chunk, live);
    return !convoy->has_failed;
}

/* Memory that cannot be taken away is there again once it is mapped at all its addresses. If that
 * fails too, the chunk counts as on the host: the gate stays closed until it comes back. */
static bool is_still_there(struct convoy *convoy, struct chunk *chunk) {
    return backing_take(chunk) != CUDA_SUCCESS &&
           backing_give(chunk, convoy->device->ordinal) == CUDA_SUCCESS;
}

/* The copy is done, and only now may the memory go. */
static void has_left(struct convoy *convoy, const struct flight *flight) {
    if (convoy->has_failed || is_still_there(convoy, flight->chunk)) {
        does_not_leave(convoy, flight->chunk, flight->live);
        return;
    }
    arrive_on_host(convoy, flight);
    mover_note(convoy->mover,
               &(struct mover_progress){.out_bytes = flight->live, .out_ns = time_passed(convoy)});
}

static void has_come(struct convoy *convoy, struct chunk *chunk) {
    chunk->before_fill = chunk->state;
    chunk->fill = convoy->fill;
    arrive(convoy, chunk, CHUNK_THERE);
}

static void stays_away(struct convoy *convoy, struct chunk *chunk) {
    backing_take(chunk);
    arrive(convoy, chunk, chunk->state);
}

static void has_returned(struct convoy *convoy, const struct flight *flight) {
    if (convoy->has_failed) {
        stays_away(convoy, flight->chunk);
        return;
    }
    has_come(convoy, flight->chunk);
    mover_note(convoy->mover,
               &(struct mover_progress){.in_bytes = flight->live, .in_ns = time_passed(convoy)});
}

bool convoy_send_in(struct convoy *convoy, struct chunk *chunk) {
    CUresult result = backing_give(chunk, convoy->device->ordinal);
    if (result != CUDA_SUCCESS) {
        convoy->has_failed |= is_dead(convoy, result);
        arrive(convoy, chunk, chunk->state);
        return false;
    }
    if (chunk->state == CHUNK_BLANK) {
        has_come(convoy, chunk);
        return true;
    }
    if (send(convoy, chunk, chunk->live, false))
        return true;
    stays_away(convoy, chunk);
    return false;
}

static void land(struct convoy *convoy) {
    struct lane *lane = &convoy->lane;
    struct flight flight = convoy->flights[lane->oldest];
    convoy->has_failed |= real.cuEventSynchronize(lane->chunks[lane->oldest].event) != CUDA_SUCCESS;
    lane_wait(lane);
    if (flight.window)
        backing_close_window(flight.chunk, flight.window);
    convoy->flying -= flight.live;
    if (flight.leaves)
        has_left(convoy, &flight);
    else
        has_returned(convoy, &flight);
}

void convoy_make_place(struct convoy *convoy) {
    struct lane *lane = &convoy->lane;
    while (lane->count && (lane_is_full(lane) || lane_is_through(lane)))
        land(convoy);
}

bool convoy_land_one(struct convoy *convoy) {
    if (!convoy->lane.count)
        return false;
    land(convoy);
    return true;
}

void convoy_land_all(struct convoy *convoy) {
    while (convoy->lane.count)
        land(convoy);
}
