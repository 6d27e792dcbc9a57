/* Transitions (steps.h) of memory that moves, or is to. Only table.c says which state comes
 * next. */
#include "emit.h"

void machine_make_room(struct machine *m, const struct machine_input *in, actions_t *out) {
    m->missing = in->missing;
    add_bytes(out, DO_SET_MISSING, m->missing);
}

/* For a turn that a standby will bring, which may begin at any moment. */
void machine_make_room_ahead(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)out;
    m->standby_missing = in->missing;
}

/* Others are making room: that is worth waiting for. */
void machine_make_room_to_grow(struct machine *m, const struct machine_input *in, actions_t *out) {
    machine_make_room(m, in, out);
    add(out, DO_AWAIT_GROWTH);
}

/* Memory that was trimmed for a program which does not need the room any more need not come back
 * page by page. A turn that began with a part of its memory has no room for more. */
void machine_fill_beside(struct machine *m, const struct machine_input *in, actions_t *out) {
    if (in->missing || in->is_explicit || m->fill || m->job != MACHINE_RESTS)
        return;
    m->missing = 0;
    order_fill(m, out);
}

/* The gate is closed, and others have pushed out memory that the work in flight uses. Or the number
 * is about memory that is coming. */
void machine_fill_to_drain(struct machine *m, const struct machine_input *in, actions_t *out) {
    if (m->state == MACHINE_HOLDING && (m->is_short || m->job != MACHINE_RESTS))
        machine_make_room(m, in, out);
    else
        machine_fill_beside(m, in, out);
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

/* There is room, and the turn will come. If another program needs the room meanwhile, the next two
 * transitions give it back. */
void machine_fetch(struct machine *m, const struct machine_input *in, actions_t *out) {
    m->job = MACHINE_FILLS_AHEAD;
    add_bytes(out, DO_SET_MISSING, 0);
    add_bytes(out, DO_ORDER_AHEAD, in->bytes);
}

/* Chunks in flight arrive, and MOVED reports them. */
void machine_stop_fetching(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)m, (void)in;
    add(out, DO_ORDER_REST);
}

void machine_stop_to_leave(struct machine *m, const struct machine_input *in, actions_t *out) {
    m->evict += in->bytes;
    add(out, DO_ORDER_REST);
}

/* An order to move out, if there was one, finds nothing. */
void machine_fetched(struct machine *m, const struct machine_input *in, actions_t *out) {
    bool is_to_leave = m->evict > 0;
    machine_came_shut(m, in, out);
    m->evict = 0;
    if (is_to_leave)
        add_turn(out, DO_ANSWER, m->turn);
}

void machine_fetched_to_leave(struct machine *m, const struct machine_input *in, actions_t *out) {
    machine_came_shut(m, in, out);
    order_out(m, out, least(m->evict, in->there));
    m->evict = 0;
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

/* A fill in progress goes on; the new memory comes after it, all of it. */
void machine_grow(struct machine *m, const struct machine_input *in, actions_t *out) {
    m->fill = 0;
    machine_make_room_to_grow(m, in, out);
}

/* Before the allocating thread goes on: the new memory is not used until there is room. */
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
