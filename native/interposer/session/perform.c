/* Carries out what the machine says: at the gate, by the mover, and with frames to the daemon.
 * Decides nothing. */
#include <sys/socket.h>

#include "client.h"
#include "descriptor.h"
#include "log.h"
#include "memory/allocations.h"
#include "moves/residency.h"
#include "process/clock.h"

/* From the daemon's answer until the memory is allocated, which is a call to the driver. */
static const uint64_t growth_patience = CLOCK_MS(1000);

static void close_descriptor(int *descriptor) {
    descriptor_close(*descriptor);
    *descriptor = -1;
}

static void arm_gate(struct client *client, int descriptor) {
    if (gate_stand_by(&client->device->gate, descriptor) < 0)
        client->turn.standby = descriptor;
}

void turn_lose_standby(struct client *client) {
    close_descriptor(&client->turn.standby);
}

static void disarm(struct client *client) {
    close_descriptor(&client->turn.standby);
    gate_withdraw(&client->device->gate);
}

/* Only the gate knows whether it has opened by now. */
static int disarm_or_begin(struct client *client) {
    if (!gate_disarm(&client->device->gate))
        return turn_is_handed(client);
    close_descriptor(&client->turn.standby);
    struct machine_input input = {.event = ON_DISARMED, .there = turn_there(client)};
    return turn_feed(client, input);
}

/* The other end belongs to another program, which may misuse it. It can neither block this thread
 * nor kill it by a signal; if it does not listen, the daemon gives it its turn. */
