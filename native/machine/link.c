/* Transitions (steps.h) between life with a daemon and life without one. Only table.c says which
 * state comes next. */
#include "emit.h"

/* A client with an open gate says so: the daemon then takes the turn for held. */
void machine_greet(struct machine *m, const struct machine_input *in, actions_t *out) {
    struct machine_action *hello = add(out, DO_HELLO);
    m->is_wanted = in->waits;
    m->is_greeting = true;
    hello->turn = m->turn;
    hello->value = (m->state == MACHINE_ALONE ? MACHINE_HELLO_RESUMING : 0) |
                   (in->waits ? MACHINE_HELLO_WANTS : 0);
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

void machine_stop_returning(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    m->was_welcome = true;
    m->is_greeting = false;
    order_rest(m, out);
}

static void forget_daemon(struct machine *m, actions_t *out) {
    forget_standby(m, out);
    forget_request(m, out);
    contend(out, false);
    m->is_wanted = m->is_greeting = false;
    m->trim = 0;
}

/* Without a daemon no other program has a claim, and nothing could open the gate again. Memory that
 * is away comes back if it finds room. Memory that was allocated before there was ever a daemon
 * counts as resident. */
void machine_lose(struct machine *m, const struct machine_input *in, actions_t *out) {
    add(out, DO_OPEN);
    forget_daemon(m, out);
    m->job = MACHINE_RESTS;
    if (!m->was_welcome) {
        add(out, DO_COUNT_ALL_THERE);
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
