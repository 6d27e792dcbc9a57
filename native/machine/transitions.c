/* Transitions (steps.h) of a turn: how it begins, is asked for, and ends. Those of memory are in
 * memory.c, those of the daemon itself in link.c, and those of a held turn in hold.c. Only table.c
 * says which state comes next. */
#include "emit.h"

void machine_nothing(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)m, (void)in, (void)out;
}

/* An EVICT that waited for the gate to be disarmed comes too late: its client has a turn. */
static void begin(struct machine *m, const struct machine_input *in, actions_t *out) {
    bool is_late = m->evict > 0;
    forget_standby(m, out);
    forget_request(m, out);
    contend(out, false);
    m->turn = in->turn;
    m->is_wanted = m->is_ungranted = false;
    if (is_late)
        add_turn(out, DO_ANSWER, m->turn);
}

/* The gate comes first: the GPU stands still until it opens. */
void machine_begin(struct machine *m, const struct machine_input *in, actions_t *out) {
    add(out, DO_OPEN);
    begin(m, in, out);
}

/* A gate that opens by itself may do so at this very moment. */
void machine_begin_filling(struct machine *m, const struct machine_input *in, actions_t *out) {
    bool may_open = m->standby == MACHINE_GATE_STANDS_BY;
    begin(m, in, out);
    if (may_open)
        add(out, DO_CLOSE);
    m->fill = in->is_explicit ? 0 : in->bytes;
    m->missing = in->missing;
    order_fill(m, out);
}

/* The session watches for a turn that begins with moving memory; the gate for any other. */
void machine_arm(struct machine *m, const struct machine_input *in, actions_t *out) {
    forget_standby(m, out);
    bool fills = in->must_fill || m->job == MACHINE_FILLS_AHEAD;
    m->standby = fills ? MACHINE_SESSION_STANDS_BY : MACHINE_GATE_STANDS_BY;
    m->standby_turn = in->turn;
    m->standby_fill = in->bytes;
    m->standby_missing = in->missing;
    add(out, fills ? DO_ARM_SESSION : DO_ARM_GATE)->descriptor = in->descriptor;
}

void machine_plan_handover(struct machine *m, const struct machine_input *in, actions_t *out) {
    drop(out, &m->next_descriptor);
    m->next_descriptor = in->descriptor;
    m->next_turn = in->next_turn;
}

void machine_cancel_handover(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    drop(out, &m->next_descriptor);
}

static void note_request(struct machine *m, const struct machine_input *in, actions_t *out) {
    m->number = 0;
    m->is_asked = !in->is_urgent;
    m->idle_ns = in->idle_ns;
    m->evict = in->bytes;
    m->displaces = in->displaces && !in->is_explicit;
    contend(out, true);
}

void machine_ask(struct machine *m, const struct machine_input *in, actions_t *out) {
    note_request(m, in, out);
    add_bytes(out, DO_WATCH, m->idle_ns);
}

/* A client that waits for its memory is not idle. */
void machine_ask_later(struct machine *m, const struct machine_input *in, actions_t *out) {
    note_request(m, in, out);
}

void machine_close(struct machine *m, const struct machine_input *in, actions_t *out) {
    add(out, DO_CLOSE);
    note_request(m, in, out);
    add(out, DO_DRAIN);
}

/* The gate is closed, but work that was in flight when it closed to grow may still be. */
void machine_stop(struct machine *m, const struct machine_input *in, actions_t *out) {
    note_request(m, in, out);
    add(out, DO_DRAIN);
}

void machine_forget(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    forget_request(m, out);
    contend(out, false);
    m->is_wanted = false; /* no call waits at an open gate */
}

void machine_keep(struct machine *m, const struct machine_input *in, actions_t *out) {
    add(out, DO_OPEN);
    machine_forget(m, in, out);
    next_trim(m, out);
}

void machine_refill(struct machine *m, const struct machine_input *in, actions_t *out) {
    machine_forget(m, in, out);
    order_fill(m, out);
}

static void tell_cannot_drain(struct machine *m, actions_t *out, uint32_t number) {
    struct machine_action *told = add(out, DO_TELL_CANNOT_DRAIN);
    told->turn = m->turn;
    told->number = number;
}

/* Other programs still want the turn. */
void machine_open_again(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    uint32_t number = m->number;
    add(out, DO_OPEN);
    forget_request(m, out);
    next_trim(m, out);
    tell_cannot_drain(m, out, number);
}

/* The work was in flight before the gate closed for memory. The gate opens when that has come. */
void machine_go_on_filling(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    uint32_t number = m->number;
    forget_request(m, out);
    order_fill(m, out);
    tell_cannot_drain(m, out, number);
}

void machine_want(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    m->is_wanted = true;
    add_turn(out, DO_WANT, m->turn);
}

/* Memory that was away when the gate opened. */
static bool has_come_by_use(const struct machine *m, const struct machine_input *in) {
    return m->state != MACHINE_STOPPING && !in->is_explicit;
}

uint64_t machine_leaving(const struct machine *m, const struct machine_input *in) {
    return least(m->evict, in->there + (has_come_by_use(m, in) ? in->away : 0));
}

/* The next program is woken before the daemon is told. A fill stops at what has come. */
static void release(struct machine *m, const struct machine_input *in, actions_t *out,
                    enum machine_reason reason) {
    uint64_t bytes = machine_leaving(m, in), left = m->displaces ? 0 : bytes;
    if (m->next_descriptor >= 0) {
        struct machine_action *hand_over = add(out, DO_HAND_OVER);
        hand_over->descriptor = m->next_descriptor;
        hand_over->turn = m->next_turn;
    }
    if (has_come_by_use(m, in) && in->away)
        add(out, DO_COUNT_ALL_THERE);
    if (left)
        order_out(m, out, left);
    else
        order_rest(m, out);
    if (bytes > left)
        add_bytes(out, DO_DISPLACE, bytes);
    struct machine_action *released = add(out, DO_RELEASED);
    released->turn = m->turn;
    released->value = reason;
    released->bytes = left;
    m->is_wanted = in->waits;
    m->trim = 0;
    forget_request(m, out);
    /* The program that it was given up for has it now, and may want it until the next turn says
     * otherwise. */
    contend(out, true);
}

void machine_give_back(struct machine *m, const struct machine_input *in, actions_t *out) {
    release(m, in, out, MACHINE_WAS_TOLD);
}

void machine_give_up_idle(struct machine *m, const struct machine_input *in, actions_t *out) {
    add(out, DO_CLOSE);
    release(m, in, out, MACHINE_WAS_IDLE);
}

void machine_give_up_used(struct machine *m, const struct machine_input *in, actions_t *out) {
    if (m->state == MACHINE_WATCHED)
        add(out, DO_CLOSE);
    release(m, in, out, MACHINE_WAS_USED_UP);
}
