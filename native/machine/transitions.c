/* What each step of the table does beside the change of state: actions for the caller, and numbers. Which state
 * comes next is in table.c alone. */
#include <stddef.h>

#include "steps.h"

typedef struct machine_actions actions_t;

static struct machine_action *add(actions_t *out, enum machine_act act) {
    static struct machine_action nowhere; /* never: a test counts what every step needs */
    struct machine_action *action =
        out->count < MACHINE_ACTIONS ? &out->list[out->count++] : &nowhere;
    *action = (struct machine_action){.act = act, .descriptor = -1};
    return action;
}

static void add_bytes(actions_t *out, enum machine_act act, uint64_t bytes) {
    add(out, act)->bytes = bytes;
}

static void add_turn(actions_t *out, enum machine_act act, uint64_t turn) {
    add(out, act)->turn = turn;
}

static void contend(actions_t *out, bool is_wanted) {
    add(out, DO_CONTEND)->value = is_wanted;
}

static void drop(actions_t *out, int32_t *descriptor) {
    if (*descriptor >= 0)
        add(out, DO_DROP)->descriptor = *descriptor;
    *descriptor = -1;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static void forget_request(struct machine *m, actions_t *out) {
    drop(out, &m->pass);
    m->is_asked = m->displaces = false;
    m->evict = 0;
}

static void forget_standby(struct machine *m, actions_t *out) {
    if (m->standby != MACHINE_NO_STANDBY)
        add(out, DO_DISARM);
    m->standby = MACHINE_NO_STANDBY;
}

static void order_out(struct machine *m, actions_t *out, uint64_t bytes) {
    m->job = MACHINE_MOVES_OUT;
    m->out_turn = m->turn;
    add_bytes(out, DO_ORDER_OUT, bytes);
}

/* How much may come is said before what is to come. */
static void order_fill(struct machine *m, actions_t *out) {
    m->job = MACHINE_FILLS;
    add_bytes(out, DO_SET_MISSING, m->missing);
    add_bytes(out, DO_ORDER_FILL, m->fill);
}

static void order_rest(struct machine *m, actions_t *out) {
    if (m->job != MACHINE_RESTS)
        add(out, DO_ORDER_REST);
    m->job = MACHINE_RESTS;
}

/* What a turn begins with comes first; and at its end the daemon says anew what is to leave. */
static void next_trim(struct machine *m, actions_t *out) {
    if (!m->trim || m->job != MACHINE_RESTS)
        return;
    order_out(m, out, m->trim);
    m->trim = 0;
}

void machine_nothing(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)m, (void)in, (void)out;
}

/* Whoever has an open gate says so: the daemon then takes the turn for held. */
void machine_greet(struct machine *m, const struct machine_input *in, actions_t *out) {
    struct machine_action *hello = add(out, DO_HELLO);
    m->is_wanted = in->waits;
    m->is_greeting = true;
    hello->turn = m->turn;
    hello->value = (m->state == MACHINE_ALONE ? MACHINE_HELLO_RESUMING : 0) |
                   (in->waits ? MACHINE_HELLO_WANTS : 0);
}

/* A gate that has refused for lack of a daemon is an ordinary closed gate now. */
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

/* Without a daemon nobody else has a claim, and nobody could open the gate again. What is away comes back if it
 * finds room; but what was allocated before there was ever a daemon is where it is used. */
void machine_lose(struct machine *m, const struct machine_input *in, actions_t *out) {
    add(out, DO_OPEN);
    forget_daemon(m, out);
    m->job = MACHINE_RESTS;
    if (!m->was_welcome) {
        add(out, DO_SETTLE);
    } else if (in->must_fill) {
        m->job = MACHINE_FILLS_GENTLY;
        add(out, DO_ORDER_GENTLY);
    }
}

static void order_return(struct machine *m, actions_t *out) {
    m->job = MACHINE_RETURNS;
    add(out, DO_ORDER_RETURN);
}

