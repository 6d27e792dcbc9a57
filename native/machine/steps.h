/* Between the files of the machine: steps, by which inputs are looked up in the table. */
#ifndef NVSHARE_MACHINE_STEPS_H
#define NVSHARE_MACHINE_STEPS_H

#include "machine.h"

/* An input whose meaning depends on its numbers is several steps. */
enum step {
    STEP_GREET,
    STEP_WELCOME,
    STEP_LOST,
    STEP_LOST_SHORT,   /* and memory has to come before the program may go on */
    STEP_LOST_WAITING, /* and the next daemon is waited for */
    STEP_REFUSED,      /* as LOST, and the program must not begin */
    STEP_GRANT,
    STEP_GRANT_FILL, /* memory has to come before the gate opens */
    STEP_STANDBY,
    STEP_HANDOVER,
    STEP_CANCEL_HANDOVER,
    STEP_ASK,          /* REVOKE, when idle */
    STEP_REVOKE,       /* REVOKE, now */
    STEP_REVOKE_SHORT, /* and memory had to come before the next call */
    STEP_KEEP,
    STEP_KEEP_SHORT,
    STEP_HOLD,
    STEP_STEP,
    STEP_STEP_SHORT,
    STEP_ROOM,
    STEP_ROOM_AHEAD, /* of the turn that a standby will bring */
    STEP_EVICT,
    STEP_EVICT_ARMED, /* the gate may open by itself at any moment */
    STEP_EVICT_NONE,  /* nothing could leave */
    STEP_FILL,        /* bring memory in, ahead of the turn */
    STEP_FILL_STOP,   /* and no more of it */
    STEP_FILL_NONE,   /* nothing could come */
    STEP_TRIM,
    STEP_TRIM_NONE,
    STEP_GROW,
    STEP_GREW,
    STEP_WORK,
    STEP_DRAINED,
    STEP_DRAINED_OUT, /* memory leaves after that */
    STEP_CANNOT_DRAIN,
    STEP_CANNOT_DRAIN_SHORT,
    STEP_IDLE,
    STEP_IDLE_OUT,
    STEP_USED_UP,
    STEP_USED_UP_OUT,
    STEP_PROGRESS,
    STEP_LEFT, /* MOVED, and it was to the host */
    STEP_FILLED,
    STEP_FILLED_ASKED,    /* and the turn is to end when the program is idle */
    STEP_FILLED_GREETING, /* and a daemon is about to answer */
    STEP_FILLED_TO_STEP,  /* and a call is to pass then */
    STEP_FILLED_IN_PART,  /* and the rest does not come by itself */
    STEP_FILLED_TO_LEAVE, /* ahead of a turn, and memory is to leave again */
    STEPS,
    STEP_VOID, /* whatever the state */
};

/* What a step does besides the change of state: emits actions, and changes numbers. Called in the
 * state that it leaves. */
typedef void transition(struct machine *machine, const struct machine_input *input,
                        struct machine_actions *actions);

enum cell_kind { CELL_IMPOSSIBLE, CELL_VOID, CELL_STEP };

struct cell {
    enum cell_kind kind;
    enum machine_state next;
    transition *act;
};

extern const struct cell machine_table[MACHINE_STATES][STEPS];

/* How much of the program's memory is to leave if its turn ends now. */
uint64_t machine_leaving(const struct machine *machine, const struct machine_input *input);

/* transitions.c, link.c, memory.c and hold.c */
transition machine_nothing, machine_greet, machine_be_welcome, machine_reopen, machine_lose,
    machine_refuse, machine_begin, machine_begin_filling, machine_arm, machine_plan_handover,
    machine_cancel_handover, machine_ask, machine_ask_later, machine_close, machine_stop,
    machine_forget, machine_keep, machine_refill, machine_make_room, machine_make_room_ahead,
    machine_make_room_to_grow, machine_fill_beside, machine_fill_to_drain, machine_evict,
    machine_evict_more, machine_disarm, machine_answer, machine_trim, machine_trim_later,
    machine_grow, machine_close_to_grow, machine_grew, machine_want, machine_give_back,
    machine_give_up_idle, machine_give_up_used, machine_progress, machine_left, machine_left_shut,
    machine_filled, machine_filled_watched, machine_came, machine_came_shut, machine_came_unseen,
    machine_lose_short, machine_lose_again, machine_stop_returning, machine_returned,
    machine_return_again, machine_wait, machine_wait_on, machine_greet_waiting, machine_go_alone,
    machine_go_alone_short, machine_fill_again, machine_open_again, machine_go_on_filling,
    machine_fetch, machine_stop_fetching, machine_stop_to_leave, machine_fetched,
    machine_fetched_to_leave, machine_hold, machine_hold_short, machine_be_held,
    machine_held_wanted, machine_step, machine_step_later, machine_grow_held, machine_left_held,
    machine_came_held, machine_came_to_step;

#endif
