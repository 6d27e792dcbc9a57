#include "gate.h"

#include <errno.h>

struct gate gate_unknown = {.lock = PTHREAD_MUTEX_INITIALIZER};

_Thread_local struct gate_thread gate_thread = {.gate = &gate_unknown};

_Atomic bool gate_marks_calls;
_Atomic unsigned gate_strays;

/* What calls read, with the lock held. */
static void publish(struct gate *gate, bool open) {
    bool is_marked = gate_calls_are_marked();
    atomic_store_explicit(&gate->open, open && !is_marked, memory_order_relaxed);
    atomic_store_explicit(&gate->open_to_marked, open && is_marked, memory_order_relaxed);
}

void gate_init(struct gate *gate, void (*knock)(void *), void *argument) {
    publish(gate, false);
    gate->passable = gate->refuses = gate->is_decided = gate->used = gate->is_short = false;
    gate->noticed = false;
    gate->waiters = NULL;
    atomic_store_explicit(&gate->curious, false, memory_order_relaxed);
    atomic_store_explicit(&gate->copying, 0, memory_order_relaxed);
    atomic_store_explicit(&gate->lent, 0, memory_order_relaxed);
    gate->waiting = gate->tickets = 0;
    gate->knock = knock;
    gate->knock_argument = argument;
    standby_init(&gate->standby);
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->changed, NULL);
}

static void open_by_standby(struct gate *gate) {
    if (gate->is_short) {
        gate->knock(gate->knock_argument);
        return;
    }
    gate->passable = true;
    pthread_cond_broadcast(&gate->changed);
}

/* A launch is not a cancellation point for the program's threads. */
static void wait_for_change(struct gate *gate) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    if (!standby_needs_watcher(&gate->standby))
        pthread_cond_wait(&gate->changed, &gate->lock);
    else if (standby_watch(&gate->standby, &gate->lock))
        open_by_standby(gate);
    pthread_setcancelstate(before, &before);
}

static void leave_list(struct gate *gate, const struct gate_waiter *own) {
    struct gate_waiter **at = &gate->waiters;
    while (*at != own)
        at = &(*at)->next;
    *at = own->next;
}

static void wait_until_passable(struct gate *gate) {
    struct gate_waiter own = {gate_thread.stream, gate_thread.context, gate->waiters};
    gate->waiters = &own;
    if (gate->waiting++ == 0)
        gate->knock(gate->knock_argument);
    while (!gate->passable && !gate->refuses && !gate->tickets)
        wait_for_change(gate);
    gate->waiting--;
    leave_list(gate, &own);
}

/* With the lock held. Closing the gate takes it too, so the close sees the mark, or the call the
 * close. */
static bool pass_if_passable(struct gate *gate) {
    if (!gate->passable)
        return false;
    gate_mark();
    gate->used = gate->noticed = true;
    publish(gate, !gate_is_curious(gate));
    return true;
}

/* With the lock held as well. The gate stays closed for the calls that follow. */
static bool pass_by_ticket(struct gate *gate) {
    if (gate->passable || !gate->tickets)
        return false;
    gate->tickets--;
    gate_mark();
    gate->used = gate->noticed = true;
    return true;
}

int gate_enter(struct gate *gate) {
    pthread_mutex_lock(&gate->lock);
    if (!gate->passable && !gate->refuses)
        wait_until_passable(gate);
    gate_thread.is_stepped = pass_by_ticket(gate);
    bool passes = gate_thread.is_stepped || pass_if_passable(gate);
    pthread_mutex_unlock(&gate->lock);
    return passes ? 0 : -EPERM;
}

bool gate_try(struct gate *gate) {
    pthread_mutex_lock(&gate->lock);
    bool passes = pass_if_passable(gate);
    pthread_mutex_unlock(&gate->lock);
    return passes;
}

int gate_await_decision(struct gate *gate) {
    pthread_mutex_lock(&gate->lock);
    while (!gate->is_decided)
        wait_for_change(gate);
    bool refuses = gate->refuses;
    pthread_mutex_unlock(&gate->lock);
    return refuses ? -EPERM : 0;
}

bool gate_is_closed(struct gate *gate) {
    pthread_mutex_lock(&gate->lock);
    bool closed = !gate->passable && !gate->refuses;
    pthread_mutex_unlock(&gate->lock);
    return closed;
}

static bool set(struct gate *gate, bool passable, bool refuses) {
    pthread_mutex_lock(&gate->lock);
    passable = passable && !gate->is_short;
    gate->passable = passable;
    gate->refuses = refuses;
    gate->is_decided = true;
    gate->tickets = 0;
    publish(gate, passable && !gate_is_curious(gate));
    standby_call_back(&gate->standby);
    pthread_mutex_unlock(&gate->lock);
    /* After the lock is free: a woken thread needs it, and would go to sleep again. */
    pthread_cond_broadcast(&gate->changed);
    return passable;
}

