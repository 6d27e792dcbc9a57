#include "undrained.h"

#include "drain.h"
#include "frames.h"
#include "log.h"
#include "process/clock.h"
#include "session/client.h"

/* A host function is not meant for long computations. */
static const uint64_t function_patience = CLOCK_MS(100);
/* Kernels are seldom as long as that. Those that are, and are followed by calls for other streams,
 * are known soon. */
static const uint64_t first_patience = CLOCK_MS(300);
static const uint64_t learned_patience = CLOCK_MS(50);
/* For a program of a gang: the others catch up one call at a time meanwhile, which takes half a
 * millisecond each, and there may be a thousand of them between two collectives. */
static const uint64_t hold_patience = CLOCK_MS(2000);
static const uint64_t first_long_patience = CLOCK_MS(20000);
static const uint64_t most_patience = CLOCK_MS(600000);
enum { GROWTH = 16 };
/* How soon after a call its effect is seen. */
static const uint64_t effect_ns = CLOCK_MS(100);
static const uint64_t observing_pause = CLOCK_MS(10);

void undrained_init(struct undrained *undrained) {
    *undrained =
        (struct undrained){.patience = first_patience, .long_patience = first_long_patience};
}

static struct undrained *of(struct client *client) {
    return &client->turn.undrained;
}

static bool is_holding(const struct client *client) {
    return client->machine.state == MACHINE_HOLDING;
}

static uint64_t at_least_hold(uint64_t patience) {
    return patience > hold_patience ? patience : hold_patience;
}

/* If the same work is still in flight, the same calls would follow: a long wait gains nothing. */
static uint64_t patience_of(const struct client *client, uint64_t patience) {
    if (is_holding(client))
        return at_least_hold(patience);
    bool is_same = client->turn.undrained.is_observed && !drain_old_is_done(client->device);
    return is_same && learned_patience < patience ? learned_patience : patience;
}

static bool has_lasted(uint64_t *since, bool is_so, uint64_t patience, uint64_t now) {
    *since = !is_so ? 0 : *since ? *since : now;
    return is_so && now - *since >= patience;
}

static enum undrained_reason reason_of(struct client *client, uint64_t now) {
    struct undrained *undrained = of(client);
    struct device *device = client->device;
    bool waits = gate_waiting(&device->gate) > 0;
    bool in_function = waits && atomic_load(&device->functions) > 0;
    if (has_lasted(&undrained->function_since, in_function,
                   is_holding(client) ? hold_patience : function_patience, now))
        return UNDRAINED_REASON_FUNCTION;
    bool is_free = waits && drain_could_go_on(device);
    if (has_lasted(&undrained->free_since, is_free, patience_of(client, undrained->patience), now))
        return UNDRAINED_REASON_STREAM;
    if (has_lasted(&undrained->waits_since, waits, patience_of(client, undrained->long_patience),
                   now))
        return UNDRAINED_REASON_TIME;
    return 0;
}

/* Work whose memory is elsewhere runs a thousand times as long as usual. While all of that comes in,
 * nothing is concluded. */
static bool is_being_helped(struct client *client) {
    bool is_helped = mover_is_busy(&client->device->mover) && !is_holding(client);
    if (is_helped)
        of(client)->function_since = of(client)->free_since = of(client)->waits_since = 0;
    return is_helped;
}

bool undrained_look(struct client *client, uint64_t now) {
    if (is_being_helped(client))
        return false;
    enum undrained_reason reason = reason_of(client, now);
    if (!reason)
        return false;
    of(client)->reason = reason;
    log_debug("GPU %d: work in flight waits for later calls of this program: the gate opens again",
              client->device->ordinal);
    return true;
}

void undrained_observe(struct client *client, uint64_t now) {
    struct undrained *undrained = of(client);
    undrained->was_holding = is_holding(client);
    undrained->last_call = now;
    undrained->due = now + observing_pause;
    undrained->is_observed = drain_note_old(client->device);
    gate_glance(&client->device->gate);
}

/* Where others were held as well, their calls may have been the ones that were needed. */
static void learn(struct undrained *undrained, bool has_needed) {
    bool is_long = undrained->reason == UNDRAINED_REASON_TIME;
    uint64_t *patience = is_long ? &undrained->long_patience : &undrained->patience;
    if (has_needed && undrained->was_holding)
        return;
    if (has_needed)
        *patience = is_long ? first_patience : learned_patience;
    else
        *patience = *patience > most_patience / GROWTH ? most_patience : *patience * GROWTH;
}

/* A host function teaches nothing: it is as certain the next time. */
static bool has_ended(struct client *client, uint64_t now) {
    struct undrained *undrained = of(client);
    if (!undrained->is_observed)
        return false;
    undrained->due = now + observing_pause;
    if (gate_glance(&client->device->gate))
        undrained->last_call = now;
    if (!drain_old_is_done(client->device))
        return false;
    undrained->is_observed = false;
    if (undrained->reason != UNDRAINED_REASON_FUNCTION)
        learn(undrained, now - undrained->last_call <= effect_ns);
    return true;
}

int undrained_step(struct client *client, uint64_t now) {
    struct frame_can_drain frame = {.turn = client->machine.turn};
    if (now < of(client)->due || !has_ended(client, now))
        return 0;
    return connection_send(&client->connection, FRAME_CAN_DRAIN, &frame, sizeof frame);
}

uint64_t undrained_due(const struct client *client) {
    const struct undrained *undrained = &client->turn.undrained;
    return undrained->is_observed ? undrained->due : CLOCK_NEVER;
}

void undrained_begin(struct client *client, uint64_t now) {
    struct undrained *undrained = of(client);
    has_ended(client, now);
    undrained->function_since = undrained->free_since = undrained->waits_since = 0;
}

void undrained_end(struct client *client) {
    of(client)->is_observed = false;
}
