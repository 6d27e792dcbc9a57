#include "mover.h"

#include <errno.h>

#include "least.h"
#include "lookup/driver.h"
#include "memory/allocations.h"
#include "process/devices.h"
#include "process/thread.h"
#include "residency.h"
#include "session/session.h"
#include "transfer.h"

/* The session is woken when so much has left, and later when a 64th of the order has, if that is
 * more: often enough for a program that waits for the room, and seldom enough to cost nothing.
 * Steps are small at both ends of a move, because a fill begins with the first step and ends after
 * the last. */
static const uint64_t least_step = (uint64_t)32 << 20;
enum { STEPS = 64, RAMP = 4 };

void mover_init(struct mover *mover, struct device *device) {
    *mover = (struct mover){.device = device, .is_quiet = true};
    pthread_mutex_init(&mover->lock, NULL);
    pthread_cond_init(&mover->changed, NULL);
}

/* With the lock held, as everything below that is static. */
static void note_busy(struct mover *mover) {
    atomic_store_explicit(&mover->is_busy, mover->job != MOVER_REST || mover->is_inside,
                          memory_order_release);
}

bool mover_wants(const struct mover *mover, enum mover_job job) {
    return mover->job == job && !mover->bars && !mover->is_stopping;
}

/* One job, until it is done or there is another order or a bar. */
static void work(struct mover *mover) {
    enum mover_job job = mover->job;
    mover->is_inside = true;
    pthread_mutex_unlock(&mover->lock);
    transfer(mover, job);
    pthread_mutex_lock(&mover->lock);
    mover->is_inside = false;
    mover->has_chores |= mover->chore != NULL;
    if (mover_wants(mover, job))
        mover->job = MOVER_REST;
    note_busy(mover);
    pthread_cond_broadcast(&mover->changed);
    if (mover->job == MOVER_REST)
        session_knock(mover->device);
}

/* It uses no context, so nothing has to wait for it. The memory given back has left without a
 * copy. */
static void tidy(struct mover *mover) {
    mover->is_untidy = false;
    pthread_mutex_unlock(&mover->lock);
    uint64_t bytes = mover->tidy_up(mover->device);
    pthread_mutex_lock(&mover->lock);
    if (mover->job == MOVER_OUT)
        mover->bytes -= least(bytes, mover->bytes);
}

/* In small steps, since a job waits for the end of one. It does not count as busy: the gate need
 * not wait. */
static void do_chore(struct mover *mover) {
    mover->has_chores = false;
    mover->does_chore = true;
    pthread_mutex_unlock(&mover->lock);
    bool has_more = mover->chore(mover);
    pthread_mutex_lock(&mover->lock);
    mover->does_chore = false;
    mover->has_chores |= has_more;
    pthread_cond_broadcast(&mover->changed);
}

static void *run(void *argument) {
    struct mover *mover = argument;
    /* It must not invalidate any capture. */
    CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
    real.cuThreadExchangeStreamCaptureMode(&relaxed);
    pthread_mutex_lock(&mover->lock);
    while (!mover->is_stopping) {
        if (mover->is_untidy)
            tidy(mover);
        else if (mover->job != MOVER_REST && !mover->bars)
            work(mover);
        else if (mover->has_chores && !mover->bars)
            do_chore(mover);
        else
            pthread_cond_wait(&mover->changed, &mover->lock);
    }
    pthread_mutex_unlock(&mover->lock);
    return NULL;
}

static int need_thread(struct mover *mover) {
    if (mover->has_thread || mover->is_stopping)
        return mover->is_stopping ? -ESHUTDOWN : 0;
    int result = thread_start(&mover->thread, "nvshare-mover", run, mover);
    mover->has_thread = result == 0;
    return result;
}

static uint64_t there(const struct mover *mover) {
    return account_there(&mover->device->account);
}

static void set_most_step(struct mover *mover) {
    mover->most_step = least(mover->bytes, there(mover)) / STEPS;
}

int mover_order(struct mover *mover, enum mover_job job, uint64_t bytes) {
    pthread_mutex_lock(&mover->lock);
    int result = job == MOVER_REST ? 0 : need_thread(mover);
    mover->job = result == 0 ? job : MOVER_REST;
    mover->bytes = bytes;
    mover->has_touched = false;
    mover->has_left = mover->told_left = 0;
    mover->is_untidy |= job == MOVER_OUT && mover->tidy_up && result == 0;
    set_most_step(mover);
    note_busy(mover);
    pthread_cond_broadcast(&mover->changed);
    pthread_mutex_unlock(&mover->lock);
    return result;
}

