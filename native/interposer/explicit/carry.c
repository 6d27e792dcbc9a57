/* Out: a chunk is copied, and only when its copy is done is it unmapped and its memory released; so it becomes free
 * for others chunk by chunk, while later ones are still on their way. In: memory is created and mapped at the old
 * address, then the bytes come. Nothing is in flight on the GPU of the program's own, and nobody is inside the gate.
 *
 * A fill is all or nothing. Two programs that each had half of their memory on a GPU that holds only one of them would
 * wait for each other for ever. So whoever finds no room for long gives back what has come, which costs nothing, since
 * the copies on the host are still good, moves out what it had never moved, and begins anew a little later. How long it
 * holds on to what it has, and how much later it begins, is random: somebody gives up first, and the others get on. With
 * every try in vain the pause may be twice as long, until it is long enough for another program's whole fill. */
#include "carry.h"

#include <errno.h>
#include <unistd.h>

#include "backing.h"
#include "convoy.h"
#include "explicit.h"
#include "log.h"
#include "own_host.h"
#include "pooled.h"
#include "process/clock.h"
#include "process/devices.h"
#include "session/session.h"

enum {
    PATIENCE_MS =
        500, /* a fill waits for memory that should be there, holding what it has: up to twice as long */
    PAUSE_LEAST_MS = 20,  /* then it pauses */
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
    uint64_t
        hungry_until; /* there was no memory on the GPU, and that is borne until then; 0: there was */
    unsigned vain;    /* how often it was not borne any longer */
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

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
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

/* It is the next one still. With the lock held. */
static struct chunk *put_back(struct carrier *carrier, struct chunk *chunk) {
    carrier->list.next--;
    chunk_landed(carrier->regions, chunk);
    return NULL;
}

/* The next chunk, with a place on the host; if there is none, the chunk stays the next. With the lock held. */
static struct chunk *take_with_slot(struct carrier *carrier) {
    struct chunk *chunk = chunk_list_take(&carrier->list, false);
    if (!chunk || slot_take(&chunk->slot, extents_of(carrier), chunk->bytes) == 0)
        return chunk;
    carrier->homeless = chunk->bytes;
    return put_back(carrier, chunk);
}

/* In one step with what is left of the job, so that what is away and what is on its way never count twice. Whoever
 * leaves because it finds no room leaves as a whole. */
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
    /* Ahead of a turn, what flies is out of the order already; else it counts as away until it has landed. */
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

/* A time that differs from program to program, and from try to try. The program's own random numbers are its own. */
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

/* Or the daemon would order it again at once. */
static void say_no_host(struct carrier *carrier) {
    log_warn_once("GPU %d: there is no host memory for what is to leave the GPU",
                  carrier->convoy.device->ordinal);
    pause_somewhat(carrier);
}

/* Memory of the program's own is what its memory cgroup may have no room for. So where a daemon has said that it makes
 * some, none is taken, unless that daemon is gone: programs that keep parts of their memory on the GPU because they have
 * no place for them would wait for each other for ever. Even then no more is taken than there is room for. */
static bool may_make_host(const struct carrier *carrier) {
    if (!atomic_load(&extents_of(carrier)->is_provided))
        return true;
    return carrier->job == MOVER_RETURN && own_host_room("") >= carrier->homeless + EXTENT_BYTES;
}

/* Returns false if none may be made, or nothing lacks a place. */
static bool makes_host(struct carrier *carrier) {
    return carrier->homeless && may_make_host(carrier) &&
           extents_make(extents_of(carrier), carrier->homeless) == 0;
}

/* To make host memory takes longer than the copy, and is waited for with nothing in flight. Returns false if nothing
 * lacks a place, or there will be none. */
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

/* The gate is told before anything goes that it may not open, and afterwards if nothing has gone. Should it be open
 * after all, nothing does. */
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

/* Returns false if nothing is left to be brought, or there is no room for it. */
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

/* What has come since everything was there last goes again. Nobody has used it, so that it is still on the host. */
static void give_back(struct carrier *carrier) {
    lock(carrier);
    for (struct region *region = carrier->regions->first; region; region = region->next)
        for (unsigned i = 0; i < region->count; i++) {
            struct chunk *chunk = &region->chunks[i];
            if (chunk->state == CHUNK_THERE && chunk->fill > carrier->regions->fills_when_whole &&
                !chunk->is_moving) {
                backing_take(chunk); /* or it keeps its memory, until it comes the next time */
                chunk_set_state(carrier->regions, chunk, chunk->before_fill);
            }
        }
    unlock(carrier);
}

/* What was there before goes too: others may be waiting for just that. Only while no work can use it, and as far as there
 * is a place for it: who waited for one would hold up the others. What had to leave before has its place in any case. */
static void leave_entirely(struct carrier *carrier) {
    list(carrier, regions_list_there);
    while (goes_on(carrier) && atomic_load(&carrier->mover->is_quiet) &&
           (send_out(carrier) || makes_host(carrier)))
        convoy_make_place(&carrier->convoy);
    convoy_land_all(&carrier->convoy);
}

/* The GPU has no memory, though it should have: somebody else has it, or it is about to be released. */
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
    carrier->hungry_until = 0;
    pause_somewhat(carrier);
    carrier->vain++;
}

/* Whoever waits does so with nothing in flight, so that all that has come is known to have. */
static void wait_for_room(struct carrier *carrier) {
    uint64_t began = clock_now();
    if (carrier->hungry_until)
        endure_hunger(carrier);
    else if (carrier->roomless)
        mover_wait_for_room_of(carrier->mover, carrier->job, carrier->roomless);
    else
        usleep(PAUSE_US); /* what is away is not in the list, being new, or in somebody's hands */
    carrier->convoy.since_ns += clock_now() - began; /* what others take is not the time of this */
}

/* Again and again, until everything is there: memory may be allocated meanwhile. */
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

/* What was ordered, or as much of it as the GPU has memory for. Nobody waits for it. */
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

/* Where every context is dead nothing runs, and nothing can be copied. The program is to hear of it by its next call,
 * instead of waiting at the gate for ever. */
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
