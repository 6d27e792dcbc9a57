/* The way a driver carries out a prefetch is published (the kernel modules of NVIDIA's driver,
 * nvidia-uvm), and this file is made for it:
 *
 *  - To the host, the calling thread does the work, block by block, and the call returns when it is
 *    done. Memory that leaves keeps its room on the GPU until another program needs it, so nothing
 *    becomes free.
 *  - To the GPU, the call returns when copies are queued. On a full GPU it always evicts, so the
 *    memory sent comes. Blocks with no bytes left in them go first: others have moved these out.
 *    Then go the blocks that were served the longest time ago, of any program. Every block that a
 *    prefetch covers counts as served, even one that is resident already.
 *  - So memory left on the GPU at the end of the last turn is the oldest there is, and would be the
 *    first to go. It is touched before anything else comes in. That costs a microsecond per
 *    resident block; a block that is not resident after all comes.
 *
 * A driver that does all of this later, in stream order, is supported as well. */
#include "transfer.h"

#include <errno.h>
#include <unistd.h>

#include "lane.h"
#include "least.h"
#include "memory/allocations.h"
#include "process/clock.h"
#include "process/devices.h"
#include "residency.h"

enum {
    PUT_OFF_MS = 200,       /* before it is said that nothing can leave */
    PUT_OFF_LOOK_US = 2000, /* meanwhile there may be another order */
};

struct transfer {
    struct mover *mover;
    struct device *device;
    enum mover_job job;
    struct lane lane;
    struct residency_list list;
    uint64_t most;                /* bytes that may move, whatever the order is */
    uint64_t since_ns;            /* for the time that moves take */
    uint64_t chunk_bytes;         /* of the next chunk */
    uint64_t pace_bytes, pace_ns; /* how fast chunks come through, as a moving average */
    bool lacks_room;              /* that is why the last piece was not taken */
};

static bool goes_on(const struct transfer *transfer) {
    return mover_goes_on(transfer->mover, transfer->job);
}

typedef bool take_piece(struct ledger *, struct residency_list *, uint64_t,
                        struct residency_piece *);

/* In one step with the rest of the job, so that bytes away and bytes on their way never count
 * twice. */
static bool take(struct transfer *transfer, uint64_t most, struct residency_piece *piece) {
    struct mover *mover = transfer->mover;
    take_piece *next = transfer->job == MOVER_OUT ? residency_leave : residency_return;
    pthread_mutex_lock(&mover->lock);
    uint64_t room = mover_wants(mover, transfer->job) ? mover_room(mover) : 0;
    transfer->lacks_room = !room;
    room = least(room, transfer->most);
    bool taken = room && next(&allocations.memory, &transfer->list, least(most, room), piece);
    if (taken) {
        mover->bytes -= least(piece->bytes, mover->bytes);
        transfer->most -= least(piece->bytes, transfer->most);
        mover->leaving += transfer->job == MOVER_OUT ? piece->bytes : 0;
    }
    pthread_mutex_unlock(&mover->lock);
    return taken;
}

/* A piece that the driver will not move was freed a moment ago, or is of a kind that stays. */
static void leave_alone(struct transfer *transfer, const struct residency_piece *piece) {
    struct mover *mover = transfer->mover;
    transfer->list.next++;
    transfer->list.done = 0;
    if (transfer->job == MOVER_OUT) {
        pthread_mutex_lock(&mover->lock);
        mover->leaving -= piece->bytes;
        residency_has_stayed(&allocations.memory, piece);
        if (mover_wants(mover, transfer->job))
            mover->bytes += least(piece->bytes, UINT64_MAX - mover->bytes);
        pthread_mutex_unlock(&mover->lock);
    }
    residency_landed(&allocations.memory, piece, 1);
}

static void add(struct transfer *transfer, const struct residency_piece *piece) {
    if (lane_add(&transfer->lane, piece) < 0)
        leave_alone(transfer, piece);
}

/* Sends off a chunk. Returns false if there is nothing to send, or no room for it. */
static bool send(struct transfer *transfer) {
    const struct lane_chunk *chunk = lane_begin(&transfer->lane);
    struct residency_piece piece;
    while (chunk->bytes < transfer->chunk_bytes && chunk->count < LANE_PIECES &&
           take(transfer, transfer->chunk_bytes - chunk->bytes, &piece))
        add(transfer, &piece);
    if (!chunk->count)
        return false;
    lane_send(&transfer->lane);
    return true;
}

static uint64_t time_passed(struct transfer *transfer) {
    uint64_t before = transfer->since_ns;
    transfer->since_ns = clock_now();
    return transfer->since_ns - before;
}

/* Chunks are sized to take some ten milliseconds, however fast the bus is. A call that does the
 * work itself cannot be interrupted: another order, a bar and a thread that frees memory wait for
 * it. But within a call, later blocks are copied while earlier ones are mapped, so small chunks are
 * slow. */
static void learn_pace(struct transfer *transfer, uint64_t bytes, uint64_t ns) {
    transfer->pace_bytes = (3 * transfer->pace_bytes + bytes) / 4;
    transfer->pace_ns = (3 * transfer->pace_ns + ns) / 4;
    double fitting =
        (double)transfer->pace_bytes / (double)(transfer->pace_ns + 1) * (double)LANE_CHUNK_NS;
    transfer->chunk_bytes = LANE_CHUNK_MOST;
    if (fitting < (double)LANE_CHUNK_MOST)
        transfer->chunk_bytes = (uint64_t)fitting - (uint64_t)fitting % RESIDENCY_BLOCK;
    if (transfer->chunk_bytes < LANE_CHUNK_LEAST)
        transfer->chunk_bytes = LANE_CHUNK_LEAST;
}

