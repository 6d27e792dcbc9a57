#include "room.h"

#include "clock.h"
#include "residency.h"

/* What is left free, beside what is brought in: a GPU that is full to the last block is one on which a
 * prefetch may have found no room. */
static const uint64_t margin = RESIDENCY_BLOCK;

static const uint64_t first_pause = CLOCK_US(100), longest_pause = CLOCK_MS(2);

/* Waiting begins, or goes on after more has become free. */
static void hope(struct room *room, uint64_t free, uint64_t now) {
    room->most_free = free;
    room->grown_at = now;
    room->pause = first_pause;
}

static void wait_on(struct room *room, uint64_t free, uint64_t now) {
    if (!room->grown_at || free > room->most_free) {
        hope(room, free, now);
        return;
    }
    room->is_hopeless = now - room->grown_at >= room->patience_ns;
    room->pause += room->pause / 2;
    if (room->pause > longest_pause)
        room->pause = longest_pause;
}

/* Small pieces keep the bus less busy than large ones, and are made only when there is nothing else to
 * do. */
uint64_t room_for(struct room *room, uint64_t free, uint64_t in_flight, uint64_t least,
                  uint64_t most, uint64_t now) {
    uint64_t taken = in_flight + margin;
    uint64_t left = free > taken ? free - taken : 0;
    if (room->is_hopeless)
        return least;
    if (left >= least || (!in_flight && left >= RESIDENCY_BLOCK)) {
        room->grown_at = 0;
        return left < most ? left : most;
    }
    if (!in_flight)
        wait_on(room, free, now);
    return 0;
}
