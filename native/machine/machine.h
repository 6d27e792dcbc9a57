/* What a client does with its turn: with the daemon's frames, with what its own program does, and
 * with memory that moves. Inputs go in, actions come out. There is no lock, no clock, no driver and
 * no allocation here, and nothing is carried out: the caller performs the actions, in their order,
 * and reports their outcome by further inputs. The interposer does so with a real program, the
 * simulator with a model of one, and tests with nothing at all.
 *
 * table.c says what the states mean, and what happens in each. The rules for frames that cross on
 * the way are in protocol/frames.toml. */
#ifndef NVSHARE_MACHINE_H
#define NVSHARE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

enum machine_state {
    MACHINE_NEW,       /* it is not known yet whether there is a daemon */
    MACHINE_ALONE,     /* there is none, and the gate is open */
    MACHINE_RETURNING, /* there is none, and the gate is closed until memory is back */
    MACHINE_WAITING,   /* there is none any more; without a turn, and the gate stays closed */
    MACHINE_CLOSED,    /* without a turn */
    MACHINE_LEAVING,   /* without a turn, and memory is on its way out */
    MACHINE_FETCHING,  /* without a turn, and memory is on its way in, ahead of the turn */
    MACHINE_FILLING,   /* with a turn, and the gate is closed until memory is there */
    MACHINE_GROWING,   /* with a turn, and the gate is closed for memory that is being allocated */
    MACHINE_OPEN,      /* with a turn */
    MACHINE_WATCHED,   /* with a turn that ends when the program is idle */
    MACHINE_HOLDING,  /* with a turn, and the gate is closed until the daemon says how it goes on */
    MACHINE_HELD,     /* the same, and nothing is in flight */
    MACHINE_CLOSING,  /* with a turn that ends when what is in flight has drained */
    MACHINE_STOPPING, /* the same, in the middle of FILLING or GROWING */
    MACHINE_STATES,
};

/* What can happen. Behind each: the fields of the input that it reads besides `event` and
 * `is_explicit`. */
enum machine_event {
    ON_GREET,           /* a daemon is there, and is to be greeted: waits */
    ON_WELCOME,         /* it has registered the client */
    ON_LOST,            /* there is no daemon, or no longer: must_fill, refuses, may_wait */
    ON_GRANT,           /* the frame: turn, bytes, missing, must_fill */
    ON_HANDED,          /* another program has written to the standby's descriptor: must_fill */
    ON_STANDBY,         /* the frame: turn, bytes, missing, descriptor, must_fill */
    ON_HANDOVER,        /* the frame: turn, next_turn, descriptor */
    ON_CANCEL_HANDOVER, /* the frame: turn */
    ON_REVOKE,          /* the frame: turn, is_urgent, idle_ns, bytes, displaces */
    ON_KEEP,            /* the frame: turn */
    ON_HOLD,            /* the frame: turn, number */
    ON_STEP,            /* the frame: turn, number */
    ON_ROOM,            /* the frame: turn, missing. Also about the turn of a standby */
    ON_EVICT,           /* the frame: bytes, there */
    ON_FILL,            /* the frame: bytes, 0: none any more, away */
    ON_DISARMED,        /* the answer to DO_DISARM_OR_BEGIN, if the turn has not come: there */
    ON_TRIM,            /* the frame: bytes, can_move */
    ON_GROW,            /* ANSWER: a thread will allocate, and there is not room yet: missing */
    ON_GREW,            /* it has, or is not waited for any longer; and nothing moves */
    ON_WORK,            /* a call waits at the closed gate. May be repeated */
    ON_DRAINED,      /* nothing is in flight behind the gate closed for that: waits, there, away */
    ON_CANNOT_DRAIN, /* the work in flight waits for calls at the gate that was closed for it */
    ON_IDLE,         /* there was nothing for as long as DO_WATCH said: waits, there, away */
    ON_USED_UP,  /* nothing is in flight, and the share of compute is used up: waits, there, away */
    ON_PROGRESS, /* some of the memory on its way out has left */
    ON_MOVED, /* the mover has done what it was told last: must_fill, of explicit memory; there */
    MACHINE_EVENTS,
};

struct machine_input {
    uint32_t event;
    int32_t descriptor; /* belongs to the machine from now on; -1: none */
    uint64_t turn, next_turn;
    uint64_t bytes; /* to fill, to evict, to trim */
    uint64_t missing;
    uint64_t idle_ns;
    bool is_urgent; /* REVOKE: now, and not when idle */
    bool displaces; /* REVOKE: others displace the memory that is to leave */
    bool must_fill; /* memory has to come, or is still moving, before the gate may open */
    bool can_move;  /* the program's memory can leave the GPU at all */
    bool waits;     /* a call waits at the gate */
    bool refuses;   /* without a daemon the program must not begin */
    bool may_wait;  /* there was a daemon lately: without a turn, the next one is waited for */
    /* Memory that is away does not come when it is used: the access would crash the program. */
    bool is_explicit;
    uint32_t number; /* of a HOLD or STEP */
    uint64_t there;  /* bytes on the GPU that can leave it */
    uint64_t away;   /* bytes that are not on the GPU */
};

