/* How do we know that memory has come in? Nothing in the driver's interface tells where managed memory is;
 * attributes of a range repeat what was asked for. What the driver does tell is how much of the GPU is
 * free, whoever uses it. A prefetch can be left undone for one reason, that the GPU is full. So:
 *
 *  - A chunk is sent only when there is room for it beside everything that is in flight. As long as one
 *    program at a time fills, nobody can take that room away.
 *  - Should two fill at the same time, one may find the room taken. The GPU is full then, and a full
 *    GPU is what is looked for when the chunk is done: such a chunk is doubted, and sent again. For
 *    memory that is there already that costs nothing.
 *  - How much is free before and after says nothing by itself: others come and go at the same time. */
#include "haul.h"

#include <stdlib.h>

#include "books.h"
#include "clock.h"
#include "devices.h"
#include "lane.h"
#include "log.h"
#include "room.h"

/* Somebody who moves memory out frees a chunk every few milliseconds. When nothing has become free for so
 * long, nobody does: the daemon has counted on room that others, outside nvshare, have taken. */
static const uint64_t patience = CLOCK_MS(1000);

enum { ROUNDS = 4 }; /* chunks that are doubted are sent again; and new allocations are found */

struct haul {
    struct mover *mover;
    struct device *device;
    enum mover_job job;
    struct lane lane;
    struct residency_list list;
    struct room room;
    uint64_t free;                   /* on the GPU, when last asked */
    uint64_t since_ns;               /* for the time that moves take */
    uint64_t chunk_bytes;            /* of the next chunk */
    uint64_t pace_bytes, pace_ns;    /* how fast chunks come through, as a moving average */
    struct residency_piece *doubted; /* may not have come in this round */
    size_t doubted_count, doubted_room;
};

