/* The parts of transitions: single actions, and changes of numbers that go with an action. */
#ifndef NVSHARE_MACHINE_EMIT_H
#define NVSHARE_MACHINE_EMIT_H

#include "steps.h"

typedef struct machine_actions actions_t;

static inline struct machine_action *add(actions_t *out, enum machine_act act) {
    static struct machine_action nowhere; /* never used: a test counts the actions of every step */
    struct machine_action *action =
        out->count < MACHINE_ACTIONS ? &out->list[out->count++] : &nowhere;
    *action = (struct machine_action){.act = act, .descriptor = -1};
    return action;
}

static inline void add_bytes(actions_t *out, enum machine_act act, uint64_t bytes) {
    add(out, act)->bytes = bytes;
}

static inline void add_turn(actions_t *out, enum machine_act act, uint64_t turn) {
    add(out, act)->turn = turn;
}

static inline void contend(actions_t *out, bool is_wanted) {
    add(out, DO_CONTEND)->value = is_wanted;
}

static inline void drop(actions_t *out, int32_t *descriptor) {
    if (*descriptor >= 0)
        add(out, DO_DROP)->descriptor = *descriptor;
    *descriptor = -1;
}

static inline uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static inline void forget_request(struct machine *m, actions_t *out) {
    drop(out, &m->next_descriptor);
    m->is_asked = m->displaces = false;
    m->evict = 0;
    m->number = 0;
}

static inline void forget_standby(struct machine *m, actions_t *out) {
    if (m->standby != MACHINE_NO_STANDBY)
        add(out, DO_DISARM);
    m->standby = MACHINE_NO_STANDBY;
}

static inline void order_out(struct machine *m, actions_t *out, uint64_t bytes) {
    m->job = MACHINE_MOVES_OUT;
    m->out_turn = m->turn;
    add_bytes(out, DO_ORDER_OUT, bytes);
}

/* The missing room is set before the fill is ordered. */
static inline void order_fill(struct machine *m, actions_t *out) {
    m->job = MACHINE_FILLS;
    add_bytes(out, DO_SET_MISSING, m->missing);
    add_bytes(out, DO_ORDER_FILL, m->fill);
}

static inline void order_rest(struct machine *m, actions_t *out) {
    if (m->job != MACHINE_RESTS)
        add(out, DO_ORDER_REST);
    m->job = MACHINE_RESTS;
}

/* A fill at the beginning of a turn comes first. When the turn ends, the daemon orders anew what
 * leaves. */
static inline void next_trim(struct machine *m, actions_t *out) {
    if (!m->trim || m->job != MACHINE_RESTS)
        return;
    order_out(m, out, m->trim);
    m->trim = 0;
}

#endif
