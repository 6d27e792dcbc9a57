/* Events of a client's turn, as inputs for the machine: frames, and what the session sees of the
 * gate, of work in flight, of memory. native/machine decides what follows, and perform.c does
 * it. */
#include <errno.h>

#include "client.h"
#include "gate/drain.h"
#include "gate/inflight.h"
#include "gate/inside.h"
#include "memory/allocations.h"
#include "memory/pools.h"
#include "moves/residency.h"
#include "process/clock.h"
#include "session.h"

void turn_init(struct turn *turn) {
    *turn = (struct turn){.standby = -1, .due = CLOCK_NEVER, .growth_due = CLOCK_NEVER};
    undrained_init(&turn->undrained);
}

/* The mover's thread reads it before each chunk of explicit memory that leaves. */
static bool is_quiet(const struct client *client) {
    return atomic_load(&client->device->mover.is_quiet);
}

void turn_set_quiet(struct client *client, bool is_quiet) {
    atomic_store(&client->device->mover.is_quiet, is_quiet);
}

void turn_has_opened(struct client *client) {
    turn_set_quiet(client, false);
    client->turn.is_marked = client->turn.has_stepped = client->turn.have_left = false;
    client->turn.due = 0;
}

/* Bytes that can leave the GPU now. Explicit memory stays while a thread may use it. */
uint64_t turn_there(const struct client *client) {
    bool may_leave = is_quiet(client) || !device_is_explicit(client->device);
    return may_leave ? swap_there(client->device) : 0;
}

bool turn_is_unsure(const struct client *client) {
    return device_is_explicit(client->device) && !is_quiet(client) &&
           MACHINE_RETURNING <= client->machine.state && client->machine.state <= MACHINE_FETCHING;
}

/* Counts it as pinned, or the daemon would ask for it again and again. */
uint64_t turn_pinned(const struct client *client) {
    const struct account *account = &client->device->account;
    uint64_t used = atomic_load(&account->used), away = atomic_load(&account->away);
    if (!turn_is_unsure(client))
        return atomic_load(&account->pinned);
    return used > away ? used - away : 0;
}

/* Memory that was never used comes by itself when it is used. If others have yet to make room, the
 * driver would push out memory that is not to leave. */
static bool is_to_wait(const struct device *device, uint64_t missing) {
    bool waits = missing && atomic_load(&device->account.untouched) >= RESIDENCY_BLOCK;
    return swap_is_needed(device) || (waits && !device_is_explicit(device));
}

/* If the gate has opened by itself and memory is away (allocated since), that comes when it is
 * used; otherwise the gate is short, and has not opened. */
static bool must_fill(const struct client *client, uint64_t missing) {
    return is_to_wait(client->device, missing) &&
           (device_is_explicit(client->device) || !gate_has_begun(&client->device->gate));
}

int turn_is_handed(struct client *client) {
    struct machine_input input = {.event = ON_HANDED,
                                  .must_fill = must_fill(client, client->machine.standby_missing)};
    return turn_feed(client, input);
}

/* By the gate's standby or the session's. */
static bool has_turn_come(struct client *client) {
    switch (client->machine.standby) {
    case MACHINE_GATE_STANDS_BY: return !gate_disarm(&client->device->gate);
    case MACHINE_SESSION_STANDS_BY: return standby_brings_turn(client->turn.standby);
    default: return false;
    }
}

void turn_take_handed(struct client *client) {
    if (has_turn_come(client))
        turn_is_handed(client);
}

void turn_lose(struct client *client, bool refuses, bool may_wait) {
    struct machine_input input = {.event = ON_LOST,
                                  .refuses = refuses,
                                  .may_wait = may_wait,
                                  .must_fill = swap_is_needed(client->device)};
    turn_feed(client, input);
    swap_forget(client);
    /* Behind an open gate no call is sampled now. */
    if (client->machine.state != MACHINE_WAITING)
        residency_all_used(&allocations.memory, client->device->ordinal);
}