/* Also a gate that was open, or may open at this very moment. */
void machine_lose_short(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    forget_daemon(m, out);
    add(out, DO_CLOSE);
    order_return(m, out);
}

/* One that was greeted has not answered, and what comes back goes on coming. */
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

/* An EVICT that waited for the gate to be disarmed comes too late: its client has a turn. */
static void begin(struct machine *m, const struct machine_input *in, actions_t *out) {
    bool is_late = m->evict > 0;
    forget_standby(m, out);
    forget_request(m, out);
    contend(out, false);
    m->turn = in->turn;
    m->is_wanted = false;
    if (is_late)
        add_turn(out, DO_ANSWER, m->turn);
}

/* The gate first of all: a GPU stands still until then. */
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

/* A turn that begins with moving memory is the session's business; any other is the gate's own. */
void machine_arm(struct machine *m, const struct machine_input *in, actions_t *out) {
    forget_standby(m, out);
    m->standby = in->must_fill ? MACHINE_SESSION_STANDS_BY : MACHINE_GATE_STANDS_BY;
    m->standby_turn = in->turn;
    m->standby_fill = in->bytes;
    m->standby_missing = in->missing;
    add(out, in->must_fill ? DO_ARM_SESSION : DO_ARM_GATE)->descriptor = in->descriptor;
}

void machine_pass(struct machine *m, const struct machine_input *in, actions_t *out) {
    drop(out, &m->pass);
    m->pass = in->descriptor;
    m->pass_turn = in->next_turn;
}

void machine_cancel(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    drop(out, &m->pass);
}

static void note_request(struct machine *m, const struct machine_input *in, actions_t *out) {
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

/* One that waits for its memory is not idle. */
void machine_ask_later(struct machine *m, const struct machine_input *in, actions_t *out) {
    note_request(m, in, out);
}

void machine_close(struct machine *m, const struct machine_input *in, actions_t *out) {
    add(out, DO_CLOSE);
    note_request(m, in, out);
    add(out, DO_DRAIN);
}

/* The gate is closed; but what was in flight as it closed to grow may still be. */
void machine_stop(struct machine *m, const struct machine_input *in, actions_t *out) {
    note_request(m, in, out);
    add(out, DO_DRAIN);
}

void machine_forget(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    forget_request(m, out);
    contend(out, false);
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

/* Others still want the turn. */
void machine_open_again(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    add(out, DO_OPEN);
    forget_request(m, out);
    next_trim(m, out);
    add_turn(out, DO_TELL_CANNOT_DRAIN, m->turn);
}

/* What is in flight was so before the gate closed for memory: it opens when that is there. */
void machine_go_on_filling(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    forget_request(m, out);
    order_fill(m, out);
    add_turn(out, DO_TELL_CANNOT_DRAIN, m->turn);
}

void machine_make_room(struct machine *m, const struct machine_input *in, actions_t *out) {
    m->missing = in->missing;
    add_bytes(out, DO_SET_MISSING, m->missing);
}

/* It is stood by for, and may begin at any moment. */
void machine_make_room_ahead(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)out;
    m->standby_missing = in->missing;
}

/* Others are at it: that is worth waiting for. */
void machine_make_room_to_grow(struct machine *m, const struct machine_input *in, actions_t *out) {
    machine_make_room(m, in, out);
    add(out, DO_AWAIT_GROWTH);
}

/* After ON_DISARMED the gate has no standby any more: the turn comes with the daemon's GRANT. */
static void is_disarmed(struct machine *m, const struct machine_input *in) {
    if (in->event != ON_DISARMED)
        return;
    m->standby = MACHINE_NO_STANDBY;
    m->evict = 0;
}

void machine_evict(struct machine *m, const struct machine_input *in, actions_t *out) {
    is_disarmed(m, in);
    order_out(m, out, least(in->bytes, in->there));
}

void machine_evict_more(struct machine *m, const struct machine_input *in, actions_t *out) {
    is_disarmed(m, in);
    add_bytes(out, DO_ORDER_MORE, in->bytes);
}

/* Memory is about to leave, and the gate must not open by itself then. */
void machine_disarm(struct machine *m, const struct machine_input *in, actions_t *out) {
    m->evict = in->bytes;
    add(out, DO_DISARM_OR_BEGIN);
}

void machine_answer(struct machine *m, const struct machine_input *in, actions_t *out) {
    is_disarmed(m, in);
    add_turn(out, DO_ANSWER, m->turn);
}

void machine_trim_later(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)out;
    m->trim += in->bytes;
}

