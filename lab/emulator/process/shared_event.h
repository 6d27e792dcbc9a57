/* Events that several processes share: cells in a memory file of the process that made them, which
 * the others map through /proc. A process finds the recordings of another in the cell. It does not
 * learn their place in a queue, so it can wait for the end of a recording only with its own
 * thread. */
#ifndef NVSHARE_EMULATOR_SHARED_EVENT_H
#define NVSHARE_EMULATOR_SHARED_EVENT_H

#include "driver.h"

/* Identifies a process of the node, even if a later process gets the same number. */
struct process_identity {
    int32_t pid;
    uint32_t slot, generation;
};

struct event_cell {
    uint64_t id;       /* of the event in the process that made it; 0: the cell is free */
    uint64_t recorded; /* number of recordings, by any process */
    uint64_t done;     /* number of the last recording that is over */
    struct process_identity recorder;
};

/* An event as one process has it. */
struct shared_event {
    struct event_cell *cell; /* stays mapped as long as the process lives */
    uint64_t id;             /* if the cell has another id, it belongs to another event */
};

/* The description of an event that one process gives another. */
struct event_address {
    struct process_identity maker;
    int32_t file;
    uint32_t cell;
    uint64_t id;
};

/* Callers of all but the first hold the driver's lock. */
struct process_identity own_identity(void);
bool shared_event_create(struct shared_event *out);
void shared_event_release(const struct shared_event *event); /* by the process that made it */
struct event_address shared_event_address(const struct shared_event *event);
bool shared_event_open(const struct event_address *address, struct shared_event *out);

/* Notes a new recording, and returns its number. */
uint64_t shared_event_record(const struct shared_event *event);
void shared_event_finish(const struct shared_event *event, uint64_t number);

/* Did this process record it last? */
bool shared_event_is_ours(const struct shared_event *event);

/* Is the last recording over? A recording of a process that is gone is over. */
bool shared_event_is_done(const struct shared_event *event);

#endif
