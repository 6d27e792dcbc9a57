/* Registration with the daemon, and life without one. */
#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "descriptor.h"
#include "log.h"
#include "moves/host.h"
#include "process/clock.h"
#include "process/config.h"

/* A daemon that comes back lets nobody in until running programs have had a second to tell of their
 * turns (reconnect_seconds), and waits some seconds more for a group's page
 * (daemon/groups/await_page.py). An attempt to connect costs some microseconds. */
static const uint64_t first_backoff = CLOCK_MS(100), longest_backoff = CLOCK_MS(400);
static const uint64_t rejected_backoff = CLOCK_MS(5000);
static const uint64_t greeting_time = CLOCK_MS(5000);
static const uint64_t default_idle_grace = CLOCK_MS(10);

void client_init(struct client *client, struct device *device, uint64_t now) {
    *client = (struct client){.device = device,
                              .due = now,
                              .backoff = first_backoff,
                              .patience = now + greeting_time,
                              .usage_due = CLOCK_NEVER,
                              .silence = {.limit_ns = config()->silence_ns},
                              .idle_grace_ns = default_idle_grace};
    client_set_usage_pause(client, 0);
    connection_init(&client->connection);
    machine_init(&client->machine);
    turn_init(&client->turn);
}

void client_forget(struct client *client) {
    connection_close(&client->connection);
    descriptor_close(client->machine.next_descriptor);
    descriptor_close(client->turn.standby);
    descriptor_close(client->device->page);
    gate_abandon(&client->device->gate);
}

/* Without a daemon, a program that has begun goes on, and one that must not run unmanaged does not
 * begin. */
static void run_unmanaged(struct client *client, uint64_t now, const char *why) {
    bool refuses = config()->require && !client->machine.was_welcome;
    bool may_wait = now < client->waits_until;
    turn_take_handed(client);
    bool waits =
        may_wait && client->machine.state >= MACHINE_WAITING && !machine_has_turn(&client->machine);
    device_decide_alone(client->device);
    atomic_store(&client->device->is_managed, false);
    device_reset_inflight(client->device);
    if (refuses)
        log_warn_once(
            "no nvshare daemon manages this program (%s), and NVSHARE_REQUIRE=1: it may not "
            "use the GPU. Start the daemon, or unset NVSHARE_REQUIRE to run unmanaged",
            why);
    else if (waits)
        log_warn_once(
            "the connection to the nvshare daemon is lost (%s): this program has no turn, "
            "and waits up to %llu s for the next daemon",
            why, (unsigned long long)(config()->restart_ns / CLOCK_MS(1000)));
    else if (client->machine.was_welcome)
        log_warn_once("the connection to the nvshare daemon is lost (%s): this program continues "
                      "unmanaged until the daemon is back",
                      why);
    else
        log_warn_once(
            "no nvshare daemon manages this program (%s): it runs unmanaged until one does", why);
    turn_lose(client, refuses, may_wait);
}

/* Also for a thread that has asked just after the daemon was lost. */
static void answer_nobody(struct client *client) {
    ask_give_up(&client->device->ask);
    ask_give_up(&client->device->context_ask);
}

static void go_away(struct client *client, uint64_t now, const char *why) {
    connection_close(&client->connection);
    if (client->state == CLIENT_WELCOME)
        client->waits_until = now + config()->restart_ns;
    client->state = CLIENT_AWAY;
    client->silence.is_answered = client->silence.is_waiting = false;
    run_unmanaged(client, now, why);
    answer_nobody(client);
    client->due = now + client->backoff;
    if (now < client->waits_until && client->waits_until < client->due)
        client->due = client->waits_until;
    client->backoff = client->backoff * 2 < longest_backoff ? client->backoff * 2 : longest_backoff;
}

