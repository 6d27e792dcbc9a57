/* Out: a chunk is copied, and only when its copy is done is it unmapped and its memory released. So
 * room becomes free chunk by chunk, while later chunks are still on their way. In: memory is
 * created and mapped at the old address, then the bytes are copied. None of the program's own work
 * is in flight on the GPU, and no thread is inside the gate.
 *
 * A fill is all or nothing. Two programs that each had half of their memory on a GPU with room for
 * only one of them would wait for each other for ever. So a program that finds no room for long
 * gives back what has come, which costs nothing since the copies on the host are still valid. It
 * also moves out the memory that had never left, and begins again a little later. How long it keeps
 * what it has, and how much later it begins, is random: one program gives up first, and the others
 * get on. After every failed try the pause may be twice as long, until it is long enough for
 * another program's whole fill. */
#include "carry.h"

#include <errno.h>
#include <unistd.h>

#include "backing.h"
#include "convoy.h"
#include "explicit.h"
#include "least.h"
#include "log.h"
#include "own_host.h"
#include "pooled.h"
#include "process/clock.h"
#include "process/devices.h"
#include "session/session.h"

enum {
    /* A fill waits for memory that should be there, holding what it has: up to twice as long. */
    PATIENCE_MS = 500,
    PAUSE_LEAST_MS = 20,  /* then it pauses for at least so long */
    PAUSE_FIRST_MS = 200, /* and at most for so much longer the first time */
    PAUSE_DOUBLED = 5,    /* which is doubled so many times: 12 GB at 12 GB/s take a second */
    PAUSE_US = 1000,      /* between two looks */
};

struct carrier {
    struct convoy convoy;
    struct mover *mover;
    struct regions *regions;
    enum mover_job job;
    struct chunk_list list;
    /* There was no memory on the GPU, and it is waited for until then; 0: there was. */
    uint64_t hungry_until;
    unsigned vain;     /* how often that time has run out */
    uint64_t homeless; /* bytes of the next chunk to leave, if the host has no place for it */
    uint64_t roomless; /* live bytes of the next chunk to return, if there is no room for it yet */
};

static bool goes_on(const struct carrier *carrier) {
    return !carrier->convoy.has_failed && mover_goes_on(carrier->mover, carrier->job);
}

static void lock(struct carrier *carrier) {
    pthread_mutex_lock(&carrier->regions->lock);
}

static void unlock(struct carrier *carrier) {
    pthread_mutex_unlock(&carrier->regions->lock);
}

typedef int list_chunks(struct regions *regions, struct chunk_list *list);

static void list(struct carrier *carrier, list_chunks *make) {
    lock(carrier);
    chunk_list_free(carrier->regions, &carrier->list);
    make(carrier->regions, &carrier->list);
    unlock(carrier);
}

static struct extents *extents_of(const struct carrier *carrier) {
    return &carrier->convoy.device->explicit.extents;
}

/* Puts a chunk back: it is the next one still. With the lock held. */
static struct chunk *put_back(struct carrier *carrier, struct chunk *chunk) {
    carrier->list.next--;
    chunk_landed(carrier->regions, chunk);
    return NULL;
}

/* The next chunk, with a place on the host. If there is no place, it stays the next. With the lock
 * held. */
static struct chunk *take_with_slot(struct carrier *carrier) {
    struct chunk *chunk = chunk_list_take(&carrier->list, false);
    if (!chunk || slot_take(&chunk->slot, extents_of(carrier), chunk->bytes) == 0)
        return chunk;
    carrier->homeless = chunk->bytes;
    return put_back(carrier, chunk);
}

/* In one step with the rest of the job, so that bytes away and bytes on their way never count
 * twice. A program that leaves because it finds no room leaves as a whole. */
static struct chunk *take_to_leave(struct carrier *carrier, uint64_t *live) {
    struct mover *mover = carrier->mover;
    struct chunk *chunk = NULL;
    carrier->homeless = 0;
    pthread_mutex_lock(&mover->lock);
    lock(carrier);
    bool is_ordered = carrier->job == MOVER_OUT;
    if (mover_wants(mover, carrier->job) && (mover->bytes || !is_ordered))
        chunk = take_with_slot(carrier);
    if (chunk) {
        *live = chunk->live;
        mover->bytes -= is_ordered ? least(*live, mover->bytes) : 0;
        mover->leaving += *live;
        mover->leaving_there += *live;
    }
    unlock(carrier);
    pthread_mutex_unlock(&mover->lock);
    return chunk;
}

