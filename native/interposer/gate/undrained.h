/* Whether the work in flight behind the closed gate waits for calls that wait there. Such work
 * never drains.
 *
 * Three things suggest that, and each only while a call waits at the gate:
 *   a host function runs, and does not return. It may wait for the thread that waits here.
 *   the waiting call is for a stream with nothing in it. On the GPU it would not come behind the
 *   work in flight, and that work may wait for it: a persistent kernel is fed in this way.
 *   the work in flight has not ended for very long.
 * None is certain: the kernel may just be long, and opening the gate would let the next one in. So
 * the outcome is observed. If the work ends soon after calls have passed, it needed them, and from
 * then on the program is waited for only briefly. If it ends while no call has passed for a while,
 * it was just long, and is waited for much longer next time. */
#ifndef NVSHARE_UNDRAINED_H
#define NVSHARE_UNDRAINED_H

#include <stdbool.h>
#include <stdint.h>

struct client;

struct undrained {
    /* Since when, in this closing; 0: not now. */
    uint64_t function_since; /* a host function runs, and a call waits */
    uint64_t free_since;     /* a call waits that could go on at once */
    uint64_t waits_since;    /* a call waits */

    /* Learned about the program: how long to wait for work in the second and in the third case. */
    uint64_t patience, long_patience;

    /* After the gate has opened again. */
    uint32_t reason; /* an enum undrained_reason of frames.h */
    bool is_observed;
    bool was_holding; /* the gate had closed for HOLD */
    uint64_t due, last_call;
};

void undrained_init(struct undrained *undrained);

/* When the gate has closed, and when the turn has ended. */
void undrained_begin(struct client *client, uint64_t now);
void undrained_end(struct client *client);

/* For a closed gate with work in flight: whether that work waits for the program. If so, sets
 * `reason`, and the gate is to open again. */
bool undrained_look(struct client *client, uint64_t now);

/* When the gate is about to open again; and, while it is open: observes the outcome, and tells the
 * daemon when the work has ended. Returns 0 or a negative errno. */
void undrained_observe(struct client *client, uint64_t now);
int undrained_step(struct client *client, uint64_t now);

/* When undrained_step is to be called again. */
uint64_t undrained_due(const struct client *client);

#endif
