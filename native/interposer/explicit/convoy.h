/* Chunks on their way between the GPU and the host: a few copies are in flight while the thread
 * makes the driver's calls for the next ones. For one thread only, like a lane. */
#ifndef NVSHARE_EXPLICIT_CONVOY_H
#define NVSHARE_EXPLICIT_CONVOY_H

#include "moves/lane.h"
#include "moves/mover.h"
#include "region.h"

struct flight {
    struct chunk *chunk;
    uint64_t live;   /* live bytes when it set off */
    uint64_t window; /* an address of ours, if the program has none for copying; or 0 */
    bool leaves;     /* the GPU */
};

struct convoy {
    struct mover *mover;
    struct device *device;
    struct regions *regions;
    struct lane lane;
    struct flight flights[LANE_CHUNKS]; /* as in the lane */
    uint64_t flying;                    /* live bytes on their way */
    uint64_t since_ns;                  /* for the time that moves take */
    uint64_t fill;                      /* the number of the fill that brings chunks in */
    bool has_failed; /* the context is dead, or the driver broken: nothing more can move */
};

/* Returns 0, or the error of lane_open. */
int convoy_open(struct convoy *convoy, struct mover *mover);

/* Only when nothing is in flight. */
void convoy_close(struct convoy *convoy);

/* Sends off a chunk that has a place on the host and that no other thread works on. It counts as
 * leaving already (mover.h). A chunk that cannot be copied stays. Returns false if nothing more can
 * leave: the convoy has failed. */
bool convoy_send_out(struct convoy *convoy, struct chunk *chunk, uint64_t live);

/* Gives a chunk memory on the GPU, and sends its bytes there. Returns false if there is no memory,
 * or the convoy has failed: then the chunk stays away. */
bool convoy_send_in(struct convoy *convoy, struct chunk *chunk);

/* Lands chunks that have arrived, and one more if there is no place for the next; or the next one,
 * if there is any; or all. */
void convoy_make_place(struct convoy *convoy);
bool convoy_land_one(struct convoy *convoy);
void convoy_land_all(struct convoy *convoy);

#endif