static struct chunk *take_to_return(struct carrier *carrier) {
    struct mover *mover = carrier->mover;
    pthread_mutex_lock(&mover->lock);
    uint64_t room = mover_wants(mover, carrier->job) ? mover_room_for_all(mover) : 0;
    lock(carrier);
    struct chunk *chunk = chunk_list_take(&carrier->list, true);
    carrier->roomless = 0;
    /* In a fill ahead, chunks in flight are out of the order already; else they count as away until
     * they land. */
    bool is_ahead = carrier->job == MOVER_FILL_AHEAD;
    uint64_t flying = is_ahead ? 0 : carrier->convoy.flying;
    if (chunk && room < flying + chunk->live) {
        carrier->roomless = chunk->live;
        chunk = put_back(carrier, chunk);
    }
    if (chunk && is_ahead)
        mover->bytes -= chunk->live;
    unlock(carrier);
    pthread_mutex_unlock(&mover->lock);
    return chunk;
}

static bool send_out(struct carrier *carrier) {
    uint64_t live = 0;
    struct chunk *chunk = take_to_leave(carrier, &live);
    return chunk && convoy_send_out(&carrier->convoy, chunk, live);
}

/* A time that differs by program and by try, without using up the program's own random numbers. */
static uint64_t some_time_from_now(uint64_t least_ms, uint64_t more_ms) {
    uint64_t now = clock_now();
    uint64_t mixed = (now ^ (uint64_t)getpid() << 32) * UINT64_C(0x9e3779b97f4a7c15);
    return now + CLOCK_MS(least_ms) + CLOCK_US((mixed >> 32) % (more_ms * 1000));
}

static void pause_somewhat(const struct carrier *carrier) {
    unsigned doubled = carrier->vain < PAUSE_DOUBLED ? carrier->vain : PAUSE_DOUBLED;
    uint64_t until = some_time_from_now(PAUSE_LEAST_MS, (uint64_t)PAUSE_FIRST_MS << doubled);
    while (goes_on(carrier) && clock_now() < until)
        usleep(PAUSE_US);
}

/* Pauses, or the daemon would give the same order again at once. */
static void say_no_host(struct carrier *carrier) {
    log_warn_once("GPU %d: there is no host memory left for memory that should leave the GPU",
                  carrier->convoy.device->ordinal);
    pause_somewhat(carrier);
}

/* The program's memory cgroup may have no room for memory of its own. So where the daemon makes
 * host memory, the program takes none itself, unless that daemon is gone: then programs that keep
 * parts of their memory on the GPU, because they have no place for them, would wait for each other
 * for ever. Even then no more is taken than there is room for. */
static bool may_make_host(const struct carrier *carrier) {
    if (!atomic_load(&extents_of(carrier)->is_provided))
        return true;
    return carrier->job == MOVER_RETURN && own_host_room("") >= carrier->homeless + EXTENT_BYTES;
}

/* Returns false if none may be made, or every chunk has a place. */
static bool makes_host(struct carrier *carrier) {
    return carrier->homeless && may_make_host(carrier) &&
           extents_make(extents_of(carrier), carrier->homeless) == 0;
}

/* Making host memory takes longer than the copy, and is waited for with nothing in flight. Returns
 * false if every chunk has a place, or there will be none. */
static bool finds_host(struct carrier *carrier) {
    struct extents *extents = extents_of(carrier);
    if (!carrier->homeless || !atomic_load(&extents->is_provided))
        return makes_host(carrier);
    convoy_land_all(&carrier->convoy);
    uint64_t began = clock_now();
    atomic_store(&extents->is_denied, false);
    bool finds = extents_await(extents, carrier->homeless);
    session_memory_changed(carrier->convoy.device);
    while (!finds && goes_on(carrier) && !atomic_load(&extents->is_denied)) {
        usleep(PAUSE_US);
        finds = extents_await(extents, carrier->homeless);
    }
    extents_await(extents, 0);
    if (!finds && goes_on(carrier))
        say_no_host(carrier);
    carrier->convoy.since_ns += clock_now() - began; /* as below */
    return finds;
}

/* The gate is told before anything leaves that it may not open, and afterwards if nothing has left.
 * If it is open after all, nothing leaves. */
static void move_out(struct carrier *carrier) {
    struct device *device = carrier->convoy.device;
    if (!gate_falls_short(&device->gate))
        return;
    explicit_bury(device);
    list(carrier, regions_list_there);
    while (goes_on(carrier) && (send_out(carrier) || finds_host(carrier)))
        convoy_make_place(&carrier->convoy);
    convoy_land_all(&carrier->convoy);
    explicit_is_whole(device);
}

/* Returns false if nothing is left to bring, or there is no room for it. */
static bool bring(struct carrier *carrier) {
    struct chunk *chunk = take_to_return(carrier);
    if (!chunk)
        return false;
    bool is_sent = convoy_send_in(&carrier->convoy, chunk);
    if (is_sent)
        carrier->hungry_until = 0;
    else if (!carrier->hungry_until)
        carrier->hungry_until = some_time_from_now(PATIENCE_MS, PATIENCE_MS);
    return is_sent;
}

