/* Out: a chunk is copied, and only when its copy is done is it unmapped and its memory released; so it becomes free
 * for others chunk by chunk, while later ones are still on their way. In: memory is created and mapped at the old
 * address, then the bytes come. A few copies are in flight while the thread makes the driver's calls, so that
 * neither waits for the other. Nothing is in flight on the GPU of the program's own, and nobody is inside the gate.
 *
 * A fill is all or nothing. Two programs that each had half of their memory on a GPU that holds only one of them would
 * wait for each other for ever. So whoever finds no room for long gives back what has come, which costs nothing, since
 * the copies on the host are still good, moves out what it had never moved, and begins anew a little later. */
#include "carry.h"

#include <unistd.h>

#include "../clock.h"
#include "../devices.h"
#include "../lane.h"
#include "backing.h"
#include "explicit.h"
#include "log.h"

/* How long a fill waits for memory that should be there, holding what it has; and how it asks meanwhile. */
static const uint64_t fill_patience = CLOCK_MS(500);
enum { PAUSE_US = 1000 };

struct flight {
    struct chunk *chunk;
    uint64_t live;   /* as it set off */
    uint64_t window; /* an address of ours, if the program has none where it can be copied; or 0 */
};

struct carrier {
    struct mover *mover;
    struct device *device;
    struct regions *regions;
    enum mover_job job;
    struct lane lane;
    struct flight flights[LANE_CHUNKS]; /* as in the lane */
    struct chunk_list list;
    uint64_t flying; /* live bytes on their way */
    uint64_t since_ns;
    uint64_t fill;         /* the number of this one */
    uint64_t hungry_since; /* there was no memory on the GPU; 0: there was */
    bool has_failed;       /* the context is dead, or the driver broken: nothing more can be done */
};

static bool goes_on(const struct carrier *carrier) {
    return !carrier->has_failed && mover_goes_on(carrier->mover, carrier->job);
}

static void lock(struct carrier *carrier) {
    pthread_mutex_lock(&carrier->regions->lock);
}

