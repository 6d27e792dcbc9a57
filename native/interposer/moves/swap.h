/* Moved memory, as the daemon is told of it. The machine decides what moves and when; the mover
 * moves it. */
#ifndef NVSHARE_SWAP_H
#define NVSHARE_SWAP_H

#include <stdbool.h>
#include <stdint.h>

#include "mover.h"

struct client;
struct device;

struct swap {
    struct mover_progress untold; /* what has moved; and what was still to leave, when last asked */
    uint64_t told_away;           /* bytes */
};

/* Whether memory has to move, or is moving, before the gate may open. May be called by any
 * thread. */
bool swap_is_needed(const struct device *device);

/* Whether memory is away that does not come back when it is used. */
bool swap_falls_short(struct device *device);

/* How much of the program's memory is away, or on its way, to be told to the daemon; and whether
 * less is away now, because the program has used it. */
uint64_t swap_tell_away(struct client *client);
bool swap_has_come_back(const struct client *client);

/* Bytes on the GPU that can leave it; 0 if none can, whatever the reason. And bytes elsewhere. */
uint64_t swap_there(const struct device *device);
uint64_t swap_away(const struct device *device);

/* Takes over what the mover has done so far: its further moves belong to another order. */
void swap_take(struct client *client);

/* Drops moves so far without reporting them. */
void swap_forget(struct client *client);

/* Sends MOVED with everything not reported yet, one frame for each direction. One direction is due,
 * and is sent even if nothing has moved; the other only if something has. Returns 0 or a negative
 * errno. */
int swap_tell_out(struct client *client, uint64_t turn);
int swap_tell_in(struct client *client, uint64_t turn);

/* Sends what has moved and was not reported yet, if anything has: the turn it belongs to is
 * over. */
int swap_tell_rest(struct client *client);

/* Sends a MOVED that reports only where memory is. */
int swap_answer(struct client *client, uint64_t turn);

#endif