static void hand_over(struct turn *turn, const struct machine_action *action) {
    const char one = 1;
    bool done = descriptor_is_kept(action->descriptor) &&
                send(action->descriptor, &one, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
    turn->handed = done ? action->turn : 0;
}

/* Moves made under an earlier order are reported as such. */
static void order(struct client *client, enum mover_job job, uint64_t bytes) {
    swap_take(client);
    int result = mover_order(&client->device->mover, job, bytes);
    if (result < 0 && job == MOVER_FILL)
        log_warn_once("nvshare cannot start a thread: memory returns to the GPU slowly");
}

static void fill(struct client *client, uint64_t bytes) {
    log_debug("GPU %d: %llu bytes are to move to the GPU", client->device->ordinal,
              (unsigned long long)swap_away(client->device));
    order(client, MOVER_FILL, bytes ? bytes : UINT64_MAX);
}

static int want(struct client *client, uint64_t turn) {
    struct frame_want frame = {.turn = turn};
    return connection_send(&client->connection, FRAME_WANT, &frame, sizeof frame);
}

static int released(struct client *client, const struct machine_action *action) {
    const struct account *account = &client->device->account;
    struct mover_progress *untold = &client->swap.untold;
    swap_take(client);
    int result = swap_tell_rest(client);
    struct frame_released frame = {.turn = action->turn,
                                   .reason = action->value,
                                   .wants = client->machine.is_wanted,
                                   .handed_turn = client->turn.handed,
                                   .allocated = atomic_load(&account->used),
                                   .pinned = turn_pinned(client),
                                   .swapped_out = swap_tell_away(client),
                                   .moved_bytes = untold->displaced,
                                   .left = mover_left(&client->device->mover),
                                   .untouched = account_nowhere(account),
                                   .kept = atomic_load(&account->kept)};
    untold->displaced = 0;
    client->turn.handed = 0;
    log_debug("GPU %d: turn %llu ended at %llu ns", client->device->ordinal,
              (unsigned long long)action->turn, (unsigned long long)client->turn.ended);
    int sent = connection_send(&client->connection, FRAME_RELEASED, &frame, sizeof frame);
    return result < 0 ? result : sent;
}

static int tell_cannot_drain(struct client *client, const struct machine_action *action) {
    struct frame_cannot_drain frame = {
        .turn = action->turn, .reason = client->turn.undrained.reason, .number = action->number};
    return connection_send(&client->connection, FRAME_CANNOT_DRAIN, &frame, sizeof frame);
}

static int tell_held(struct client *client, const struct machine_action *action) {
    struct frame_held frame = {
        .turn = action->turn, .waits = action->value, .number = action->number};
    return connection_send(&client->connection, FRAME_HELD, &frame, sizeof frame);
}

static int perform(struct client *client, const struct machine_action *action) {
    struct device *device = client->device;
    int descriptor = action->descriptor;
    switch ((enum machine_act)action->act) {
    case DO_OPEN:
        turn_has_opened(client);
        client->turn.fell_short = !gate_open(&device->gate);
        break;
    case DO_CLOSE: gate_close(&device->gate); break;
    case DO_REFUSE: gate_refuse(&device->gate); break;
    case DO_WATCH: turn_watch(client, action->bytes); break;
    case DO_STEP:
        client->turn.has_stepped = true;
        client->turn.fell_short = !gate_step(&device->gate);
        break;
    case DO_DRAIN: turn_drain(client); break;
    case DO_AWAIT_GROWTH: client->turn.growth_due = clock_now() + growth_patience; break;
    case DO_CONTEND: share_is_wanted(&device->share, action->value); break;
    case DO_ARM_GATE: arm_gate(client, descriptor); break;
    case DO_ARM_SESSION: client->turn.standby = descriptor; break;
    case DO_DISARM: disarm(client); break;
    case DO_DISARM_OR_BEGIN: return disarm_or_begin(client);
    case DO_HAND_OVER: hand_over(&client->turn, action); break;
    case DO_DROP: close_descriptor(&descriptor); break;
    case DO_SET_MISSING: mover_set_missing(&device->mover, action->bytes); break;
    case DO_ORDER_OUT: order(client, MOVER_OUT, action->bytes); break;
    case DO_ORDER_MORE: mover_order_more(&device->mover, action->bytes); break;
    case DO_ORDER_FILL: fill(client, action->bytes); break;
    case DO_ORDER_AHEAD: order(client, MOVER_FILL_AHEAD, action->bytes); break;
    case DO_ORDER_GENTLY: order(client, MOVER_FILL_GENTLY, UINT64_MAX); break;
    case DO_ORDER_RETURN: order(client, MOVER_RETURN, UINT64_MAX); break;
    case DO_ORDER_REST: order(client, MOVER_REST, 0); break;
    case DO_DISPLACE: mover_displace(&device->mover, action->bytes); break;
    case DO_COUNT_ALL_THERE: residency_all_there(&allocations.memory, device->ordinal); break;
    case DO_HELLO: return client_say_hello(client, action);
    case DO_WANT: return want(client, action->turn);
    case DO_RELEASED: return released(client, action);
    case DO_ANSWER: return swap_answer(client, action->turn);
    case DO_TELL_OUT: return swap_tell_out(client, action->turn);
    case DO_TELL_IN: return swap_tell_in(client, action->turn);
    case DO_TELL_CANNOT_DRAIN: return tell_cannot_drain(client, action);
    case DO_TELL_HELD: return tell_held(client, action);
    case MACHINE_ACTS: break;
    }
    return 0;
}

/* Memory was allocated behind the gate after all the rest had come: treated as growth. A step that
 * failed for this reason is asked for again when the daemon learns that the client is held. */
static int fill_first(struct client *client) {
    struct machine_input input = {.event = ON_GROW};
    if (client->machine.state == MACHINE_ALONE)
        input = (struct machine_input){.event = ON_LOST, .must_fill = true};
    client->turn.fell_short = false;
    return turn_feed(client, input);
}

int turn_feed(struct client *client, struct machine_input input) {
    const uint64_t turn = client->machine.turn;
    const uint32_t state = client->machine.state;
    struct machine_actions actions;
    if (input.event != ON_STANDBY && input.event != ON_HANDOVER)
        input.descriptor = -1;
    input.is_explicit = device_is_explicit(client->device);
    if (machine_feed(&client->machine, &input, &actions) == MACHINE_IMPOSSIBLE)
        log_info("GPU %d: the event %s is not valid in the state %s", client->device->ordinal,
                 machine_event_name(input.event), machine_state_name(state));
    int result = 0;
    /* All of them, even if the connection is gone: client.c cleans up after that. */
    for (uint32_t i = 0; i < actions.count; i++) {
        int done = perform(client, &actions.list[i]);
        result = result < 0 ? result : done;
    }
    if (client->machine.turn != turn) {
        if (!gate_is_closed(&client->device->gate)) /* it may have opened by itself */
            turn_has_opened(client);
        log_debug("GPU %d: turn %llu begins", client->device->ordinal,
                  (unsigned long long)client->machine.turn);
    }
    return client->turn.fell_short && result == 0 ? fill_first(client) : result;
}
