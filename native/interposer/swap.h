/* Memory that moves at a change of turn, as the session sees it: orders to the mover, and what the daemon is
 * told of it. What leaves does so behind the closed gate, after the turn was passed on; what returns does so
 * before the gate opens. */
#ifndef NVSHARE_SWAP_H
#define NVSHARE_SWAP_H

#include <stdbool.h>
#include <stdint.h>

struct client;
struct device;
struct frame_released;

struct swap {
    bool is_filling;    /* a turn is held, and its gate opens when the memory is there */
    bool owes_moved;    /* the daemon is to hear when what leaves has left */
    uint64_t out_turn;  /* after which it leaves */
    bool is_growing;    /* the gate is closed for memory that a thread is about to allocate */
    uint64_t due;       /* when that is not waited for any longer */
    uint64_t told_away; /* bytes */
    uint64_t trim;      /* bytes to leave in the middle of a turn, once nothing else moves */
    uint64_t missing;   /* bytes that others have still to make room for */
};

void swap_init(struct swap *swap);

/* Whether memory has to move, or is moving, before the gate may open. May be asked by any thread. */
bool swap_is_needed(const struct device *device);

/* What of the program's memory is away, or on its way, to be told to the daemon; and whether less is away by now,
 * because the program has used it. */
uint64_t swap_tell_away(struct client *client);
bool swap_has_come_back(const struct client *client);

/* Of what is to come back, or to be allocated, so many bytes have no room yet. */
void swap_room(struct client *client, uint64_t missing, uint64_t now);

/* A turn has begun: brings memory back, at most so many bytes (0: all), then opens the gate. */
void swap_fill(struct client *client, uint64_t bytes);

/* There will be room for what a thread is about to allocate, but not yet: if a turn is held, the gate closes
 * until it has been allocated and has found room. */
void swap_grow(struct client *client, uint64_t now);

/* A turn is over: leaves a fill at what has come, begins to move out, or counts what the successor displaces as
 * away, and writes down what the daemon has to know. */
void swap_release(struct client *client, uint64_t evict_bytes, bool is_displaced,
                  struct frame_released *frame);

/* EVICT has come. Returns 0 or a negative errno, as sending does. */
int swap_evict(struct client *client, uint64_t bytes);

/* TRIM has come: what was used least recently leaves though the gate is open. What the program uses of it comes
 * back by itself. Returns 0 or a negative errno, as sending does. */
int swap_trim(struct client *client, uint64_t bytes);

/* There is no daemon any more, and the gate is open. What is away comes back if it finds room. */
void swap_lose(struct client *client);

/* Looks what the mover has done. Returns 0 or a negative errno, as sending does. */
int swap_step(struct client *client, uint64_t now);

#endif
