#include "usage.h"

#include "process/clock.h"

void usage_init(struct usage *usage) {
    *usage = (struct usage){0};
    pthread_mutex_init(&usage->lock, NULL);
}

static uint64_t later(uint64_t one, uint64_t other) {
    return one > other ? one : other;
}

static void cover(struct usage *usage, uint64_t from, uint64_t to) {
    from = later(from, usage->known_to);
    if (to <= from)
        return;
    if (!usage->is_measured)
        usage->totals.busy_ns += to - from;
    usage->known_to = to;
}

void usage_saw(struct usage *usage, uint64_t from, uint64_t to, unsigned launches) {
    pthread_mutex_lock(&usage->lock);
    /* Time that others wait through is counted when they have waited. To count its end now would
     * lose its beginning. */
    if (usage->waiting && to > usage->waiting_since)
        to = usage->waiting_since;
    cover(usage, from, to);
    usage->totals.launches += launches;
    pthread_mutex_unlock(&usage->lock);
}

void usage_measure(struct usage *usage, bool is_measured) {
    pthread_mutex_lock(&usage->lock);
    usage->is_measured = is_measured;
    pthread_mutex_unlock(&usage->lock);
}

void usage_measured(struct usage *usage, uint64_t busy_ns) {
    pthread_mutex_lock(&usage->lock);
    usage->totals.busy_ns += busy_ns;
    pthread_mutex_unlock(&usage->lock);
}

/* The clock is read with the lock held, so that moments are in the order in which they are used. */
void usage_wait_begins(struct usage *usage) {
    pthread_mutex_lock(&usage->lock);
    if (usage->waiting++ == 0)
        usage->waiting_since = clock_now();
    pthread_mutex_unlock(&usage->lock);
}

uint64_t usage_wait_ends(struct usage *usage) {
    pthread_mutex_lock(&usage->lock);
    uint64_t now = clock_now();
    usage->waiting--;
    cover(usage, usage->waiting_since, now);
    pthread_mutex_unlock(&usage->lock);
    return now;
}

bool usage_is_waiting(struct usage *usage) {
    pthread_mutex_lock(&usage->lock);
    bool is_waiting = usage->waiting > 0;
    pthread_mutex_unlock(&usage->lock);
    return is_waiting;
}

struct usage_totals usage_read(struct usage *usage) {
    pthread_mutex_lock(&usage->lock);
    struct usage_totals totals = usage->totals;
    if (usage->waiting && !usage->is_measured)
        totals.busy_ns += clock_now() - later(usage->waiting_since, usage->known_to);
    pthread_mutex_unlock(&usage->lock);
    return totals;
}