void machine_trim(struct machine *m, const struct machine_input *in, actions_t *out) {
    m->trim += in->bytes;
    next_trim(m, out);
}

/* A fill that goes on does so; what is allocated comes after it, all of it. */
void machine_grow(struct machine *m, const struct machine_input *in, actions_t *out) {
    m->fill = 0;
    machine_make_room_to_grow(m, in, out);
}

/* Before the thread that is to allocate goes on: nobody uses the new memory until there is room. */
void machine_close_to_grow(struct machine *m, const struct machine_input *in, actions_t *out) {
    add(out, DO_CLOSE);
    machine_grow(m, in, out);
}

void machine_fill_again(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    order_fill(m, out);
}

void machine_grew(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    order_fill(m, out);
}

void machine_want(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    m->is_wanted = true;
    add_turn(out, DO_WANT, m->turn);
}

/* What was left behind as the gate opened. */
static bool has_come_by_use(const struct machine *m, const struct machine_input *in) {
    return m->state != MACHINE_STOPPING && !in->is_explicit;
}

uint64_t machine_leaving(const struct machine *m, const struct machine_input *in) {
    return least(m->evict, in->there + (has_come_by_use(m, in) ? in->away : 0));
}

/* The successor is woken before the daemon hears of it. A fill is left at what has come. */
static void release(struct machine *m, const struct machine_input *in, actions_t *out,
                    enum machine_reason reason) {
    uint64_t bytes = machine_leaving(m, in), left = m->displaces ? 0 : bytes;
    if (m->pass >= 0) {
        struct machine_action *hand_on = add(out, DO_HAND_ON);
        hand_on->descriptor = m->pass;
        hand_on->turn = m->pass_turn;
    }
    if (has_come_by_use(m, in) && in->away)
        add(out, DO_SETTLE);
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
    /* Whoever it was given up for has it now, and may want it until the next turn says otherwise. */
    contend(out, true);
}

void machine_give_back(struct machine *m, const struct machine_input *in, actions_t *out) {
    release(m, in, out, MACHINE_WAS_ASKED);
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

void machine_progress(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    add_turn(out, DO_TELL_OUT, m->out_turn);
}

void machine_left_shut(struct machine *m, const struct machine_input *in, actions_t *out) {
    m->job = MACHINE_RESTS;
    machine_progress(m, in, out);
}

void machine_left(struct machine *m, const struct machine_input *in, actions_t *out) {
    machine_left_shut(m, in, out);
    next_trim(m, out);
}

void machine_came_unseen(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in, (void)out;
    m->job = MACHINE_RESTS;
}

void machine_came_shut(struct machine *m, const struct machine_input *in, actions_t *out) {
    machine_came_unseen(m, in, out);
    add_turn(out, DO_TELL_IN, m->turn);
}

void machine_came(struct machine *m, const struct machine_input *in, actions_t *out) {
    machine_came_shut(m, in, out);
    next_trim(m, out);
}

void machine_filled(struct machine *m, const struct machine_input *in, actions_t *out) {
    add(out, DO_OPEN);
    machine_came(m, in, out);
}

void machine_filled_watched(struct machine *m, const struct machine_input *in, actions_t *out) {
    add(out, DO_OPEN);
    add_bytes(out, DO_WATCH, m->idle_ns);
    machine_came(m, in, out);
}