void mover_tidy(struct mover *mover) {
    pthread_mutex_lock(&mover->lock);
    mover->is_untidy = mover->tidy_up && need_thread(mover) == 0;
    pthread_cond_broadcast(&mover->changed);
    pthread_mutex_unlock(&mover->lock);
}

void mover_prepare(struct mover *mover) {
    pthread_mutex_lock(&mover->lock);
    if (mover->chore && need_thread(mover) == 0) {
        mover->has_chores = true;
        pthread_cond_broadcast(&mover->changed);
    }
    pthread_mutex_unlock(&mover->lock);
}

void mover_order_more(struct mover *mover, uint64_t bytes) {
    pthread_mutex_lock(&mover->lock);
    if (mover->job == MOVER_OUT) {
        mover->bytes += least(bytes, UINT64_MAX - mover->bytes);
        set_most_step(mover);
    }
    pthread_mutex_unlock(&mover->lock);
}

void mover_set_missing(struct mover *mover, uint64_t missing) {
    pthread_mutex_lock(&mover->lock);
    mover->missing = missing;
    pthread_cond_broadcast(&mover->changed);
    pthread_mutex_unlock(&mover->lock);
}

void mover_look_again(struct mover *mover) {
    pthread_mutex_lock(&mover->lock);
    pthread_cond_broadcast(&mover->changed);
    pthread_mutex_unlock(&mover->lock);
}

uint64_t mover_displace(struct mover *mover, uint64_t bytes) {
    pthread_mutex_lock(&mover->lock);
    uint64_t displaced = residency_displace(&allocations.memory, mover->device->ordinal, bytes);
    mover->progress.displaced += displaced;
    pthread_mutex_unlock(&mover->lock);
    return displaced;
}

/* With the lock held: how much of the present job will leave. */
static uint64_t to_leave(const struct mover *mover) {
    return mover->job == MOVER_OUT ? least(mover->bytes, there(mover)) : 0;
}

static uint64_t left(const struct mover *mover) {
    return to_leave(mover) + mover->leaving;
}

uint64_t mover_left(struct mover *mover) {
    pthread_mutex_lock(&mover->lock);
    uint64_t bytes = left(mover);
    pthread_mutex_unlock(&mover->lock);
    return bytes;
}

bool mover_take(struct mover *mover, struct mover_progress *progress) {
    pthread_mutex_lock(&mover->lock);
    *progress = mover->progress;
    progress->left = left(mover);
    mover->progress = (struct mover_progress){0};
    atomic_store_explicit(&mover->has_news, false, memory_order_release);
    bool is_done = mover->job == MOVER_REST && !mover->is_inside;
    pthread_mutex_unlock(&mover->lock);
    return is_done;
}

/* Allocated memory is nowhere until it is used, and so is memory being allocated. */
uint64_t mover_away(struct mover *mover) {
    const struct account *account = &mover->device->account;
    pthread_mutex_lock(&mover->lock);
    uint64_t away = atomic_load(&account->away) + atomic_load(&account->coming) + to_leave(mover) +
                    mover->leaving_there;
    pthread_mutex_unlock(&mover->lock);
    return away;
}

/* Runs on the program's thread, for which this is not a cancellation point. */
void mover_bar(struct mover *mover) {
    int before;
    if (!mover)
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_mutex_lock(&mover->lock);
    mover->bars++;
    pthread_cond_broadcast(&mover->changed);
    while (mover->is_inside || mover->does_chore)
        pthread_cond_wait(&mover->changed, &mover->lock);
    pthread_mutex_unlock(&mover->lock);
    pthread_setcancelstate(before, &before);
}

void mover_unbar(struct mover *mover) {
    if (!mover)
        return;
    pthread_mutex_lock(&mover->lock);
    mover->bars--;
    pthread_cond_broadcast(&mover->changed);
    pthread_mutex_unlock(&mover->lock);
}

void mover_stop(struct mover *mover) {
    pthread_mutex_lock(&mover->lock);
    bool has_thread = mover->has_thread;
    mover->is_stopping = true;
    mover->has_thread = false;
    pthread_cond_broadcast(&mover->changed);
    pthread_mutex_unlock(&mover->lock);
    if (has_thread)
        thread_join_soon(mover->thread);
}

