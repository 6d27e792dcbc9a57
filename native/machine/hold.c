/* Transitions (steps.h) of a turn that is held. Only table.c says which state comes next. */
#include "emit.h"

/* Replaces earlier requests. If the turn ends, REVOKE says anew what is to leave. */
static void begin(struct machine *m, const struct machine_input *in, actions_t *out,
                  bool is_short) {
    m->is_asked = m->displaces = m->is_wanted = m->is_to_step = false;
    m->evict = 0;
    m->is_short = is_short;
    m->number = in->number;
    contend(out, true);
    add(out, DO_DRAIN);
}

void machine_hold(struct machine *m, const struct machine_input *in, actions_t *out) {
    add(out, DO_CLOSE);
    begin(m, in, out, false);
}

/* The gate is closed. Work that was in flight when it closed to grow may still be; a fill goes
 * on. */
void machine_hold_short(struct machine *m, const struct machine_input *in, actions_t *out) {
    begin(m, in, out, true);
}

static void tell_held(struct machine *m, actions_t *out, bool waits) {
    struct machine_action *held = add(out, DO_TELL_HELD);
    held->turn = m->turn;
    held->number = m->number;
    held->value = m->is_wanted = waits;
}

void machine_be_held(struct machine *m, const struct machine_input *in, actions_t *out) {
    tell_held(m, out, in->waits);
}

void machine_held_wanted(struct machine *m, const struct machine_input *in, actions_t *out) {
    (void)in;
    tell_held(m, out, true);
}

static void step(struct machine *m, actions_t *out) {
    m->is_wanted = m->is_to_step = false;
    add(out, DO_STEP);
    add(out, DO_DRAIN);
}

void machine_step(struct machine *m, const struct machine_input *in, actions_t *out) {
    m->number = in->number;
    step(m, out);
}

/* Memory that leaves during the turn is waited for first. */
static void fill_to_step(struct machine *m, actions_t *out) {
    if (m->job == MACHINE_RESTS || m->job == MACHINE_FILLS_GENTLY)
        order_fill(m, out);
}

/* A call that passed now would find its memory away. Calls that begin to wait until then are
 * reported afterwards. */
void machine_step_later(struct machine *m, const struct machine_input *in, actions_t *out) {
    m->number = in->number;
    m->is_to_step = m->is_wanted = true;
    fill_to_step(m, out);
}

/* The gate is closed already. The new memory comes before it opens, or lets a call pass. */
void machine_grow_held(struct machine *m, const struct machine_input *in, actions_t *out) {
    m->is_short = true;
    m->fill = 0;
    machine_make_room(m, in, out);
}

void machine_left_held(struct machine *m, const struct machine_input *in, actions_t *out) {
    machine_left_shut(m, in, out);
    if (m->is_to_step)
        fill_to_step(m, out);
}

void machine_came_held(struct machine *m, const struct machine_input *in, actions_t *out) {
    machine_came_shut(m, in, out);
    m->is_short = false;
}

void machine_came_to_step(struct machine *m, const struct machine_input *in, actions_t *out) {
    machine_came_held(m, in, out);
    step(m, out);
}