enum machine_act {
    DO_OPEN,         /* the gate */
    DO_CLOSE,        /* the gate */
    DO_REFUSE,       /* turn away calls that come to the gate */
    DO_WATCH,        /* while WATCHED: ON_IDLE after bytes nanoseconds of nothing */
    DO_STEP,         /* the gate: one call passes, and it stays closed for the next */
    DO_DRAIN,        /* while CLOSING, STOPPING or HOLDING: ON_DRAINED when nothing is in flight */
    DO_AWAIT_GROWTH, /* while GROWING: ON_GREW */
    DO_CONTEND,      /* value: whether another program waits for the GPU */
    DO_ARM_GATE,     /* the gate opens by itself when the descriptor is readable */
    DO_ARM_SESSION,  /* ON_HANDED when the descriptor is readable */
    DO_DISARM,       /* neither any more; closes the descriptor */
    DO_DISARM_OR_BEGIN, /* the same, unless the turn has come; then ON_HANDED, else ON_DISARMED */
    DO_HAND_OVER,       /* write to the descriptor: the turn begins elsewhere */
    DO_DROP,            /* close the descriptor */
    DO_SET_MISSING,     /* so many bytes of the returning memory have no room yet */
    DO_ORDER_OUT,       /* the mover: bytes */
    DO_ORDER_MORE,      /* the mover: so many bytes more are to leave */
    DO_ORDER_FILL,      /* the mover: bytes, 0: all */
    DO_ORDER_AHEAD,     /* the mover: bytes, as far as the GPU has room for them */
    DO_ORDER_GENTLY,    /* the mover: everything that has room */
    DO_ORDER_RETURN,    /* the mover: all, as long as it takes */
    DO_ORDER_REST,      /* the mover: stop at what has moved so far */
    DO_DISPLACE,        /* so many bytes count as away from now on */
    DO_COUNT_ALL_THERE, /* all memory counts as there */
    DO_HELLO,           /* send HELLO: turn, value of MACHINE_HELLO_ */
    DO_WANT,            /* send WANT: turn */
    DO_RELEASED, /* send RELEASED: turn, value a machine_reason, bytes that are to leave now */
    DO_ANSWER,   /* send MOVED that reports nothing moved: turn */
    DO_TELL_OUT, /* send MOVED: turn, what has left and was not reported yet, even if nothing */
    DO_TELL_IN,  /* send MOVED: turn, what has come and was not reported yet, even if nothing */
    DO_TELL_CANNOT_DRAIN, /* send CANNOT_DRAIN: turn, number */
    DO_TELL_HELD,         /* send HELD: turn, number, value whether a call waits at the gate */
    MACHINE_ACTS,
};

enum { MACHINE_HELLO_RESUMING = 1, MACHINE_HELLO_WANTS = 2, MACHINE_HELLO_UNGRANTED = 4 };

enum machine_reason {
    MACHINE_WAS_IDLE = 1,
    MACHINE_WAS_TOLD = 2,
    MACHINE_WAS_USED_UP = 3,
};

struct machine_action {
    uint32_t act;
    int32_t descriptor;
    uint64_t turn;
    uint64_t bytes;
    uint32_t value;
    uint32_t number; /* of the HOLD or STEP that this answers; 0: none */
};

enum { MACHINE_ACTIONS = 12 }; /* the most that a step emits; a test counts */

struct machine_actions {
    uint32_t count;
    struct machine_action list[MACHINE_ACTIONS];
};

enum machine_result {
    MACHINE_TAKEN,
    MACHINE_VOID,       /* an input that means nothing now, and does no harm: frames cross */
    MACHINE_IMPOSSIBLE, /* an input that cannot happen: nothing has changed. To be reported */
};

enum machine_job {
    MACHINE_RESTS,
    MACHINE_MOVES_OUT,
    MACHINE_FILLS,
    MACHINE_FILLS_AHEAD,
    MACHINE_FILLS_GENTLY,
    MACHINE_RETURNS,
};
enum machine_standby { MACHINE_NO_STANDBY, MACHINE_SESSION_STANDS_BY, MACHINE_GATE_STANDS_BY };

/* Read by any caller, and changed by machine_feed alone. */
struct machine {
    uint32_t state;
    uint32_t job;      /* the mover's last order, until it is carried out */
    uint64_t turn;     /* that it has, or had last; 0: none */
    uint64_t out_turn; /* the turn in which, or after which, memory leaves */

    bool was_welcome;  /* by any daemon, at any time */
    bool is_ungranted; /* the gate has opened without a turn, and none has begun since */
    bool is_wanted;    /* the daemon knows that a call waits */
    bool is_asked;     /* to give the turn up when idle */
    bool displaces;    /* as in the input */
    bool is_greeting;  /* a daemon was greeted and has not answered yet */
    bool is_short;     /* while HOLDING or HELD: memory has to come before a call may pass */
    bool is_to_step;   /* and a call is to pass then */
    uint32_t number;   /* of the last HOLD or STEP, while HOLDING or HELD; otherwise 0 */
    uint64_t idle_ns;
    uint64_t
        evict; /* bytes that are to leave as the turn ends; without one, when the gate is disarmed,
                  or the mover has stopped to fill */
    uint64_t trim; /* bytes that are to leave during a turn, when nothing else moves */
    uint64_t fill; /* bytes that the turn began with; 0: all */
    uint64_t missing;

    int32_t next_descriptor; /* to write to when the turn is handed over, or -1 */
    uint64_t next_turn;
    uint32_t standby; /* gate or session watches for a turn to come by descriptor */
    uint64_t standby_turn, standby_fill, standby_missing;
};

void machine_init(struct machine *machine);

/* Takes an input, and returns the actions to perform. Returns a machine_result. */
uint32_t machine_feed(struct machine *machine, const struct machine_input *input,
                      struct machine_actions *actions);

/* Whether it has a turn, so that work may be in flight. */
bool machine_has_turn(const struct machine *machine);

/* For logs and tests; NULL for a number without a name. */
const char *machine_state_name(uint32_t state);
const char *machine_event_name(uint32_t event);
const char *machine_act_name(uint32_t act);

/* Sizes of struct machine, machine_input and machine_actions, for code that loads this library. */
uint64_t machine_size(uint32_t which);

#endif