/* What the daemon decides the allocation kind by, including the environment's wish. */
static uint32_t allocation_flags(const struct device *device) {
    static const uint32_t wishes[] = {[ALLOCATION_MANAGED] = HELLO_ASKS_MANAGED,
                                      [ALLOCATION_EXPLICIT] = HELLO_ASKS_EXPLICIT,
                                      [ALLOCATION_NATIVE] = HELLO_ASKS_NATIVE,
                                      [ALLOCATION_AUTO] = HELLO_ASKS_AUTO};
    return wishes[config()->allocation] | (device->is_decided ? 0 : HELLO_UNDECIDED) |
           (device->can_manage ? HELLO_CAN_MANAGE : 0) | (device->can_map ? HELLO_CAN_MAP : 0) |
           (device->has_other_gpus ? HELLO_SEVERAL : 0) |
           (config()->oversubscribe ? HELLO_MAY_BE_LARGER : 0) |
           (config()->is_patient ? HELLO_PATIENT : 0);
}

int client_say_hello(struct client *client, const struct machine_action *hello) {
    struct device *device = client->device;
    /* HELLO reports the memory itself, but not why it cannot leave. */
    atomic_store(&device->memory_has_changed, atomic_load(&device->account.pinned) > 0);
    client->told_pinned = (struct frame_pinned){0};
    atomic_store(&device->context_has_changed, false); /* before the next line reads it */
    bool has_context = atomic_load(&device->has_context);
    uint64_t used = atomic_load(&device->account.used);
    atomic_store(&device->account.agreed, used);
    client->told = (struct usage_totals){0}; /* this daemon was told nothing yet */
    atomic_store(&device->usage.is_followed, true);
    client_forget_refusals(client);
    struct frame_hello frame = {
        .allocation_kind = client->told_kind = device_kind(device),
        .flags = (hello->value & MACHINE_HELLO_RESUMING ? HELLO_RESUMING : 0) |
                 (hello->value & MACHINE_HELLO_WANTS ? HELLO_WANTS : 0) |
                 (hello->value & MACHINE_HELLO_UNGRANTED ? HELLO_UNGRANTED : 0) |
                 (has_context ? 0 : HELLO_NO_CONTEXT) | HELLO_CAN_HOLD | allocation_flags(device),
        .allocated = used,
        .pinned = turn_pinned(client),
        .swapped_out = swap_tell_away(client),
        .turn = hello->turn,
        .slot_key = device->account.own_slot.key,
        .untouched = account_nowhere(&device->account),
        .kept = atomic_load(&device->account.kept),
    };
    limits_tell(&config()->limits, &frame);
    memcpy(frame.device_uuid, device->uuid, sizeof frame.device_uuid);
    memcpy(frame.group, config()->group, sizeof frame.group);
    frame_set_text(frame.library_version, sizeof frame.library_version, NVSHARE_VERSION);
    return connection_send_with(&client->connection, FRAME_HELLO, &frame, sizeof frame,
                                frame.slot_key ? device_page(device) : -1);
}

static int greet(struct client *client) {
    struct machine_input input = {.event = ON_GREET,
                                  .waits = gate_waiting(&client->device->gate) > 0};
    return turn_feed(client, input);
}

static void call(struct client *client, uint64_t now) {
    const char *why = NULL;
    int result = connection_connect(&client->connection, &why);
    if (result == -EAGAIN && now < client->patience) {
        client->due = now + CLOCK_MS(10);
        return;
    }
    if (result == 0 && (result = greet(client)) < 0)
        why = strerror(-result);
    if (result < 0) {
        go_away(client, now, why);
        return;
    }
    client->state = CLIENT_GREETING;
    uint64_t borne = config()->silence_ns;
    client->due = now + (borne && borne < greeting_time ? borne : greeting_time);
}

static void take_allocation(struct client *client, const struct frame_allocation *allocation) {
    struct device *device = client->device;
    if (!device->is_decided)
        device_decide(device, allocation->allocation_kind, allocation->flags & ALLOCATION_MIX);
    client->told_kind = allocation->allocation_kind;
}

static void be_welcome(struct client *client, const struct frame_welcome *welcome) {
    device_decide_alone(client->device); /* unless the daemon has decided */
    client->state = CLIENT_WELCOME;
    client->backoff = first_backoff;
    atomic_store(&client->device->is_managed, true);
    log_info("GPU %d: managed by the daemon (%.*s) as client %llu", client->device->ordinal,
             (int)sizeof welcome->daemon_version - 1, welcome->daemon_version,
             (unsigned long long)welcome->client_id);
    host_begin(client);
    turn_feed(client, (struct machine_input){.event = ON_WELCOME});
    swap_forget(client); /* moves from before are of no interest to this daemon */
}

