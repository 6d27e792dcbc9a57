/* Whether what is in flight behind the closed gate waits for calls that wait there: then it never drains.
 *
 * Three things show that, and each only while somebody waits at the gate:
 *   a host function runs, and does not return. It may wait for the thread that waits here.
 *   the call that waits is for a stream with nothing in it. On the GPU it would not come behind what is in flight, and
 *   may be what that waits for: so is a kernel fed that stays on the GPU.
 *   what is in flight has not ended for very long.
 * None is certain: the kernel may just be long, and then to open the gate would let the next one in. So what comes of it is
 * looked at. If the work ends soon after calls have passed, it has needed them, and the program is waited for only briefly
 * from then on. If it ends while no call has passed for a while, it was just long, and is waited for much longer next time. */
#ifndef NVSHARE_UNDRAINED_H
#define NVSHARE_UNDRAINED_H

#include <stdbool.h>
#include <stdint.h>

struct client;

struct undrained {
    /* Since when, in this closing; 0: not now. */
    uint64_t function_since; /* a host function runs, and somebody waits */
    uint64_t free_since;     /* somebody waits whose call could go on at once */
    uint64_t waits_since;    /* somebody waits */

    /* What was learned of the program: how long work is waited for in the second and in the third case. */
    uint64_t patience, long_patience;

    /* After the gate has opened again. */
    uint32_t reason; /* an enum undrained_reason of frames.h */
    bool is_observed;
    bool was_holding; /* the gate had closed for HOLD */
    uint64_t due, last_call;
};

void undrained_init(struct undrained *undrained);

/* The gate has closed; and the turn has ended. */
void undrained_begin(struct client *client, uint64_t now);
void undrained_end(struct client *client);

/* It is closed, and something is in flight: whether that waits for the program. Sets `reason` if so, and then the gate is to
 * open again. */
bool undrained_look(struct client *client, uint64_t now);

/* The gate is about to open again; and, while it is open: looks what comes of it, and tells the daemon when the work has
 * ended. Returns 0 or a negative errno. */
void undrained_observe(struct client *client, uint64_t now);
int undrained_step(struct client *client, uint64_t now);

/* When it is to be called again. */
uint64_t undrained_due(const struct client *client);

#endif