static bool goes_on(const struct haul *haul) {
    return mover_goes_on(haul->mover, haul->job);
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t free_bytes(void) {
    size_t free = 0, total;
    return real.cuMemGetInfo_v2(&free, &total) == CUDA_SUCCESS ? free : 0;
}

typedef bool take_piece(struct ledger *, struct residency_list *, uint64_t,
                        struct residency_piece *);

/* In one step with what is left of the job, so that what is away and what is on its way never count
 * twice. */
static bool take(struct haul *haul, uint64_t most, struct residency_piece *piece) {
    struct mover *mover = haul->mover;
    take_piece *next = haul->job == MOVER_OUT ? residency_leave : residency_return;
    pthread_mutex_lock(&mover->lock);
    bool taken = mover_wants(mover, haul->job) && mover->bytes &&
                 next(&books.memory, &haul->list, least(most, mover->bytes), piece);
    if (taken)
        mover->bytes -= least(piece->bytes, mover->bytes);
    pthread_mutex_unlock(&mover->lock);
    return taken;
}

/* What the driver will not move was freed a moment ago, or is memory of a kind that stays where it is. */
static void leave_alone(struct haul *haul, const struct residency_piece *piece) {
    haul->list.next++;
    if (haul->job == MOVER_OUT) {
        residency_has_stayed(&books.memory, piece);
        mover_order_more(haul->mover, piece->bytes);
    }
    residency_landed(&books.memory, piece, 1);
}

/* Sends off a chunk of at most so many bytes, or a block. Returns false if there is nothing to send. */
static bool send(struct haul *haul, uint64_t most, bool has_room) {
    const struct lane_chunk *chunk = lane_begin(&haul->lane, has_room);
    struct residency_piece piece;
    while (chunk->bytes < most && chunk->count < LANE_PIECES &&
           take(haul, most - chunk->bytes, &piece))
        if (lane_add(&haul->lane, &piece) < 0)
            leave_alone(haul, &piece);
    if (!chunk->count)
        return false;
    lane_send(&haul->lane);
    return true;
}

static uint64_t time_passed(struct haul *haul) {
    uint64_t before = haul->since_ns;
    haul->since_ns = clock_now();
    return haul->since_ns - before;
}

/* Chunks are as large as to take a few milliseconds each, however fast the bus is: all that are in flight
 * then outlast the time that a busy machine takes to wake this thread, and are still soon over when there
 * is another order. */
static void learn_pace(struct haul *haul, uint64_t bytes, uint64_t ns) {
    haul->pace_bytes = (3 * haul->pace_bytes + bytes) / 4;
    haul->pace_ns = (3 * haul->pace_ns + ns) / 4;
    double fitting = (double)haul->pace_bytes / (double)(haul->pace_ns + 1) * (double)LANE_CHUNK_NS;
    haul->chunk_bytes = LANE_CHUNK_MOST;
    if (fitting < (double)LANE_CHUNK_MOST)
        haul->chunk_bytes = (uint64_t)fitting - (uint64_t)fitting % RESIDENCY_BLOCK;
    if (haul->chunk_bytes < LANE_CHUNK_BYTES)
        haul->chunk_bytes = LANE_CHUNK_BYTES;
}

static void land_out(struct haul *haul) {
    const struct lane_chunk *chunk = lane_wait(&haul->lane);
    struct mover_progress made = {.out_bytes = chunk->moved_bytes, .out_ns = time_passed(haul)};
    learn_pace(haul, chunk->bytes, made.out_ns);
    residency_landed(&books.memory, chunk->pieces, chunk->count);
    mover_note(haul->mover, &made);
}

static void move_out(struct haul *haul) {
    residency_list_there(&books.memory, haul->device->ordinal, &haul->list);
    while (goes_on(haul)) {
        if (lane_is_full(&haul->lane))
            land_out(haul);
        if (!send(haul, haul->chunk_bytes, true))
            break;
    }
    while (haul->lane.count)
        land_out(haul);
}

/* Without memory to remember them, pieces are taken to have come. */
static void doubt(struct haul *haul, const struct lane_chunk *chunk) {
    if (haul->doubted_count + chunk->count > haul->doubted_room) {
        size_t room = 2 * haul->doubted_room + LANE_PIECES;
        struct residency_piece *more = realloc(haul->doubted, room * sizeof *more);
        if (!more)
            return;
        haul->doubted = more;
        haul->doubted_room = room;
    }
    for (unsigned i = 0; i < chunk->count; i++)
        haul->doubted[haul->doubted_count++] = chunk->pieces[i];
}

static void land_in(struct haul *haul) {
    const struct lane_chunk *chunk = lane_wait(&haul->lane);
    haul->free = free_bytes();
    struct mover_progress made = {.in_ns = time_passed(haul)};
    learn_pace(haul, chunk->bytes, made.in_ns);
    if (chunk->had_room && haul->free >= RESIDENCY_BLOCK)
        made.in_bytes = chunk->moved_bytes;
    else
        doubt(haul, chunk);
    residency_landed(&books.memory, chunk->pieces, chunk->count);
    mover_note(haul->mover, &made);
}

/* One that is larger than the GPU would push its own memory out; and who is in no hurry pushes nobody. */
static bool gives_up(const struct haul *haul) {
    return haul->room.is_hopeless &&
           (haul->job == MOVER_FILL_GENTLY ||
            atomic_load(&haul->device->account.used) > haul->device->total_bytes);
}

/* The next chunk of what returns, or a wait for something. Returns false when there is nothing left. */
static bool bring_next(struct haul *haul) {
    uint64_t wanted = least(LANE_CHUNK_BYTES, atomic_load(&haul->device->account.away));
    uint64_t most =
        room_for(&haul->room, haul->free, haul->lane.bytes, wanted, haul->chunk_bytes, clock_now());
    if (!wanted || gives_up(haul))
        return false;
    if (most && !lane_is_full(&haul->lane))
        return send(haul, most, !haul->room.is_hopeless);
    if (haul->lane.count) {
        land_in(haul);
    } else {
        mover_pause(haul->mover, haul->room.pause);
        haul->free = free_bytes();
    }
    return true;
}

static void bring_listed(struct haul *haul) {
    residency_list_away(&books.memory, haul->device->ordinal, &haul->list);
    haul->doubted_count = 0;
    haul->free = free_bytes();
    while (goes_on(haul) && bring_next(haul))
        continue;
    while (haul->lane.count)
        land_in(haul);
}

static void take_back_doubted(struct haul *haul) {
    for (size_t i = 0; i < haul->doubted_count; i++)
        residency_has_not_come(&books.memory, &haul->doubted[i]);
}

static void say_doubts(const struct haul *haul) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < haul->doubted_count; i++)
        bytes += haul->doubted[i].bytes;
    if (bytes)
        log_warn_once(
            "GPU %d: %llu MiB of this program's memory may not have come back to the GPU, "
            "because others have filled it; it comes when it is used, slowly",
            haul->device->ordinal, (unsigned long long)(bytes >> 20));
}

static void fill(struct haul *haul) {
    const struct account *account = &haul->device->account;
    haul->room.patience_ns = haul->job == MOVER_FILL ? patience : 0;
    for (int round = 1; round <= ROUNDS && atomic_load(&account->away) && goes_on(haul); round++) {
        bring_listed(haul);
        if (round < ROUNDS && goes_on(haul))
            take_back_doubted(haul);
    }
    say_doubts(haul);
}

void haul(struct mover *mover, enum mover_job job) {
    struct haul haul = {
        .mover = mover, .device = mover->device, .job = job, .chunk_bytes = LANE_CHUNK_BYTES};
    CUdevice target = job == MOVER_OUT ? CU_DEVICE_CPU : mover->device->ordinal;
    haul.since_ns = clock_now();
    if (lane_open(&haul.lane, mover->device, target) < 0)
        return;
    if (job == MOVER_OUT)
        move_out(&haul);
    else
        fill(&haul);
    lane_close(&haul.lane);
    residency_list_free(&haul.list);
    free(haul.doubted);
}
