#include "ask.h"

#include <errno.h>
#include <time.h>

#include "frames.h"
#include "process/clock.h"

/* An answer carries only its request's number, so these are unique in the process. */
static _Atomic uint64_t last_ticket;

void ask_init(struct ask *ask, void (*knock)(void *), void *argument) {
    pthread_condattr_t attributes;
    *ask = (struct ask){.knock = knock, .knock_argument = argument};
    pthread_mutex_init(&ask->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&ask->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* An ordinary report tells the daemon of a lower use. */
bool ask_is_needed(const struct account *account) {
    uint64_t agreed = atomic_load_explicit(&account->agreed, memory_order_relaxed);
    uint64_t used = atomic_load_explicit(&account->used, memory_order_relaxed);
    return used > agreed && used - agreed > FRAME_UNASKED_BYTES;
}

/* With the lock held, as everything below that is static. */
static void set_state(struct ask *ask, enum ask_state state) {
    ask->state = state;
    pthread_cond_broadcast(&ask->changed);
}

/* Returns false when the time is over. */
static bool wait_for_change(struct ask *ask, const struct timespec *until) {
    return pthread_cond_timedwait(&ask->changed, &ask->lock, until) != ETIMEDOUT;
}

static enum ask_result put(struct ask *ask, bool can_move, const struct timespec *until) {
    uint64_t ticket = ask->ticket = atomic_fetch_add(&last_ticket, 1) + 1;
    ask->can_move = can_move;
    set_state(ask, ASK_PUT);
    ask->knock(ask->knock_argument);
    while (ask->state != ASK_ANSWERED && wait_for_change(ask, until))
        continue;
    bool is_answered = ask->state == ASK_ANSWERED && ask->ticket == ticket;
    set_state(ask, ASK_NOBODY);
    return is_answered ? ask->result : ASK_SILENCE;
}

/* Another thread's request may bring the answer to this one. Requests for contexts are never
 * joined. */
static enum ask_result wait_for_turn(struct ask *ask, const struct account *account, bool can_move,
                                     const struct timespec *until) {
    while (!account || ask_is_needed(account)) {
        if (ask->state == ASK_NOBODY)
            return put(ask, can_move, until);
        if (!wait_for_change(ask, until))
            return ASK_SILENCE;
    }
    return ASK_YES;
}

/* An allocation is not a cancellation point for the program's threads. */
enum ask_result ask_daemon(struct ask *ask, const struct account *account, bool can_move,
                           uint64_t patience_ns) {
    uint64_t end = clock_now() + patience_ns;
    struct timespec until = {(time_t)(end / 1000000000), (long)(end % 1000000000)};
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_mutex_lock(&ask->lock);
    enum ask_result result = wait_for_turn(ask, account, can_move, &until);
    pthread_mutex_unlock(&ask->lock);
    pthread_setcancelstate(before, &before);
    return result;
}

enum ask_result ask_for_context(struct ask *ask, uint64_t patience_ns) {
    return ask_daemon(ask, NULL, false, patience_ns);
}

bool ask_take(struct ask *ask, uint64_t bytes, uint64_t *ticket) {
    pthread_mutex_lock(&ask->lock);
    bool is_put = ask->state == ASK_PUT;
    if (is_put) {
        ask->bytes = bytes;
        *ticket = ask->ticket;
        set_state(ask, ASK_SENT);
    }
    pthread_mutex_unlock(&ask->lock);
    return is_put;
}

bool ask_is_open(struct ask *ask, uint64_t ticket, bool *can_move) {
    pthread_mutex_lock(&ask->lock);
    bool is_open = ask->state == ASK_SENT && ask->ticket == ticket;
    *can_move = ask->can_move;
    pthread_mutex_unlock(&ask->lock);
    return is_open;
}

void ask_answer(struct ask *ask, struct account *account, enum ask_result result) {
    pthread_mutex_lock(&ask->lock);
    if (ask->state == ASK_SENT) {
        if (result == ASK_YES && account)
            atomic_store(&account->agreed, ask->bytes);
        ask->result = result;
        set_state(ask, ASK_ANSWERED);
    }
    pthread_mutex_unlock(&ask->lock);
}

void ask_give_up(struct ask *ask) {
    pthread_mutex_lock(&ask->lock);
    if (ask->state == ASK_PUT || ask->state == ASK_SENT) {
        ask->result = ASK_SILENCE;
        set_state(ask, ASK_ANSWERED);
    }
    pthread_mutex_unlock(&ask->lock);
}