static int be_rejected(struct client *client, const struct frame_reject *reject, uint64_t now) {
    char why[sizeof reject->text + 16];
    snprintf(why, sizeof why, "rejected: %.*s", (int)sizeof reject->text - 1, reject->text);
    client->backoff = rejected_backoff; /* the reason will not be gone in a moment */
    go_away(client, now, why);
    return 0;
}

static void take_settings(struct client *client, const struct frame_settings *settings) {
    atomic_store(&client->device->inflight_ns, CLOCK_US(settings->inflight_us));
    client->idle_grace_ns = CLOCK_US(settings->idle_grace_us);
    device_set_oversubscription(client->device, settings->flags & SETTING_OVERSUBSCRIBE);
    atomic_store(&client->device->explicit.extents.is_provided,
                 settings->flags & SETTING_PROVIDES_HOST);
    client->silence.is_answered = settings->flags & SETTING_ANSWERS;
    client_set_usage_pause(client, settings->usage_ms);
}

static void take_limits(struct client *client, const struct frame_limits *limits) {
    struct share_order order = {.share_ppm = limits->share_ppm,
                                .window_ns = CLOCK_US(limits->window_us),
                                .own_ppm = limits->own_ppm,
                                .clock = limits->clock,
                                .may_burst = limits->flags & LIMIT_BURST};
    client->device->is_limit_told = true;
    device_set_limit(client->device, limits->memory_limit);
    atomic_store(&client->device->is_low, limits->flags & LIMIT_LOW);
    bool was_set = share_is_set(&client->device->share);
    share_change(&client->device->share, &order);
    usage_measure(&client->device->usage, order.share_ppm != 0);
    if (order.share_ppm && !was_set)
        gate_watch(&client->device->gate); /* so that the very next call is measured */
}

static enum ask_result result_of(uint32_t verdict) {
    switch (verdict) {
    case VERDICT_YES: return ASK_YES;
    case VERDICT_TOO_LARGE: return ASK_TOO_LARGE;
    case VERDICT_NOT_NOW: return ASK_NOT_NOW;
    default: return ASK_NO;
    }
}

/* A gate that has to close for the new memory does so before the thread goes on to allocate it. */
static void take_answer(struct client *client, const struct frame_answer *answer) {
    struct device *device = client->device;
    bool is_yes = answer->verdict == VERDICT_YES, can_move;
    if (ask_is_open(&device->context_ask, answer->ticket, &can_move))
        ask_answer(&device->context_ask, NULL, result_of(answer->verdict));
    if (!ask_is_open(&device->ask, answer->ticket, &can_move))
        return;
    if (is_yes && can_move && answer->missing)
        turn_grows(client, answer->missing);
    ask_answer(&device->ask, &device->account, result_of(answer->verdict));
}

static void take_slot(struct client *client, const struct frame_quota *quota) {
    int page = connection_take_descriptor(&client->connection);
    if (page < 0)
        return;
    device_join_group(client->device, page, quota->slot, quota->slot_key);
}

struct receiving {
    struct client *client;
    uint64_t now;
};

