/* Names of states, events and actions, for people. */
#include <stddef.h>

#include "machine.h"

static const char *const states[MACHINE_STATES] = {
    [MACHINE_NEW] = "new",
    [MACHINE_ALONE] = "alone",
    [MACHINE_RETURNING] = "returning",
    [MACHINE_WAITING] = "waiting",
    [MACHINE_CLOSED] = "closed",
    [MACHINE_LEAVING] = "leaving",
    [MACHINE_FETCHING] = "fetching",
    [MACHINE_FILLING] = "filling",
    [MACHINE_GROWING] = "growing",
    [MACHINE_OPEN] = "open",
    [MACHINE_WATCHED] = "watched",
    [MACHINE_HOLDING] = "holding",
    [MACHINE_HELD] = "held",
    [MACHINE_CLOSING] = "closing",
    [MACHINE_STOPPING] = "stopping",
};

static const char *const events[MACHINE_EVENTS] = {
    [ON_GREET] = "greet",       [ON_WELCOME] = "welcome",
    [ON_LOST] = "lost",         [ON_GRANT] = "grant",
    [ON_HANDED] = "handed",     [ON_STANDBY] = "standby",
    [ON_HANDOVER] = "handover", [ON_CANCEL_HANDOVER] = "cancel handover",
    [ON_REVOKE] = "revoke",     [ON_KEEP] = "keep",
    [ON_HOLD] = "hold",         [ON_STEP] = "step",
    [ON_ROOM] = "room",         [ON_EVICT] = "evict",
    [ON_FILL] = "fill",         [ON_DISARMED] = "disarmed",
    [ON_TRIM] = "trim",         [ON_GROW] = "grow",
    [ON_GREW] = "grew",         [ON_WORK] = "work",
    [ON_DRAINED] = "drained",   [ON_CANNOT_DRAIN] = "cannot drain",
    [ON_IDLE] = "idle",         [ON_USED_UP] = "used up",
    [ON_PROGRESS] = "progress", [ON_MOVED] = "moved",
};

static const char *const acts[MACHINE_ACTS] = {
    [DO_OPEN] = "open",
    [DO_CLOSE] = "close",
    [DO_REFUSE] = "refuse",
    [DO_WATCH] = "watch",
    [DO_STEP] = "step",
    [DO_DRAIN] = "drain",
    [DO_AWAIT_GROWTH] = "await growth",
    [DO_CONTEND] = "contend",
    [DO_ARM_GATE] = "arm gate",
    [DO_ARM_SESSION] = "arm session",
    [DO_DISARM] = "disarm",
    [DO_DISARM_OR_BEGIN] = "disarm or begin",
    [DO_HAND_OVER] = "hand over",
    [DO_DROP] = "drop",
    [DO_SET_MISSING] = "set missing",
    [DO_ORDER_OUT] = "order out",
    [DO_ORDER_MORE] = "order more",
    [DO_ORDER_FILL] = "order fill",
    [DO_ORDER_AHEAD] = "order ahead",
    [DO_ORDER_GENTLY] = "order gently",
    [DO_ORDER_RETURN] = "order return",
    [DO_ORDER_REST] = "order rest",
    [DO_DISPLACE] = "displace",
    [DO_COUNT_ALL_THERE] = "count all there",
    [DO_HELLO] = "hello",
    [DO_WANT] = "want",
    [DO_RELEASED] = "released",
    [DO_ANSWER] = "answer",
    [DO_TELL_OUT] = "tell out",
    [DO_TELL_IN] = "tell in",
    [DO_TELL_CANNOT_DRAIN] = "tell cannot drain",
    [DO_TELL_HELD] = "tell held",
};

const char *machine_state_name(uint32_t state) {
    return state < MACHINE_STATES ? states[state] : NULL;
}

const char *machine_event_name(uint32_t event) {
    return event < MACHINE_EVENTS ? events[event] : NULL;
}

const char *machine_act_name(uint32_t act) {
    return act < MACHINE_ACTS ? acts[act] : NULL;
}
