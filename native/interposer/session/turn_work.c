/* What the session sees of the gate and of work in flight, as inputs for the machine: whether the
 * program is idle, and whether the work in flight behind a closed gate has ended, or cannot. */
#include "client.h"
#include "gate/drain.h"
#include "gate/inflight.h"
#include "gate/inside.h"
#include "memory/pools.h"
#include "process/clock.h"
#include "session.h"

/* When a turn ends and nothing has to leave, pools are tidied up no more often than this. */
static const uint64_t tidy_pause = CLOCK_MS(1000);

static void watch_from(struct client *client, uint64_t now) {
    gate_watch(&client->device->gate);
    client->turn.is_marked = false;
    client->turn.quiet_since = now;
    client->turn.due = now + client->turn.idle_ns;
}

void turn_watch(struct client *client, uint64_t idle_ns) {
    client->turn.idle_ns = idle_ns;
    watch_from(client, clock_now());
}

/* Where calls are not marked, a call that looked before the gate closed may still be on its way to
 * the driver. Managed memory tolerates that. But the work that the call submits may wait for other
 * programs, which are held too. */
static bool is_open_to_stragglers(const struct client *client) {
    return client->machine.state == MACHINE_HOLDING && !gate_calls_are_marked() &&
           !client->turn.have_left;
}

void turn_drain(struct client *client) {
    client->turn.is_marked = false;
    client->turn.closing_since = client->turn.due = clock_now();
    undrained_begin(client, client->turn.due);
    if (is_open_to_stragglers(client))
        inside_note_threads(&client->device->gate);
}

/* Whether no thread is in a call that had passed the gate, where that can be told. */
static bool all_are_outside(const struct client *client) {
    return !gate_calls_are_marked() || inside_is_empty(&client->device->gate);
}

/* Memory that pools keep takes room that the next programs need. Slices end many times a second,
 * when no program needs room; a program that moves memory out tidies up with that. */
static void tidy(struct client *client) {
    struct turn *turn = &client->turn;
    if (!atomic_load_explicit(&pools_are_used, memory_order_acquire) || client->machine.evict ||
        turn->ended - turn->tidied < tidy_pause)
        return;
    turn->tidied = turn->ended;
    mover_tidy(&client->device->mover);
}

/* The turn's end is the moment before the next program is woken; reporting it can wait. */
static int end(struct client *client, enum machine_event event) {
    struct device *device = client->device;
    client->turn.ended = client->turn.due = clock_now();
    turn_set_quiet(client, client->turn.is_marked);
    undrained_end(client);
    tidy(client);
    struct machine_input input = {.event = share_is_used_up(&device->share) ? ON_USED_UP : event,
                                  .waits = gate_waiting(&device->gate) > 0,
                                  .there = turn_there(client),
                                  .away = swap_away(device)};
    return turn_feed(client, input);
}

static uint64_t next_look(uint64_t pause) {
    if (pause < CLOCK_US(20))
        return CLOCK_US(20);
    return pause < CLOCK_MS(1) ? pause : CLOCK_MS(1);
}

/* Whether a call that passed by a ticket is still on its way to the driver, or in there. */
static bool is_stepping(const struct client *client) {
    struct gate *gate = &client->device->gate;
    return client->turn.has_stepped && (gate_is_stepping(gate) || inside_has_marks(gate));
}

enum work { WORK_UNKNOWN, WORK_GOES_ON, WORK_DONE };

static bool may_slip_through(struct client *client) {
    if (!is_open_to_stragglers(client))
        return false;
    client->turn.have_left = inside_have_left(&client->device->gate);
    return !client->turn.have_left;
}

/* During a capture this cannot be told, nor while a thread is inside, which may be about to submit
 * work. */
static enum work look_at_work(struct client *client) {
    struct turn *turn = &client->turn;
    if (is_stepping(client) || may_slip_through(client))
        return WORK_GOES_ON;
    if (!turn->is_marked) {
        enum drain_mark mark = all_are_outside(client) ? drain_mark(client->device) : DRAIN_UNKNOWN;
        turn->is_marked = mark == DRAIN_MARKED;
        if (!turn->is_marked)
            return mark == DRAIN_BUSY ? WORK_GOES_ON : WORK_UNKNOWN;
    }
    return drain_is_done(client->device) ? WORK_DONE : WORK_GOES_ON;
}