bool gate_open(struct gate *gate) {
    return set(gate, true, false);
}

void gate_close(struct gate *gate) {
    set(gate, false, false);
}

void gate_refuse(struct gate *gate) {
    set(gate, false, true);
}

bool gate_step(struct gate *gate) {
    pthread_mutex_lock(&gate->lock);
    bool may_pass = !gate->is_short;
    if (may_pass && gate->tickets < gate->waiting)
        gate->tickets++;
    pthread_mutex_unlock(&gate->lock);
    /* Threads that wait for something else go back to sleep. */
    pthread_cond_broadcast(&gate->changed);
    return may_pass;
}

bool gate_is_stepping(struct gate *gate) {
    pthread_mutex_lock(&gate->lock);
    bool is_stepping = gate->tickets > 0 || atomic_load(&gate->lent) > 0;
    pthread_mutex_unlock(&gate->lock);
    return is_stepping;
}

int gate_stand_by(struct gate *gate, int descriptor) {
    pthread_mutex_lock(&gate->lock);
    int result = standby_set(&gate->standby, descriptor);
    pthread_mutex_unlock(&gate->lock);
    /* One of the waiting threads becomes the watcher. */
    pthread_cond_signal(&gate->changed);
    return result;
}

bool gate_has_begun(struct gate *gate) {
    pthread_mutex_lock(&gate->lock);
    bool has_begun = gate->standby.has_come;
    pthread_mutex_unlock(&gate->lock);
    return has_begun;
}

bool gate_withdraw(struct gate *gate) {
    pthread_mutex_lock(&gate->lock);
    bool had_begun = standby_withdraw(&gate->standby);
    pthread_mutex_unlock(&gate->lock);
    return had_begun;
}

bool gate_disarm(struct gate *gate) {
    pthread_mutex_lock(&gate->lock);
    bool in_time = !gate->standby.has_come && !standby_brings_turn(gate->standby.descriptor);
    if (in_time)
        standby_withdraw(&gate->standby);
    pthread_mutex_unlock(&gate->lock);
    return in_time;
}

void gate_abandon(struct gate *gate) {
    standby_forget(&gate->standby);
}

unsigned gate_waiting(struct gate *gate) {
    pthread_mutex_lock(&gate->lock);
    unsigned waiting = gate->waiting;
    pthread_mutex_unlock(&gate->lock);
    return waiting;
}

unsigned gate_list_waiters(struct gate *gate, struct gate_waiter *list, unsigned most) {
    unsigned count = 0;
    pthread_mutex_lock(&gate->lock);
    for (const struct gate_waiter *at = gate->waiters; at && count < most; at = at->next)
        list[count++] = *at;
    pthread_mutex_unlock(&gate->lock);
    return count;
}

bool gate_glance(struct gate *gate) {
    pthread_mutex_lock(&gate->lock);
    bool noticed = gate->noticed;
    gate->noticed = false;
    publish(gate, false);
    pthread_mutex_unlock(&gate->lock);
    return noticed;
}

bool gate_falls_short(struct gate *gate) {
    pthread_mutex_lock(&gate->lock);
    bool is_closed = !gate->passable;
    gate->is_short |= is_closed;
    pthread_mutex_unlock(&gate->lock);
    return is_closed;
}

void gate_is_whole(struct gate *gate) {
    pthread_mutex_lock(&gate->lock);
    gate->is_short = false;
    pthread_mutex_unlock(&gate->lock);
}

void gate_watch(struct gate *gate) {
    pthread_mutex_lock(&gate->lock);
    gate->used = false;
    publish(gate, false);
    pthread_mutex_unlock(&gate->lock);
}

/* When `curious` becomes false, the next call opens the fast path again, as after gate_watch. */
void gate_set_curious(struct gate *gate, bool curious) {
    pthread_mutex_lock(&gate->lock);
    atomic_store_explicit(&gate->curious, curious, memory_order_relaxed);
    if (curious)
        publish(gate, false);
    pthread_mutex_unlock(&gate->lock);
}

bool gate_was_used(struct gate *gate) {
    pthread_mutex_lock(&gate->lock);
    bool used = gate->used;
    pthread_mutex_unlock(&gate->lock);
    return used;
}

bool gate_close_if_unused(struct gate *gate) {
    pthread_mutex_lock(&gate->lock);
    bool unused = !gate->used;
    if (unused) {
        gate->passable = false;
        publish(gate, false);
    }
    pthread_mutex_unlock(&gate->lock);
    return unused;
}
