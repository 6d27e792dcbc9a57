/* Whether there is room on the GPU for the next chunk, or whether to wait for it. Plain C, without a clock
 * of its own.
 *
 * Room is made by another program that moves its memory out at the same time. What a driver does with a
 * prefetch onto a full GPU is not certain (it may evict anybody's memory, or do nothing), so none is made
 * as long as somebody makes room. */
#ifndef NVSHARE_ROOM_H
#define NVSHARE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct room {
    uint64_t most_free;   /* that was seen while waiting */
    uint64_t grown_at;    /* when there was last more than before; 0: nobody waits */
    uint64_t pause;       /* before the next look */
    uint64_t patience_ns; /* how long to wait while nothing grows */
    bool is_hopeless;     /* nobody makes room any more: there will be no more waiting */
};

/* What can be brought in now, given what is free and what of it will be taken by what is in flight: at most
 * `most` bytes, and not less than `least` while something is in flight. 0: wait for room->pause, or for
 * something in flight, and ask again. */
uint64_t room_for(struct room *room, uint64_t free, uint64_t in_flight, uint64_t least,
                  uint64_t most, uint64_t now);

#endif
