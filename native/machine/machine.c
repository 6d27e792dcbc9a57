/* Maps inputs to steps, and looks the steps up in the table. */
#include "machine.h"

#include <stddef.h>

#include "steps.h"

void machine_init(struct machine *machine) {
    *machine = (struct machine){.state = MACHINE_NEW, .next_descriptor = -1};
}

bool machine_has_turn(const struct machine *machine) {
    return machine->state >= MACHINE_FILLING;
}

static enum step choose(bool condition, enum step if_so, enum step else_so) {
    return condition ? if_so : else_so;
}

/* Every turn has a number. A frame about another turn has crossed with something on its way. The
 * table says whether the client has the frame's turn. */
static bool is_about_this(const struct machine *m, const struct machine_input *in) {
    return in->turn == m->turn;
}

static enum step evict(const struct machine *m, const struct machine_input *in) {
    if (m->state == MACHINE_FETCHING)
        return STEP_EVICT; /* the memory on its way in may be what the daemon means */
    if (!in->bytes || !in->there)
        return STEP_EVICT_NONE;
    return choose(m->standby == MACHINE_GATE_STANDS_BY && in->event == ON_EVICT, STEP_EVICT_ARMED,
                  STEP_EVICT);
}

/* A gate that may open by itself at any moment has all its memory. */
static enum step fill(const struct machine *m, const struct machine_input *in) {
    if (!in->bytes)
        return STEP_FILL_STOP;
    return choose(in->away && m->standby != MACHINE_GATE_STANDS_BY, STEP_FILL, STEP_FILL_NONE);
}

static enum step room(const struct machine *m, const struct machine_input *in) {
    if (m->standby != MACHINE_NO_STANDBY && in->turn == m->standby_turn)
        return STEP_ROOM_AHEAD;
    return choose(is_about_this(m, in), STEP_ROOM, STEP_VOID);
}

static enum step lost(const struct machine *m, const struct machine_input *in) {
    if (in->refuses && !m->was_welcome)
        return STEP_REFUSED;
    if (in->may_wait && MACHINE_WAITING <= m->state && m->state <= MACHINE_FETCHING)
        return STEP_LOST_WAITING;
    return choose(in->is_explicit && in->must_fill, STEP_LOST_SHORT, STEP_LOST);
}

/* Whether the gate is closed for HOLD, and memory has to come before it may let a call pass. */
static bool holds_short(const struct machine *m) {
    return (m->state == MACHINE_HOLDING || m->state == MACHINE_HELD) && m->is_short;
}

/* For a frame about the present turn. */
static enum step revoke(const struct machine *m, const struct machine_input *in) {
    if (!in->is_urgent)
        return STEP_ASK;
    return choose(holds_short(m), STEP_REVOKE_SHORT, STEP_REVOKE);
}

static enum step moved(const struct machine *m, const struct machine_input *in) {
    if (m->job == MACHINE_RESTS)
        return STEP_VOID; /* it has got another order meanwhile */
    if (m->job == MACHINE_MOVES_OUT)
        return STEP_LEFT;
    if (m->job == MACHINE_FILLS_AHEAD && m->state == MACHINE_FETCHING)
        return choose(m->evict && in->there, STEP_FILLED_TO_LEAVE, STEP_FILLED);
    if (in->is_explicit && in->must_fill && m->job != MACHINE_FILLS_GENTLY &&
        m->job != MACHINE_FILLS_AHEAD)
        return STEP_FILLED_IN_PART;
    if (m->state == MACHINE_RETURNING && m->is_greeting)
        return STEP_FILLED_GREETING;
    if (m->state == MACHINE_HELD && m->is_to_step)
        return STEP_FILLED_TO_STEP;
    return choose(m->is_asked, STEP_FILLED_ASKED, STEP_FILLED);
}

/* Whether memory leaves after the turn. Displaced memory stays until others need its room. */
static bool moves_out(const struct machine *m, const struct machine_input *in) {
    return !m->displaces && machine_leaving(m, in) > 0;
}