/* Gives back what has come since everything was last there. It was not used, so it is still on the
 * host. */
static void give_back(struct carrier *carrier) {
    lock(carrier);
    for (struct region *region = carrier->regions->first; region; region = region->next)
        for (unsigned i = 0; i < region->count; i++) {
            struct chunk *chunk = &region->chunks[i];
            if (chunk->state == CHUNK_THERE && chunk->fill > carrier->regions->fills_when_whole &&
                !chunk->is_moving) {
                backing_take(chunk); /* on failure it keeps its memory until its next fill */
                chunk_set_state(carrier->regions, chunk, chunk->before_fill);
            }
        }
    unlock(carrier);
}

/* Memory that was there before leaves too: others may be waiting for just that. Only while no work
 * can use it, and as far as it has a place on the host: waiting for one would hold up the others.
 * Memory that was away before has its place in any case. */
static void leave_entirely(struct carrier *carrier) {
    list(carrier, regions_list_there);
    while (goes_on(carrier) && atomic_load(&carrier->mover->is_quiet) &&
           (send_out(carrier) || makes_host(carrier)))
        convoy_make_place(&carrier->convoy);
    convoy_land_all(&carrier->convoy);
}

/* The GPU should have memory and has none: another program has it, or is about to release it. */
static void endure_hunger(struct carrier *carrier) {
    if (clock_now() < carrier->hungry_until) {
        usleep(PAUSE_US);
        return;
    }
    log_info("GPU %d: there is no room for this program's memory yet",
             carrier->convoy.device->ordinal);
    pooled_make_room(carrier->convoy.device, &(bool){false});
    give_back(carrier);
    leave_entirely(carrier);
    /* Reports during the fill told of memory that is gone again. */
    session_memory_changed(carrier->convoy.device);
    carrier->hungry_until = 0;
    pause_somewhat(carrier);
    carrier->vain++;
}

/* Waits with nothing in flight, so that everything that has come is known to have come. */
static void wait_for_room(struct carrier *carrier) {
    uint64_t began = clock_now();
    if (carrier->hungry_until)
        endure_hunger(carrier);
    else if (carrier->roomless)
        mover_wait_for_room_of(carrier->mover, carrier->job, carrier->roomless);
    else
        usleep(PAUSE_US); /* memory away is not listed: it is new, or another thread moves it */
    carrier->convoy.since_ns += clock_now() - began; /* the time that others take does not count */
}

/* Repeats until everything is there: memory may be allocated meanwhile. */
static void fill(struct carrier *carrier) {
    struct device *device = carrier->convoy.device;
    lock(carrier);
    carrier->convoy.fill = ++carrier->regions->fills;
    unlock(carrier);
    while (goes_on(carrier) && !explicit_is_whole(device)) {
        list(carrier, regions_list_away);
        while (goes_on(carrier) && (bring(carrier) || convoy_land_one(&carrier->convoy)))
            convoy_make_place(&carrier->convoy);
        convoy_land_all(&carrier->convoy);
        if (goes_on(carrier) && !explicit_is_whole(device))
            wait_for_room(carrier);
    }
}

/* Brings what was ordered, or as much of it as the GPU has memory for. No call waits for it. */
static void fill_ahead(struct carrier *carrier) {
    lock(carrier);
    carrier->convoy.fill = ++carrier->regions->fills;
    unlock(carrier);
    list(carrier, regions_list_away);
    while (goes_on(carrier) && (bring(carrier) || convoy_land_one(&carrier->convoy)))
        convoy_make_place(&carrier->convoy);
    convoy_land_all(&carrier->convoy);
    explicit_is_whole(carrier->convoy.device);
}

/* Where every context is dead, nothing runs and nothing can be copied. The program is to learn of
 * it by its next call, instead of waiting at the gate for ever. */
static void give_up(struct device *device) {
    struct regions *regions = &device->explicit.regions;
    pthread_mutex_lock(&regions->lock);
    regions_lose(regions);
    pthread_mutex_unlock(&regions->lock);
    explicit_is_whole(device);
}

void carry(struct mover *mover, enum mover_job job) {
    struct carrier carrier = {
        .mover = mover, .regions = &mover->device->explicit.regions, .job = job};
    int result = convoy_open(&carrier.convoy, mover);
    if (result == -EIO && job != MOVER_OUT)
        give_up(mover->device);
    if (result < 0)
        return;
    if (job == MOVER_OUT)
        move_out(&carrier);
    else if (job == MOVER_FILL_AHEAD)
        fill_ahead(&carrier);
    else
        fill(&carrier);
    lock(&carrier);
    chunk_list_free(carrier.regions, &carrier.list);
    unlock(&carrier);
    convoy_close(&carrier.convoy);
}
