#include "mover.h"

#include <errno.h>
#include <sys/prctl.h>
#include <time.h>

#include "books.h"
#include "clock.h"
#include "devices.h"
#include "driver.h"
#include "haul.h"
#include "residency.h"
#include "session.h"
#include "thread.h"

/* A part of what leaves that is worth a frame. */
static const uint64_t news = (uint64_t)64 << 20;

void mover_init(struct mover *mover, struct device *device) {
    pthread_condattr_t attributes;
    *mover = (struct mover){.device = device};
    pthread_mutex_init(&mover->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&mover->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* With the lock held, as everything below that is static. */
static void note_busy(struct mover *mover) {
    atomic_store_explicit(&mover->is_busy, mover->job != MOVER_REST || mover->is_inside,
                          memory_order_release);
}

bool mover_wants(const struct mover *mover, enum mover_job job) {
    return mover->job == job && !mover->bars && !mover->is_stopping;
}

/* One job, or what becomes of it until there is another order or a bar. */
static void work(struct mover *mover) {
    enum mover_job job = mover->job;
    mover->is_inside = true;
    pthread_mutex_unlock(&mover->lock);
    haul(mover, job);
    pthread_mutex_lock(&mover->lock);
    mover->is_inside = false;
    if (mover_wants(mover, job))
        mover->job = MOVER_REST;
    note_busy(mover);
    pthread_cond_broadcast(&mover->changed);
    if (mover->job == MOVER_REST)
        session_knock(mover->device);
}

static void *run(void *argument) {
    struct mover *mover = argument;
    /* As in the session's thread: pauses are short. And nobody's capture must be spoilt. */
    prctl(PR_SET_TIMERSLACK, 1000ul, 0ul, 0ul, 0ul);
    CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
    real.cuThreadExchangeStreamCaptureMode(&relaxed);
    pthread_mutex_lock(&mover->lock);
    while (!mover->is_stopping) {
        if (mover->job != MOVER_REST && !mover->bars)
            work(mover);
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

int mover_order(struct mover *mover, enum mover_job job, uint64_t bytes) {
    pthread_mutex_lock(&mover->lock);
    int result = job == MOVER_REST ? 0 : need_thread(mover);
    mover->job = result == 0 ? job : MOVER_REST;
    mover->bytes = bytes;
    note_busy(mover);
    pthread_cond_broadcast(&mover->changed);
    pthread_mutex_unlock(&mover->lock);
    return result;
}

void mover_order_more(struct mover *mover, uint64_t bytes) {
    pthread_mutex_lock(&mover->lock);
    if (mover->job == MOVER_OUT)
        mover->bytes += bytes;
    pthread_mutex_unlock(&mover->lock);
}

void mover_set_missing(struct mover *mover, uint64_t missing) {
    pthread_mutex_lock(&mover->lock);
    mover->missing = missing;
    pthread_cond_broadcast(&mover->changed);
    pthread_mutex_unlock(&mover->lock);
}

uint64_t mover_displace(struct mover *mover, uint64_t bytes) {
    struct residency_list list = {0};
    struct residency_piece piece;
    uint64_t gone = 0;
    residency_list_there(&books.memory, mover->device->ordinal, &list);
    while (gone < bytes && residency_leave(&books.memory, &list, bytes - gone, &piece)) {
        residency_landed(&books.memory, &piece, 1);
        gone += piece.bytes;
    }
    residency_list_free(&list);
    return gone;
}

/* With the lock held. How much is in flight is not known here: a block at least, until the job is done. */
static uint64_t left(const struct mover *mover) {
    uint64_t there = account_there(&mover->device->account);
    if (mover->job != MOVER_OUT)
        return 0;
    uint64_t bytes = mover->bytes < there ? mover->bytes : there;
    return bytes ? bytes : RESIDENCY_BLOCK;
}

bool mover_take(struct mover *mover, struct mover_progress *progress) {
    pthread_mutex_lock(&mover->lock);
    *progress = mover->progress;
    progress->left = left(mover);
    mover->progress = (struct mover_progress){0};
    mover->since_news = 0;
    atomic_store_explicit(&mover->has_news, false, memory_order_release);
    bool is_done = mover->job == MOVER_REST && !mover->is_inside;
    pthread_mutex_unlock(&mover->lock);
    return is_done;
}

uint64_t mover_away(struct mover *mover) {
    const struct account *account = &mover->device->account;
    pthread_mutex_lock(&mover->lock);
    uint64_t away = atomic_load(&account->away), there = account_there(account);
    if (gate_is_closed(&mover->device->gate))
        away += atomic_load(&account->coming);
    uint64_t leaving = mover->job == MOVER_OUT ? mover->bytes : 0;
    pthread_mutex_unlock(&mover->lock);
    return away + (leaving < there ? leaving : there);
}

/* The program's thread, which does not expect to be cancelled here. */
void mover_bar(struct mover *mover) {
    int before;
    if (!mover)
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_mutex_lock(&mover->lock);
    mover->bars++;
    pthread_cond_broadcast(&mover->changed);
    while (mover->is_inside)
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

void mover_pause(struct mover *mover, uint64_t ns) {
    uint64_t end = clock_now() + ns;
    struct timespec until = {(time_t)(end / 1000000000), (long)(end % 1000000000)};
    pthread_mutex_lock(&mover->lock);
    pthread_cond_timedwait(&mover->changed, &mover->lock, &until);
    pthread_mutex_unlock(&mover->lock);
}

void mover_note(struct mover *mover, const struct mover_progress *made) {
    pthread_mutex_lock(&mover->lock);
    mover->progress.out_bytes += made->out_bytes;
    mover->progress.out_ns += made->out_ns;
    mover->progress.in_bytes += made->in_bytes;
    mover->progress.in_ns += made->in_ns;
    mover->since_news += made->out_bytes;
    bool has_news = mover->since_news >= news && !atomic_load(&mover->has_news);
    if (has_news)
        atomic_store_explicit(&mover->has_news, true, memory_order_release);
    pthread_mutex_unlock(&mover->lock);
    if (has_news)
        session_knock(mover->device);
}