bool mover_goes_on(struct mover *mover, enum mover_job job) {
    pthread_mutex_lock(&mover->lock);
    bool goes_on = mover_wants(mover, job);
    pthread_mutex_unlock(&mover->lock);
    return goes_on;
}

bool mover_has_to_touch(struct mover *mover, enum mover_job job) {
    pthread_mutex_lock(&mover->lock);
    bool has_to = mover_wants(mover, job) && !mover->has_touched;
    mover->has_touched |= has_to;
    pthread_mutex_unlock(&mover->lock);
    return has_to;
}

/* `missing` is part of what the daemon expects to come in. That is everything away, including
 * memory that was never used, which comes last of all, and by itself. */
uint64_t mover_room(const struct mover *mover) {
    if (mover->job != MOVER_FILL || !mover->missing)
        return mover->bytes;
    uint64_t coming = least(mover->bytes, atomic_load(&mover->device->account.away));
    uint64_t room = coming > mover->missing ? coming - mover->missing : 0;
    return room < RESIDENCY_BLOCK ? 0 : room;
}

/* A thread that frees memory changes the account first, and then looks at `is_waiting`. Here the
 * order is reversed, so one of the two notices. */
bool mover_wait_for_room(struct mover *mover, enum mover_job job) {
    pthread_mutex_lock(&mover->lock);
    atomic_store(&mover->is_waiting, true);
    while (mover_wants(mover, job) && mover->bytes && !mover_room(mover) &&
           account_absent(&mover->device->account))
        pthread_cond_wait(&mover->changed, &mover->lock);
    atomic_store(&mover->is_waiting, false);
    bool has_room =
        mover_wants(mover, job) && mover_room(mover) && account_absent(&mover->device->account);
    pthread_mutex_unlock(&mover->lock);
    return has_room;
}

uint64_t mover_room_for_all(const struct mover *mover) {
    uint64_t away = atomic_load(&mover->device->account.away);
    if (mover->job == MOVER_FILL_AHEAD)
        return mover->bytes;
    if (mover->job != MOVER_FILL || !mover->missing)
        return UINT64_MAX;
    return away > mover->missing ? away - mover->missing : 0;
}

void mover_wait_for_room_of(struct mover *mover, enum mover_job job, uint64_t bytes) {
    pthread_mutex_lock(&mover->lock);
    atomic_store(&mover->is_waiting, true);
    while (mover_wants(mover, job) && mover_room_for_all(mover) < bytes &&
           account_absent(&mover->device->account))
        pthread_cond_wait(&mover->changed, &mover->lock);
    atomic_store(&mover->is_waiting, false);
    pthread_mutex_unlock(&mover->lock);
}

void mover_wait_for_the_rest(struct mover *mover, enum mover_job job) {
    pthread_mutex_lock(&mover->lock);
    atomic_store(&mover->is_waiting, true);
    while (mover_wants(mover, job) && mover->missing &&
           atomic_load(&mover->device->account.untouched) >= RESIDENCY_BLOCK)
        pthread_cond_wait(&mover->changed, &mover->lock);
    atomic_store(&mover->is_waiting, false);
    pthread_mutex_unlock(&mover->lock);
}

/* With the lock held, as below. */
static uint64_t step(const struct mover *mover) {
    uint64_t near_an_end = least(mover->has_left, left(mover)) / RAMP;
    uint64_t bytes = least(near_an_end, mover->most_step);
    return bytes > least_step ? bytes : least_step;
}

static void note_left(struct mover *mover, uint64_t bytes) {
    mover->has_left += bytes;
    if (mover->has_left - mover->told_left < step(mover) || !left(mover))
        return; /* it is told of the end anyway */
    mover->told_left = mover->has_left;
    atomic_store_explicit(&mover->has_news, true, memory_order_release);
    session_knock(mover->device);
}

void mover_note(struct mover *mover, const struct mover_progress *made) {
    pthread_mutex_lock(&mover->lock);
    mover->progress.out_bytes += made->out_bytes;
    mover->progress.out_ns += made->out_ns;
    mover->progress.in_bytes += made->in_bytes;
    mover->progress.in_ns += made->in_ns;
    mover->leaving -= made->out_bytes;
    note_left(mover, made->out_bytes);
    pthread_mutex_unlock(&mover->lock);
}
