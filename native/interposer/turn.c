/* Turns: taken, watched, given up, passed on. The rules for frames that cross on the way are in
 * protocol/frames.toml. */
#include <errno.h>
#include <unistd.h>

#include "client.h"
#include "clock.h"
#include "drain.h"
#include "log.h"

static void close_descriptor(int *descriptor) {
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

void turn_init(struct turn *turn) {
    *turn = (struct turn){.pass = -1, .standby = -1, .due = CLOCK_NEVER};
}

/* What somebody else's wish means for a program that may use more than its share without one. */
static void set_asked(struct client *client, enum urgency urgency) {
    client->turn.asked = urgency;
    share_is_wanted(&client->device->share, urgency != 0);
}

static void forget_request(struct client *client) {
    struct turn *turn = &client->turn;
    set_asked(client, 0);
    turn->evict_bytes = 0;
    turn->is_displaced = false;
    turn->is_closing = turn->is_marked = false;
    turn->due = CLOCK_NEVER;
    close_descriptor(&turn->pass);
}

static void forget_standby(struct client *client) {
    close_descriptor(&client->turn.standby);
    gate_withdraw(&client->device->gate);
}

static void watch_from_now(struct client *client, uint64_t now) {
    gate_watch(&client->device->gate);
    client->turn.is_marked = false;
    client->turn.quiet_since = now;
    client->turn.due = now + client->turn.idle_ns;
}

/* If the gate has opened by itself and memory is away (allocated since), that comes as it is used. */
void turn_begin(struct client *client, uint64_t number, uint64_t fill_bytes, uint64_t missing,
                uint64_t now) {
    struct turn *turn = &client->turn;
    if (number <= turn->number)
        return;
    bool has_to_fill = swap_is_needed(client->device) && !gate_has_begun(&client->device->gate);
    if (!has_to_fill)
        gate_open(&client->device->gate); /* first of all: a GPU stands still until then */
    forget_request(client);
    forget_standby(client);
    turn->number = number;
    turn->is_held = true;
    turn->is_wanted = false;
    log_debug("GPU %d: turn %llu begins", client->device->ordinal, (unsigned long long)number);
    swap_room(client, missing, now);
    if (has_to_fill)
        swap_fill(client, fill_bytes);
}

/* One that waits for its memory is not idle. */
void turn_stops_to_fill(struct client *client) {
    gate_close(&client->device->gate);
    if (client->turn.asked == URGENCY_WHEN_IDLE)
        client->turn.due = CLOCK_NEVER;
}

/* Its memory is where it has to be. It may have been asked meanwhile to give the turn up. */
void turn_is_filled(struct client *client, uint64_t now) {
    if (client->turn.is_closing)
        return;
    gate_open(&client->device->gate);
    if (client->turn.asked == URGENCY_WHEN_IDLE)
        watch_from_now(client, now);
}

/* Memory is about to leave, and the gate must not open by itself then: a turn comes with the daemon's GRANT,
 * unless it has come already. */
void turn_comes_by_grant(struct client *client) {
    if (!gate_disarm(&client->device->gate))
        client_standby_ready(client);
}

/* Without a daemon nobody else has a claim, and nobody could open the gate again. */
void turn_lose(struct client *client) {
    struct turn *turn = &client->turn;
    forget_request(client);
    forget_standby(client);
    turn->is_held = true;
    turn->is_wanted = false;
    gate_open(&client->device->gate);
    swap_lose(client);
}

static bool is_held(const struct turn *turn, uint64_t number) {
    return turn->is_held && turn->number == number;
}

static void ask(struct client *client, const struct frame_revoke *revoke, uint64_t now) {
    struct turn *turn = &client->turn;
    if (!is_held(turn, revoke->turn) || turn->is_closing)
        return;
    set_asked(client, revoke->urgency);
    turn->idle_ns = revoke->idle_us ? CLOCK_US(revoke->idle_us) : client->idle_grace_ns;
    turn->evict_bytes = revoke->evict_bytes;
    turn->is_displaced = revoke->flags & REVOKE_DISPLACE;
    turn->due = now;
    if (turn->asked == URGENCY_WHEN_IDLE && client->swap.is_filling)
        turn->due = CLOCK_NEVER;
    else if (turn->asked == URGENCY_WHEN_IDLE)
        watch_from_now(client, now);
}

static void keep(struct client *client, uint64_t number) {
    if (!is_held(&client->turn, number))
        return;
    forget_request(client);
    if (!client->swap.is_filling)
        gate_open(&client->device->gate);
}

static void pass_to(struct client *client, const struct frame_pass_to *pass) {
    struct turn *turn = &client->turn;
    int descriptor = connection_take_descriptor(&client->connection);
    if (descriptor >= 0 && is_held(turn, pass->turn)) {
        close_descriptor(&turn->pass);
        turn->pass = descriptor;
        turn->pass_turn = pass->next_turn;
    } else {
        close_descriptor(&descriptor);
    }
}

/* A turn that begins with moving memory is the session's business; any other is the gate's own. */
static void stand_by(struct client *client, const struct frame_standby *standby) {
    struct turn *turn = &client->turn;
    int descriptor = connection_take_descriptor(&client->connection);
    if (descriptor >= 0 && standby->turn > turn->number) {
        forget_standby(client);
        turn->standby_turn = standby->turn;
        turn->standby_fill_bytes = standby->fill_bytes;
        turn->standby_missing = standby->missing;
        if (swap_is_needed(client->device) || gate_stand_by(&client->device->gate, descriptor) < 0)
            turn->standby = descriptor;
    } else {
        close_descriptor(&descriptor);
    }
}

static void take_room(struct client *client, const struct frame_room *room, uint64_t now) {
    if (is_held(&client->turn, room->turn))
        swap_room(client, room->missing, now);
    else if (room->turn == client->turn.standby_turn)
        client->turn.standby_missing = room->missing;
}

int turn_handle(struct client *client, const struct frame_view *frame, uint64_t now) {
    union {
        struct frame_grant grant;
        struct frame_revoke revoke;
        struct frame_keep keep;
        struct frame_pass_to pass_to;
        struct frame_standby standby;
        struct frame_cancel_pass cancel;
        struct frame_room room;
    } fields;
    int result = 0;
#define TAKE(field) (result = frame_take(frame, &fields.field, sizeof fields.field)) == 0
    switch (frame->type) {
    case FRAME_GRANT:
        if (TAKE(grant))
            turn_begin(client, fields.grant.turn, fields.grant.fill_bytes, fields.grant.missing,
                       now);
        break;
    case FRAME_REVOKE:
        if (TAKE(revoke))
            ask(client, &fields.revoke, now);
        break;
    case FRAME_KEEP:
        if (TAKE(keep))
            keep(client, fields.keep.turn);
        break;
    case FRAME_PASS_TO:
        if (TAKE(pass_to))
            pass_to(client, &fields.pass_to);
        break;
    case FRAME_STANDBY:
        if (TAKE(standby))
            stand_by(client, &fields.standby);
        break;
    case FRAME_ROOM:
        if (TAKE(room))
            take_room(client, &fields.room, now);
        break;
    case FRAME_CANCEL_PASS:
        if (TAKE(cancel) && is_held(&client->turn, fields.cancel.turn))
            close_descriptor(&client->turn.pass);
        break;
    default: break;
    }
#undef TAKE
    return result;
}

/* The successor is woken before the daemon hears of it. */
static uint64_t hand_on(struct turn *turn) {
    const uint64_t one = 1;
    if (turn->pass < 0 || write(turn->pass, &one, sizeof one) != sizeof one)
        return 0;
    return turn->pass_turn;
}

static int release(struct client *client, enum release_reason reason) {
    struct turn *turn = &client->turn;
    const struct account *account = &client->device->account;
    uint64_t end = clock_now(); /* before the successor is woken; telling of it can wait */
    bool is_used_up = share_is_used_up(&client->device->share);
    struct frame_released frame = {.turn = turn->number,
                                   .reason = is_used_up ? RELEASE_REASON_USED_UP : reason,
                                   .wants = gate_waiting(&client->device->gate) > 0,
                                   .handed_turn = hand_on(turn),
                                   .allocated = atomic_load(&account->used),
                                   .pinned = atomic_load(&account->pinned)};
    swap_release(client, turn->evict_bytes, turn->is_displaced, &frame);
    turn->is_held = false;
    turn->is_wanted = frame.wants;
    forget_request(client);
    /* Whoever it was given up for has it now, and may want it until the next turn says otherwise. */
    share_is_wanted(&client->device->share, true);
    log_debug("GPU %d: turn %llu ended at %llu ns", client->device->ordinal,
              (unsigned long long)turn->number, (unsigned long long)end);
    return connection_send(&client->connection, FRAME_RELEASED, &frame, sizeof frame);
}

static uint64_t next_look(uint64_t pause) {
    if (pause < CLOCK_US(20))
        return CLOCK_US(20);
    return pause < CLOCK_MS(1) ? pause : CLOCK_MS(1);
}

/* The gate is closed, and what is in flight comes to its end. From then to the next look the GPU stands
 * still: so looks are frequent at first, since most work is short, and cost a hundredth of the time later.
 * While a stream is being captured there is no telling, and that may take long; but then little is in
 * flight. */
static int go_on_closing(struct client *client, uint64_t now) {
    struct turn *turn = &client->turn;
    uint64_t waited = now - turn->closing_since;
    if (!turn->is_marked)
        turn->is_marked = drain_mark(client->device);
    bool unknown = !turn->is_marked && waited < CLOCK_MS(100);
    if (unknown || (turn->is_marked && !drain_is_done(client->device))) {
        turn->due = now + next_look(waited / 100);
        return 0;
    }
    return release(client, RELEASE_REASON_ASKED);
}

static int begin_closing(struct client *client, uint64_t now) {
    gate_close(&client->device->gate);
    client->turn.is_closing = true;
    client->turn.is_marked = false;
    client->turn.closing_since = now;
    return go_on_closing(client, now);
}

/* Idle is: no call for a while, and nothing in flight for as long. Who has used its share up is so at once:
 * its calls wait elsewhere. */
static int watch(struct client *client, uint64_t now) {
    struct turn *turn = &client->turn;
    struct gate *gate = &client->device->gate;
    if (gate_was_used(gate) || (!turn->is_marked && !drain_mark(client->device))) {
        watch_from_now(client, now);
        return 0;
    }
    turn->is_marked = true;
    if (!drain_is_done(client->device)) {
        turn->quiet_since = now;
        turn->due = now + next_look(turn->idle_ns / 16);
        return 0;
    }
    bool is_used_up = share_is_used_up(&client->device->share);
    if (!is_used_up && now - turn->quiet_since < turn->idle_ns) {
        turn->due = turn->quiet_since + turn->idle_ns;
        return 0;
    }
    if (!gate_close_if_unused(gate))
        return 0;
    return release(client, RELEASE_REASON_IDLE);
}

static int want(struct client *client) {
    struct turn *turn = &client->turn;
    if (turn->is_wanted || !gate_waiting(&client->device->gate))
        return 0;
    struct frame_want frame = {.turn = turn->number};
    turn->is_wanted = true;
    return connection_send(&client->connection, FRAME_WANT, &frame, sizeof frame);
}

int turn_step(struct client *client, uint64_t now) {
    struct turn *turn = &client->turn;
    if (!turn->is_held)
        return want(client);
    bool is_over = turn->asked == URGENCY_WHEN_IDLE && share_is_used_up(&client->device->share);
    if (!turn->asked || (now < turn->due && !is_over))
        return 0;
    if (turn->is_closing)
        return go_on_closing(client, now);
    return turn->asked == URGENCY_NOW ? begin_closing(client, now) : watch(client, now);
}