static void unlock(struct carrier *carrier) {
    pthread_mutex_unlock(&carrier->regions->lock);
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t time_passed(struct carrier *carrier) {
    uint64_t before = carrier->since_ns;
    carrier->since_ns = clock_now();
    return carrier->since_ns - before;
}

/* Only what the program has in it matters; in a region that is shared, that may be anywhere. */
static uint64_t bytes_to_copy(const struct chunk *chunk) {
    return chunk->region->slab ? chunk->bytes : chunk->live;
}

/* In one step with what is left of the job, so that what is away and what is on its way never count twice. */
static struct chunk *take_to_leave(struct carrier *carrier, uint64_t *live) {
    struct mover *mover = carrier->mover;
    pthread_mutex_lock(&mover->lock);
    lock(carrier);
    bool wanted = mover_wants(mover, carrier->job) && mover->bytes;
    struct chunk *chunk = wanted ? chunk_list_take(&carrier->list, false) : NULL;
    if (chunk) {
        *live = chunk->live;
        mover->bytes -= least(*live, mover->bytes);
        mover->leaving += *live;
    }
    unlock(carrier);
    pthread_mutex_unlock(&mover->lock);
    return chunk;
}

static struct chunk *take_to_return(struct carrier *carrier) {
    struct mover *mover = carrier->mover;
    pthread_mutex_lock(&mover->lock);
    uint64_t room = mover_wants(mover, carrier->job) ? mover_room(mover) : 0;
    lock(carrier);
    struct chunk *chunk = room > carrier->flying ? chunk_list_take(&carrier->list, true) : NULL;
    unlock(carrier);
    pthread_mutex_unlock(&mover->lock);
    return chunk;
}

static unsigned next_flight(const struct carrier *carrier) {
    return (carrier->lane.oldest + carrier->lane.count) % LANE_CHUNKS;
}

/* Where a chunk can be copied, of the flight that is next. */
static CUresult find_address(struct carrier *carrier, const struct chunk *chunk,
                             uint64_t *address) {
    CUdevice gpu = carrier->device->ordinal;
    struct flight *flight = &carrier->flights[next_flight(carrier)];
    flight->window = 0;
    *address = backing_address(chunk, gpu);
    if (*address)
        return CUDA_SUCCESS;
    CUresult result = backing_open_window(chunk, gpu, address);
    flight->window = result == CUDA_SUCCESS ? *address : 0;
    return result;
}

static void close_window(struct flight *flight) {
    if (flight->window)
        backing_close_window(flight->chunk, flight->window);
    flight->window = 0;
}

static void send(struct carrier *carrier, struct chunk *chunk, uint64_t live) {
    struct flight *flight = &carrier->flights[next_flight(carrier)];
    flight->chunk = chunk;
    flight->live = live;
    carrier->flying += live;
    lane_send(&carrier->lane);
}

static void stays(struct carrier *carrier, struct chunk *chunk) {
    lock(carrier);
    chunk_landed(carrier->regions, chunk);
    unlock(carrier);
}

static void does_not_leave(struct carrier *carrier, struct chunk *chunk, uint64_t live) {
    struct mover *mover = carrier->mover;
    pthread_mutex_lock(&mover->lock);
    mover->leaving -= live;
    pthread_mutex_unlock(&mover->lock);
    stays(carrier, chunk);
}

/* Returns false if nothing is left to be sent. What has no place on the host stays. */
static bool send_out(struct carrier *carrier) {
    uint64_t live = 0;
    struct chunk *chunk = take_to_leave(carrier, &live);
    if (!chunk)
        return false;
    lane_begin(&carrier->lane);
    bool is_new = !slot_is_taken(&chunk->slot);
    if (slot_take(&chunk->slot, chunk->bytes, carrier->lane.context) < 0) {
        log_warn_once("GPU %d: there is no host memory for what is to leave the GPU",
                      carrier->device->ordinal);
        does_not_leave(carrier, chunk, live);
        return false;
    }
    if (is_new)
        chunk_has_slot(carrier->regions, chunk);
    uint64_t address;
    CUresult result = find_address(carrier, chunk, &address);
    if (result == CUDA_SUCCESS)
        result = real.cuMemcpyDtoHAsync_v2(chunk->slot.at, address, bytes_to_copy(chunk),
                                           carrier->lane.stream);
    carrier->has_failed = result != CUDA_SUCCESS;
    if (carrier->has_failed)
        does_not_leave(carrier, chunk, live);
    else
        send(carrier, chunk, live);
    return !carrier->has_failed;
}

/* Its copy is done, and only now may the memory go. */
static void has_left(struct carrier *carrier, const struct flight *flight) {
    struct chunk *chunk = flight->chunk;
    if (carrier->has_failed || backing_take(chunk) != CUDA_SUCCESS) {
        carrier->has_failed = true;
        does_not_leave(carrier, chunk, flight->live);
        return;
    }
    lock(carrier);
    chunk_set_state(carrier->regions, chunk, CHUNK_STORED);
    chunk_landed(carrier->regions, chunk);
    unlock(carrier);
    mover_note(carrier->mover,
               &(struct mover_progress){.out_bytes = flight->live, .out_ns = time_passed(carrier)});
}

static void has_come(struct carrier *carrier, struct chunk *chunk) {
    lock(carrier);
    chunk->before_fill = chunk->state;
    chunk->fill = carrier->fill;
    chunk_set_state(carrier->regions, chunk, CHUNK_THERE);
    chunk_landed(carrier->regions, chunk);
    unlock(carrier);
}

static void has_returned(struct carrier *carrier, const struct flight *flight) {
    if (carrier->has_failed) {
        stays(carrier, flight->chunk);
        return;
    }
    has_come(carrier, flight->chunk);
    mover_note(carrier->mover,
               &(struct mover_progress){.in_bytes = flight->live, .in_ns = time_passed(carrier)});
}

static void land(struct carrier *carrier) {
    struct flight flight = carrier->flights[carrier->lane.oldest];
    CUevent event = carrier->lane.chunks[carrier->lane.oldest].event;
    carrier->has_failed |= real.cuEventSynchronize(event) != CUDA_SUCCESS;
    lane_wait(&carrier->lane);
    close_window(&flight);
    carrier->flying -= flight.live;
    if (carrier->job == MOVER_OUT)
        has_left(carrier, &flight);
    else
        has_returned(carrier, &flight);
}

static void land_all(struct carrier *carrier) {
    while (carrier->lane.count)
        land(carrier);
}

static void make_place(struct carrier *carrier) {
    struct lane *lane = &carrier->lane;
    while (lane->count && (lane_is_full(lane) || lane_is_through(lane)))
        land(carrier);
}

/* The gate is told before anything goes that it may not open. Should it be open after all, nothing does. */
static void move_out(struct carrier *carrier) {
    if (!gate_falls_short(&carrier->device->gate))
        return;
    explicit_bury(carrier->device);
    lock(carrier);
    regions_list_there(carrier->regions, &carrier->list);
    unlock(carrier);
    while (goes_on(carrier) && send_out(carrier))
        make_place(carrier);
    land_all(carrier);
}

/* A chunk whose memory was just created, and has nothing in it. */
static void send_in(struct carrier *carrier, struct chunk *chunk) {
    if (chunk->state == CHUNK_BLANK) {
        has_come(carrier, chunk);
        return;
    }
    lane_begin(&carrier->lane);
    uint64_t address;
    CUresult result = find_address(carrier, chunk, &address);
    if (result == CUDA_SUCCESS)
        result = real.cuMemcpyHtoDAsync_v2(address, chunk->slot.at, bytes_to_copy(chunk),
                                           carrier->lane.stream);
    if (result == CUDA_SUCCESS) {
        send(carrier, chunk, chunk->live);
        return;
    }
    carrier->has_failed = true;
    backing_take(chunk);
    stays(carrier, chunk);
}

/* Returns false if nothing is left to be brought, or there is no room for it. */
static bool bring(struct carrier *carrier) {
    struct chunk *chunk = take_to_return(carrier);
    if (!chunk)
        return false;
    CUresult result = backing_give(chunk, carrier->device->ordinal);
    if (result == CUDA_SUCCESS) {
        carrier->hungry_since = 0;
        send_in(carrier, chunk);
        return !carrier->has_failed;
    }
    stays(carrier, chunk);
    carrier->list.next--;
    if (!carrier->hungry_since)
        carrier->hungry_since = clock_now();
    return false;
}

/* What has come since everything was there last goes again. Nobody has used it, so that it is still on the host. */
static void give_back(struct carrier *carrier) {
    for (struct region *region = carrier->regions->first; region; region = region->next)
        for (unsigned i = 0; i < region->count; i++) {
            struct chunk *chunk = &region->chunks[i];
            if (chunk->state == CHUNK_THERE && chunk->fill > carrier->regions->settled &&
                !chunk->is_moving && backing_take(chunk) == CUDA_SUCCESS)
                chunk_set_state(carrier->regions, chunk, chunk->before_fill);
        }
}

/* One chunk, at once. Returns false if it cannot leave. */
static bool put_out(struct carrier *carrier, struct chunk *chunk) {
    struct flight *flight = &carrier->flights[next_flight(carrier)];
    uint64_t address, live = chunk->live;
    bool is_new = !slot_is_taken(&chunk->slot);
    if (slot_take(&chunk->slot, chunk->bytes, carrier->lane.context) < 0)
        return false;
    if (is_new)
        chunk_has_slot(carrier->regions, chunk);
    CUresult result = find_address(carrier, chunk, &address);
    if (result == CUDA_SUCCESS)
        result = real.cuMemcpyDtoHAsync_v2(chunk->slot.at, address, bytes_to_copy(chunk),
                                           carrier->lane.stream);
    if (result == CUDA_SUCCESS)
        result = real.cuStreamSynchronize(carrier->lane.stream);
    flight->chunk = chunk;
    close_window(flight);
    if (result != CUDA_SUCCESS || backing_take(chunk) != CUDA_SUCCESS)
        return false;
    pthread_mutex_lock(&carrier->mover->lock);
    carrier->mover->leaving += live;
    pthread_mutex_unlock(&carrier->mover->lock);
    lock(carrier);
    chunk_set_state(carrier->regions, chunk, CHUNK_STORED);
    unlock(carrier);
    mover_note(carrier->mover,
               &(struct mover_progress){.out_bytes = live, .out_ns = time_passed(carrier)});
    return true;
}

/* What was there before goes too: others may be waiting for just that. Only where no work can use it. */
static void put_all_out(struct carrier *carrier) {
    struct chunk_list list;
    struct chunk *chunk = NULL;
    bool has_left = true;
    lock(carrier);
    int result = regions_list_there(carrier->regions, &list);
    unlock(carrier);
    while (result == 0 && has_left && goes_on(carrier) && atomic_load(&carrier->mover->is_quiet)) {
        lock(carrier);
        chunk = chunk_list_take(&list, false);
        unlock(carrier);
        if (!chunk)
            break;
        has_left = put_out(carrier, chunk);
        stays(carrier, chunk);
    }
    lock(carrier);
    if (result == 0)
        chunk_list_free(carrier->regions, &list);
    unlock(carrier);
}

/* A time that differs from program to program, and from try to try. The program's own random numbers are its own. */
static void pause_somewhat(const struct carrier *carrier) {
    uint64_t now = clock_now(),
             mixed = (now ^ (uint64_t)getpid() << 32) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t until = now + CLOCK_MS(20 + (mixed >> 32) % 180);
    while (goes_on(carrier) && clock_now() < until)
        usleep(PAUSE_US);
}

/* The GPU has no memory, though it should have: somebody else has it, or it is about to be released. */
static void endure_hunger(struct carrier *carrier) {
    if (clock_now() - carrier->hungry_since < fill_patience) {
        usleep(PAUSE_US);
        return;
    }
    log_info("GPU %d: there is no room for this program's memory yet", carrier->device->ordinal);
    lock(carrier);
    give_back(carrier);
    unlock(carrier);
    put_all_out(carrier);
    carrier->hungry_since = 0;
    pause_somewhat(carrier);
}

/* Whoever waits does so with nothing in flight, so that all that has come is known to have. */
static void wait_for_room(struct carrier *carrier) {
    uint64_t began = clock_now();
    if (carrier->hungry_since)
        endure_hunger(carrier);
    else if (mover_wait_for_room(carrier->mover, carrier->job))
        usleep(PAUSE_US); /* there is room, or will be: for less than a chunk so far */
    carrier->since_ns += clock_now() - began; /* what others take is not the time that this takes */
}

static bool is_whole(struct carrier *carrier) {
    return explicit_is_whole(carrier->device);
}

/* Again and again, until everything is there: memory may be allocated meanwhile. */
static void fill(struct carrier *carrier) {
    lock(carrier);
    carrier->fill = ++carrier->regions->fills;
    unlock(carrier);
    while (goes_on(carrier) && !is_whole(carrier)) {
        lock(carrier);
        regions_list_away(carrier->regions, &carrier->list);
        unlock(carrier);
        while (goes_on(carrier) && bring(carrier))
            make_place(carrier);
        land_all(carrier);
        lock(carrier);
        chunk_list_free(carrier->regions, &carrier->list);
        unlock(carrier);
        if (goes_on(carrier) && !is_whole(carrier))
            wait_for_room(carrier);
    }
}

/* In a context that is dead nothing runs, and nothing can be copied. The program is to hear of it, instead of waiting
 * for ever. */
static void give_up(struct carrier *carrier) {
    if (carrier->has_failed && carrier->job != MOVER_OUT)
        gate_is_whole(&carrier->device->gate);
}

void carry(struct mover *mover, enum mover_job job) {
    struct carrier carrier = {.mover = mover,
                              .device = mover->device,
                              .regions = &mover->device->explicit.regions,
                              .job = job,
                              .since_ns = clock_now()};
    if (lane_open(&carrier.lane, mover->device, CU_DEVICE_CPU) < 0)
        return;
    if (job == MOVER_OUT)
        move_out(&carrier);
    else
        fill(&carrier);
    give_up(&carrier);
    lock(&carrier);
    chunk_list_free(carrier.regions, &carrier.list);
    unlock(&carrier);
    lane_close(&carrier.lane);
}
