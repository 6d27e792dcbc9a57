/* Transitions (steps.h) between life with a daemon and life without one. Only table.c says which
 * state comes next. */
#include "emit.h"

/* A client with an open gate says so: the daemon then assumes that it has the turn. */
void machine_greet(struct machine *m, const struct machine_input *in, actions_t *out) {
    struct machine_action *hello = add(out, DO_HELLO);
    m->is_wanted = in->waits;
    m->is_greeting = true;
    hello->turn = m->turn;
    hello->value = (in->waits ? MACHINE_HELLO_WANTS : 0);
    if (m->state == MACHINE_ALONE)
        hello->value |= MACHINE_HELLO_RESUMING | (m->is_ungranted ? MACHINE_HELLO_UNGRANTED : 0);
}

/* HELLO says what is away. From then on no more leaves, until this daemon asks for it. */
void machine_greet_waiting(struct machine *m, const struct machine_input *in, actions_t *out) {
    order_rest(m, out);
    machine_greet(m, in, out);
}

/* A gate that has refused without a daemon is an ordinary closed gate now. */
void machine_be_welcome(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    m->was_welcome = true;
    m->is_greeting = false;
    add(out, DO_CLOSE);
}

void machine_reopen(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in, (void)out;
    m->was_welcome = true;
    m->is_greeting = false;
}

/* HELLO has said what was away. Some of it may have come since, and takes room of others. */
void machine_stop_returning(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    m->was_welcome = true;
    m->is_greeting = false;
    order_rest(m, out);
    add_turn(out, DO_TELL_IN, m->turn);
}

static void forget_daemon(struct machine *m, actions_t *out) {
    forget_standby(m, out);
    forget_request(m, out);
    contend(out, false);
    m->is_wanted = m->is_greeting = false;
    m->trim = 0;
}

/* Another program has the turn, or gets it from the next daemon. Memory that is leaving makes room
 * for it; memory that was coming ahead of a turn would take that room. */
void machine_wait(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    forget_daemon(m, out);
    add(out, DO_CLOSE); /* it may have opened by itself at this very moment */
    if (m->job != MACHINE_MOVES_OUT)
        order_rest(m, out);
}

/* A daemon that was greeted has not answered, or there is still none. */
void machine_wait_on(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in, (void)out;
    m->is_wanted = m->is_greeting = false;
}

/* It has no turn, and nothing could open the gate: so it opens by itself. */
void machine_go_alone(struct machine *m, const struct machine_input *in, actions_t *out) {
    m->is_ungranted = true;
    machine_lose(m, in, out);
}

void machine_go_alone_short(struct machine *m, const struct machine_input *in, actions_t *out) {
    m->is_ungranted = true;
    machine_lose_short(m, in, out);
}

/* Without a daemon nobody ends a turn, and programs without one wait. The memory of a turn that has
 * just begun goes on coming, since there is room for it, or will be. Other memory that is away
 * comes back if it finds room. Memory that was allocated before there was ever a daemon counts as
 * resident. */
void machine_lose(struct machine *m, const struct machine_input *in, actions_t *out) {
    bool was_filling = m->job == MACHINE_FILLS;
    add(out, DO_OPEN);
    forget_daemon(m, out);
    m->job = MACHINE_RESTS;
    if (!m->was_welcome) {
        add(out, DO_COUNT_ALL_THERE);
    } else if (in->must_fill && was_filling) {
        m->missing = 0;
        order_fill(m, out);
    } else if (in->must_fill) {
        m->job = MACHINE_FILLS_GENTLY;
        add(out, DO_ORDER_GENTLY);
    }
}

static void order_return(struct machine *m, actions_t *out) {
    m->job = MACHINE_RETURNS;
    add(out, DO_ORDER_RETURN);
}

/* Closes the gate, also one that was open, or may open at this very moment. */
void machine_lose_short(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    forget_daemon(m, out);
    add(out, DO_CLOSE);
    order_return(m, out);
}

/* A daemon that was greeted has not answered. The return of memory goes on. */
void machine_lose_again(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    m->is_wanted = m->is_greeting = false;
    if (m->job != MACHINE_RETURNS)
        order_return(m, out);
}

void machine_return_again(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    order_return(m, out);
}

void machine_returned(struct machine *m, const struct machine_input *in, actions_t *out) {
    add(out, DO_OPEN);
    machine_came_unseen(m, in, out);
}

void machine_refuse(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    m->is_wanted = m->is_greeting = false;
    add(out, DO_REFUSE);
}