/* A capture may take long, but then little is in flight. A thread inside is waited for, unless the
 * kernel, which had agreed to, does not help to find it any more. */
static bool is_waited_for(const struct client *client, enum work work, uint64_t waited) {
    if (work != WORK_UNKNOWN)
        return work == WORK_GOES_ON;
    return waited < CLOCK_MS(100) || (!all_are_outside(client) && inside_is_possible());
}

/* The turn goes on, and nothing is measured: the work in flight may have waited for other
 * programs. */
static int be_held(struct client *client) {
    struct machine_input input = {.event = ON_DRAINED,
                                  .waits = gate_waiting(&client->device->gate) > 0};
    undrained_end(client);
    return turn_feed(client, input);
}

/* The gate is closed, and the work in flight drains. From its end to the next look the GPU stands
 * still. So looks are frequent at first, since most work is short, and later cost a hundredth of
 * the time. */
static int go_on_draining(struct client *client, uint64_t now) {
    struct turn *turn = &client->turn;
    uint64_t waited = now > turn->closing_since ? now - turn->closing_since : 0;
    if (now < turn->due)
        return 0;
    if (!is_waited_for(client, look_at_work(client), waited)) {
        if (client->machine.state == MACHINE_HOLDING)
            return be_held(client);
        inflight_turn_ended(client->device, waited);
        return end(client, ON_DRAINED);
    }
    turn->due = now + next_look(waited / 100);
    if (!undrained_look(client, now))
        return 0;
    undrained_observe(client, now);
    return turn_feed(client, (struct machine_input){.event = ON_CANNOT_DRAIN});
}

/* Idle means no call for a while, and nothing in flight for as long. A program that has used up its
 * share is idle at once: its calls wait elsewhere. */
static int go_on_watching(struct client *client, uint64_t now) {
    struct turn *turn = &client->turn;
    struct gate *gate = &client->device->gate;
    bool is_used_up = share_is_used_up(&client->device->share);
    if (now < turn->due && !is_used_up)
        return 0;
    enum work work = gate_was_used(gate) ? WORK_UNKNOWN : look_at_work(client);
    if (work == WORK_UNKNOWN) {
        watch_from(client, now);
        return 0;
    }
    if (work == WORK_GOES_ON) {
        turn->quiet_since = now;
        turn->due = now + next_look(turn->idle_ns / 16);
        return 0;
    }
    if (!is_used_up && now - turn->quiet_since < turn->idle_ns) {
        turn->due = turn->quiet_since + turn->idle_ns;
        return 0;
    }
    return gate_close_if_unused(gate) ? end(client, ON_IDLE) : 0;
}

/* After a turn that has ended although work may be in flight: the daemon is told when that is
 * over. */
void turn_look_at_quiet(struct client *client, uint64_t now) {
    if (!turn_is_unsure(client) || now < client->turn.due)
        return;
    client->turn.due = now + CLOCK_MS(1);
    if (look_at_work(client) == WORK_DONE) {
        turn_set_quiet(client, true);
        session_memory_changed(client->device);
    }
}

int turn_step(struct client *client, uint64_t now) {
    struct machine_input work = {.event = ON_WORK};
    switch (client->machine.state) {
    case MACHINE_HELD:
    case MACHINE_CLOSED:
    case MACHINE_LEAVING:
    case MACHINE_FETCHING: return gate_waiting(&client->device->gate) ? turn_feed(client, work) : 0;
    case MACHINE_OPEN: return undrained_step(client, now);
    case MACHINE_WATCHED: {
        int result = undrained_step(client, now);
        return result < 0 ? result : go_on_watching(client, now);
    }
    case MACHINE_HOLDING:
    case MACHINE_CLOSING:
    case MACHINE_STOPPING: return go_on_draining(client, now);
    default: return 0;
    }
}