static int handle(void *argument, const struct frame_view *frame) {
    struct receiving *receiving = argument;
    struct client *client = receiving->client;
    union {
        struct frame_welcome welcome;
        struct frame_allocation allocation;
        struct frame_limits limits;
        struct frame_quota quota;
        struct frame_settings settings;
        struct frame_reject reject;
        struct frame_answer answer;
        struct frame_notice notice;
        struct frame_extent extent;
    } fields;
    int result = 0;
#define TAKE(field) (result = frame_take(frame, &fields.field, sizeof fields.field)) == 0
    switch (frame->type) {
    case FRAME_WELCOME:
        if (TAKE(welcome))
            be_welcome(client, &fields.welcome);
        return result;
    case FRAME_ALLOCATION:
        if (TAKE(allocation))
            take_allocation(client, &fields.allocation);
        return result;
    case FRAME_LIMITS:
        if (TAKE(limits))
            take_limits(client, &fields.limits);
        return result;
    case FRAME_QUOTA:
        if (TAKE(quota))
            take_slot(client, &fields.quota);
        return result;
    case FRAME_EXTENT:
        if (TAKE(extent))
            host_take(client, &fields.extent);
        return result;
    case FRAME_HOST_FULL: atomic_store(&client->device->explicit.extents.is_denied, true); return 0;
    case FRAME_SETTINGS:
        if (TAKE(settings))
            take_settings(client, &fields.settings);
        return result;
    case FRAME_REJECT:
        return TAKE(reject) ? be_rejected(client, &fields.reject, receiving->now) : result;
    case FRAME_ANSWER:
        if (TAKE(answer))
            take_answer(client, &fields.answer);
        return result;
    case FRAME_NOTICE:
        if (TAKE(notice))
            log_warn("GPU %d, this program: %.*s", client->device->ordinal,
                     (int)sizeof fields.notice.text - 1, fields.notice.text);
        return result;
    default: return turn_handle(client, frame);
    }
#undef TAKE
}

static const char *reason(int result) {
    switch (result) {
    case -EPROTONOSUPPORT: return "it is of another version";
    case -ERANGE: return "it sent an invalid value";
    case -ETIMEDOUT: return "it does not answer";
    case -EBADF: return "the program has closed its socket";
    default: return strerror(-result);
    }
}

void client_receive(struct client *client, uint64_t now) {
    silence_heard(&client->silence, now);
    struct receiving receiving = {client, now};
    int result = connection_receive(&client->connection, handle, &receiving);
    if (result < 0)
        go_away(client, now, reason(result));
}

void client_standby_ready(struct client *client, uint64_t now) {
    int result = turn_is_handed(client);
    if (result < 0)
        go_away(client, now, reason(result));
}

static uint64_t next_due(const struct client *client, uint64_t now) {
    uint64_t due = turn_due(client);
    if (client->state != CLIENT_WELCOME)
        return client->due < due ? client->due : due;
    if (now < client->report_due && client->report_due < due &&
        atomic_load(&client->device->memory_has_changed))
        due = client->report_due;
    if (now < client->refused_due && client->refused_due < due &&
        atomic_load(&client->device->refusals.are_new))
        due = client->refused_due;
    if (silence_due(&client->silence) < due)
        due = silence_due(&client->silence);
    return client->usage_due < due ? client->usage_due : due;
}

/* A thread that waits at the gate has asked for a turn, and only the daemon can answer. */
static int mind_silence(struct client *client, uint64_t now) {
    struct frame_ping ping = {.number = now};
    bool is_waiting = gate_waiting(&client->device->gate) > 0;
    switch (silence_look(&client->silence, is_waiting, now)) {
    case SILENCE_FINE: return 0;
    case SILENCE_ASK: return connection_send(&client->connection, FRAME_PING, &ping, sizeof ping);
    case SILENCE_GONE: return -ETIMEDOUT;
    }
    return 0;
}

uint64_t client_step(struct client *client, uint64_t now) {
    int result = connection_is_lost(&client->connection) ? -EBADF : 0;
    if (client->state == CLIENT_AWAY && now >= client->due)
        call(client, now);
    else if (client->state == CLIENT_GREETING && now >= client->due)
        result = -ETIMEDOUT;
    if (result == 0)
        result = turn_look_at_memory(client, now);
    if (client->state == CLIENT_WELCOME) {
        if (result == 0)
            result = client_report_memory(client, now);
        if (result == 0)
            result = host_tell(client);
        if (result == 0)
            result = turn_step(client, now);
        if (result == 0)
            result = client_report_usage(client, now);
        if (result == 0)
            result = client_report_refusals(client, now);
        if (result == 0)
            result = mind_silence(client, now);
    }
    if (result < 0)
        go_away(client, now, reason(result));
    if (client->state == CLIENT_AWAY)
        answer_nobody(client);
    return next_due(client, now);
}