static void note(struct transfer *transfer, const struct lane_chunk *chunk) {
    uint64_t ns = time_passed(transfer);
    struct mover_progress made = {0};
    if (transfer->job == MOVER_OUT)
        made = (struct mover_progress){.out_bytes = chunk->moved_bytes, .out_ns = ns};
    else
        made = (struct mover_progress){.in_bytes = chunk->moved_bytes, .in_ns = ns};
    mover_note(transfer->mover, &made);
    if (chunk->moved_bytes)
        learn_pace(transfer, chunk->bytes, ns);
}

/* Arrived memory counts from now on, and may be freed. */
static void land(struct transfer *transfer) {
    const struct lane_chunk *chunk = lane_wait(&transfer->lane);
    residency_landed(&allocations.memory, chunk->pieces, chunk->count);
    note(transfer, chunk);
}

static void land_all(struct transfer *transfer) {
    while (transfer->lane.count)
        land(transfer);
}

/* Lands chunks that have arrived, and one more if there is no place for the next: a program that
 * waits for the room, or a thread that frees the memory, learns of it soon. */
static void make_place(struct transfer *transfer) {
    while (transfer->lane.count &&
           (lane_is_full(&transfer->lane) || lane_is_through(&transfer->lane)))
        land(transfer);
}

static void move_out(struct transfer *transfer) {
    residency_list_there(&allocations.memory, transfer->device->ordinal, &transfer->list);
    while (goes_on(transfer) && send(transfer))
        make_place(transfer);
    land_all(transfer);
}

/* Once for each order, by calls as large as possible. */
static void touch_leftovers(struct transfer *transfer) {
    struct residency_piece piece;
    if (!mover_has_to_touch(transfer->mover, transfer->job))
        return;
    residency_list_arrived(&allocations.memory, transfer->device->ordinal, &transfer->list);
    while (goes_on(transfer)) {
        const struct lane_chunk *chunk = lane_begin(&transfer->lane);
        while (chunk->count < LANE_PIECES &&
               residency_touch(&allocations.memory, &transfer->list, &piece))
            add(transfer, &piece);
        if (!chunk->count)
            break;
        lane_send(&transfer->lane);
        make_place(transfer);
    }
    land_all(transfer);
}

/* Waits for room with nothing in flight, so that everything that has come is known to have come.
 * Room may have been made since it was found missing. Returns whether there is any. */
static bool finds_room(struct transfer *transfer) {
    land_all(transfer);
    if (!transfer->lacks_room)
        return false;
    uint64_t began = clock_now();
    bool has_room = mover_wait_for_room(transfer->mover, transfer->job);
    transfer->since_ns +=
        clock_now() - began; /* waiting for others is not part of the time that moves take */
    return has_room;
}

static void fill(struct transfer *transfer) {
    residency_list_away(&allocations.memory, transfer->device->ordinal, &transfer->list);
    while (goes_on(transfer) && (send(transfer) || finds_room(transfer)))
        make_place(transfer);
    land_all(transfer);
}

/* No daemon tells how much has no room. Memory that is free now has, and the rest comes when
 * used. */
static void fill_with_what_is_free(struct transfer *transfer) {
    size_t free = 0, total;
    if (real.cuMemGetInfo_v2(&free, &total) != CUDA_SUCCESS)
        free = 0;
    transfer->most = free - free % RESIDENCY_BLOCK;
    fill(transfer);
}

/* Beside explicit memory, which is all resident by now, an order says nothing about managed memory.
 * Bringing in more than the GPU has room for would only push out what has just come. */
static uint64_t most_beside_explicit(const struct device *device) {
    uint64_t there = account_there(&device->account) + atomic_load(&device->account.pinned);
    uint64_t usable = device->total_bytes - device->total_bytes / 16;
    return usable > there ? usable - there : 0;
}

static void carry_out(struct transfer *transfer) {
    switch (transfer->job) {
    case MOVER_OUT: move_out(transfer); break;
    case MOVER_FILL:
        if (atomic_load(&transfer->device->is_mixed))
            transfer->most = most_beside_explicit(transfer->device);
        touch_leftovers(transfer);
        fill(transfer);
        mover_wait_for_the_rest(transfer->mover, transfer->job);
        break;
    case MOVER_FILL_AHEAD: fill(transfer); break;
    case MOVER_FILL_GENTLY:
    case MOVER_RETURN: fill_with_what_is_free(transfer); break;
    default: break;
    }
}

/* Where every context is dead, nothing can leave. The daemon would give the same order again at
 * once, and again, so it is answered after a pause. */
static void put_off(struct mover *mover) {
    uint64_t until = clock_now() + CLOCK_MS(PUT_OFF_MS);
    while (mover_goes_on(mover, MOVER_OUT) && clock_now() < until)
        usleep(PUT_OFF_LOOK_US);
}

void transfer(struct mover *mover, enum mover_job job) {
    if (mover->carry)
        mover->carry(mover, job);
    struct transfer transfer = {.mover = mover,
                                .device = mover->device,
                                .job = job,
                                .most = UINT64_MAX,
                                .chunk_bytes = LANE_CHUNK_FIRST};
    CUdevice target = job == MOVER_OUT ? CU_DEVICE_CPU : mover->device->ordinal;
    transfer.since_ns = clock_now();
    int result = lane_open(&transfer.lane, mover->device, target);
    if (result == -EIO && job == MOVER_OUT)
        put_off(mover);
    if (result < 0)
        return;
    carry_out(&transfer);
    lane_close(&transfer.lane);
    residency_list_free(&transfer.list);
}