static enum step step_of(const struct machine *m, const struct machine_input *in) {
    switch (in->event) {
    case ON_GREET: return STEP_GREET;
    case ON_WELCOME: return STEP_WELCOME;
    case ON_LOST: return lost(m, in);
    case ON_GRANT:
    case ON_HANDED:
        return in->turn <= m->turn ? STEP_VOID : choose(in->must_fill, STEP_GRANT_FILL, STEP_GRANT);
    case ON_STANDBY:
        return choose(in->turn > m->turn && in->descriptor >= 0, STEP_STANDBY, STEP_VOID);
    case ON_HANDOVER:
        return choose(is_about_this(m, in) && in->descriptor >= 0, STEP_HANDOVER, STEP_VOID);
    case ON_CANCEL_HANDOVER: return choose(is_about_this(m, in), STEP_CANCEL_HANDOVER, STEP_VOID);
    case ON_REVOKE: return is_about_this(m, in) ? revoke(m, in) : STEP_VOID;
    case ON_KEEP:
        return is_about_this(m, in) ? choose(holds_short(m), STEP_KEEP_SHORT, STEP_KEEP)
                                    : STEP_VOID;
    case ON_HOLD: return choose(is_about_this(m, in), STEP_HOLD, STEP_VOID);
    case ON_STEP:
        return is_about_this(m, in) ? choose(holds_short(m), STEP_STEP_SHORT, STEP_STEP)
                                    : STEP_VOID;
    case ON_ROOM: return room(m, in);
    case ON_EVICT: return evict(m, in);
    case ON_FILL: return fill(m, in);
    case ON_DISARMED:
        return m->standby == MACHINE_GATE_STANDS_BY && m->evict ? evict(m, in) : STEP_VOID;
    case ON_TRIM: return choose(in->can_move && !in->is_explicit, STEP_TRIM, STEP_TRIM_NONE);
    case ON_GROW: return STEP_GROW;
    case ON_GREW: return STEP_GREW;
    case ON_WORK: return choose(m->is_wanted, STEP_VOID, STEP_WORK);
    case ON_DRAINED: return choose(moves_out(m, in), STEP_DRAINED_OUT, STEP_DRAINED);
    case ON_CANNOT_DRAIN: return choose(holds_short(m), STEP_CANNOT_DRAIN_SHORT, STEP_CANNOT_DRAIN);
    case ON_IDLE: return choose(moves_out(m, in), STEP_IDLE_OUT, STEP_IDLE);
    case ON_USED_UP: return choose(moves_out(m, in), STEP_USED_UP_OUT, STEP_USED_UP);
    case ON_PROGRESS: return STEP_PROGRESS;
    case ON_MOVED: return moved(m, in);
    default: return STEPS;
    }
}

/* ON_HANDED and ON_DISARMED get their numbers from an earlier input. */
static struct machine_input complete(const struct machine *m, const struct machine_input *in) {
    struct machine_input whole = *in;
    if (in->event == ON_HANDED && m->standby != MACHINE_NO_STANDBY) {
        whole.turn = m->standby_turn;
        whole.bytes = m->standby_fill;
        whole.missing = m->standby_missing;
    } else if (in->event == ON_HANDED) {
        whole.turn = 0;
    } else if (in->event == ON_DISARMED) {
        whole.bytes = m->evict;
    }
    return whole;
}

static bool has_descriptor(const struct machine_input *in) {
    return (in->event == ON_STANDBY || in->event == ON_HANDOVER) && in->descriptor >= 0;
}

static uint32_t leave_alone(const struct machine_input *in, struct machine_actions *actions,
                            bool is_void) {
    if (has_descriptor(in))
        actions->list[actions->count++] =
            (struct machine_action){.act = DO_DROP, .descriptor = in->descriptor};
    return is_void ? MACHINE_VOID : MACHINE_IMPOSSIBLE;
}

uint32_t machine_feed(struct machine *machine, const struct machine_input *input,
                      struct machine_actions *actions) {
    const struct machine_input whole = complete(machine, input);
    enum step step = step_of(machine, &whole);
    actions->count = 0;
    if (step >= STEPS)
        return leave_alone(&whole, actions, step == STEP_VOID);
    const struct cell *cell = &machine_table[machine->state][step];
    if (cell->kind != CELL_STEP)
        return leave_alone(&whole, actions, cell->kind == CELL_VOID);
    cell->act(machine, &whole, actions);
    machine->state = cell->next;
    return MACHINE_TAKEN;
}

uint64_t machine_size(uint32_t which) {
    const uint64_t sizes[] = {sizeof(struct machine), sizeof(struct machine_input),
                              sizeof(struct machine_actions)};
    return which < sizeof sizes / sizeof sizes[0] ? sizes[which] : 0;
}