int turn_handle(struct client *client, const struct frame_view *frame) {
    struct machine_input input = {.descriptor = -1};
    union {
        struct frame_grant grant;
        struct frame_revoke revoke;
        struct frame_keep keep;
        struct frame_hold hold;
        struct frame_step step;
        struct frame_handover handover;
        struct frame_standby standby;
        struct frame_cancel_handover cancel;
        struct frame_room room;
        struct frame_evict evict;
        struct frame_fill fill;
        struct frame_trim trim;
    } fields;
    int result;
#define TAKE(field)                                                                                \
    if ((result = frame_take(frame, &fields.field, sizeof fields.field)) < 0)                      \
        return result;
    switch (frame->type) {
    case FRAME_GRANT:
        TAKE(grant)
        input.event = ON_GRANT;
        input.turn = fields.grant.turn;
        input.bytes = fields.grant.fill_bytes;
        input.missing = fields.grant.missing;
        input.must_fill = must_fill(client, input.missing);
        break;
    case FRAME_REVOKE:
        TAKE(revoke)
        input.event = ON_REVOKE;
        input.turn = fields.revoke.turn;
        input.is_urgent = fields.revoke.urgency == URGENCY_NOW;
        input.idle_ns =
            fields.revoke.idle_us ? CLOCK_US(fields.revoke.idle_us) : client->idle_grace_ns;
        input.bytes = fields.revoke.evict_bytes;
        input.displaces = fields.revoke.flags & REVOKE_DISPLACE;
        break;
    case FRAME_KEEP:
        TAKE(keep)
        input.event = ON_KEEP;
        input.turn = fields.keep.turn;
        break;
    case FRAME_HOLD:
        TAKE(hold)
        input.event = ON_HOLD;
        input.turn = fields.hold.turn;
        input.number = fields.hold.number;
        break;
    case FRAME_STEP:
        TAKE(step)
        input.event = ON_STEP;
        input.turn = fields.step.turn;
        input.number = fields.step.number;
        break;
    case FRAME_HANDOVER:
        TAKE(handover)
        input.event = ON_HANDOVER;
        input.turn = fields.handover.turn;
        input.next_turn = fields.handover.next_turn;
        input.descriptor = connection_take_descriptor(&client->connection);
        break;
    case FRAME_STANDBY:
        TAKE(standby)
        input.event = ON_STANDBY;
        input.turn = fields.standby.turn;
        input.bytes = fields.standby.fill_bytes;
        input.missing = fields.standby.missing;
        input.must_fill = is_to_wait(client->device, input.missing);
        input.descriptor = connection_take_descriptor(&client->connection);
        break;
    case FRAME_CANCEL_HANDOVER:
        TAKE(cancel)
        input.event = ON_CANCEL_HANDOVER;
        input.turn = fields.cancel.turn;
        break;
    case FRAME_ROOM:
        TAKE(room)
        input.event = ON_ROOM;
        input.turn = fields.room.turn;
        input.missing = fields.room.missing;
        break;
    case FRAME_EVICT:
        TAKE(evict)
        input.event = ON_EVICT;
        input.bytes = fields.evict.evict_bytes;
        input.there = turn_there(client);
        break;
    case FRAME_FILL:
        TAKE(fill)
        input.event = ON_FILL;
        input.bytes = fields.fill.fill_bytes;
        input.away = atomic_load(&client->device->account.away);
        break;
    case FRAME_TRIM:
        TAKE(trim)
        input.event = ON_TRIM;
        input.bytes = fields.trim.trim_bytes;
        /* In the middle of a turn explicit memory may not leave. */
        input.can_move = device_moves_memory(client->device) && !device_is_explicit(client->device);
        break;
    default: return 0;
    }
#undef TAKE
    return turn_feed(client, input);
}

int turn_grows(struct client *client, uint64_t missing) {
    struct machine_input input = {.event = ON_GROW, .missing = missing};
    return turn_feed(client, input);
}

/* Whether the gate, closed for memory that was being allocated, may open: the memory is allocated,
 * and there is room for it. It was not used yet, so nothing has to come. Explicit memory comes with
 * the fill that follows. */
static bool has_grown(const struct client *client, uint64_t now) {
    const struct account *account = &client->device->account;
    /* In this order: allocated memory counts as away before it stops counting as coming. */
    bool is_coming = atomic_load(&account->coming) > 0, is_there = atomic_load(&account->away) > 0;
    bool waits = is_coming || (is_there && client->machine.missing);
    if (device_is_explicit(client->device))
        waits = client->machine.missing > 0;
    return !waits || now >= client->turn.growth_due;
}

/* The mover has done what it could, and explicit memory is still away: the order is repeated, but
 * not all the time. */
static bool fills_in_vain(const struct client *client) {
    bool fills = client->machine.job == MACHINE_FILLS || client->machine.job == MACHINE_RETURNS;
    return fills && device_is_explicit(client->device) && !mover_is_busy(&client->device->mover) &&
           swap_falls_short(client->device);
}

int turn_look_at_memory(struct client *client, uint64_t now) {
    const struct mover *mover = &client->device->mover;
    struct machine_input moved = {.event = ON_MOVED}, grew = {.event = ON_GREW};
    struct machine_input progress = {.event = ON_PROGRESS};
    int result = 0;
    turn_look_at_quiet(client, now);
    moved.must_fill = fills_in_vain(client);
    moved.there = turn_there(client);
    bool is_too_soon = moved.must_fill && now < client->turn.retry_due;
    if (moved.must_fill && !is_too_soon)
        client->turn.retry_due = now + CLOCK_MS(10);
    if (client->machine.job != MACHINE_RESTS && !mover_is_busy(mover) && !is_too_soon)
        result = turn_feed(client, moved);
    else if (client->machine.state == MACHINE_LEAVING && mover_has_news(mover))
        result = turn_feed(client, progress);
    if (client->machine.state == MACHINE_GROWING && client->machine.job == MACHINE_RESTS &&
        has_grown(client, now) && result == 0)
        result = turn_feed(client, grew);
    return result;
}

uint64_t turn_due(const struct client *client) {
    if (fills_in_vain(client))
        return client->turn.retry_due;
    if (turn_is_unsure(client))
        return client->turn.due;
    switch (client->machine.state) {
    case MACHINE_OPEN: return undrained_due(client);
    case MACHINE_WATCHED: {
        uint64_t due = undrained_due(client);
        return client->turn.due < due ? client->turn.due : due;
    }
    case MACHINE_HOLDING:
    case MACHINE_CLOSING:
    case MACHINE_STOPPING: return client->turn.due;
    case MACHINE_GROWING: return client->turn.growth_due;
    default: return CLOCK_NEVER;
    }
}
