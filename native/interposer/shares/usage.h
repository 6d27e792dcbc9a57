/* How long a program has work on a GPU, as its threads see it.
 *
 * Two things are known: a mark in flight has been so since it was recorded, and a thread that waits
 * for work does so because there is some. Time seen by several threads counts once. Unknown time
 * does not count, so there may have been more work, but not less. The exception: a stream may also
 * have had to wait for something that is no work of the GPU, such as a host function. */
#ifndef NVSHARE_USAGE_H
#define NVSHARE_USAGE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct usage_totals {
    uint64_t busy_ns;
    uint64_t launches;
};

struct usage {
    pthread_mutex_t lock;
    struct usage_totals totals;
    uint64_t known_to; /* everything counted lies before */
    unsigned waiting;  /* threads */
    uint64_t waiting_since;
    bool is_measured;         /* busy time is measured with events, and not inferred */
    _Atomic bool is_followed; /* the session reads it now and then, and need not be told */
};

void usage_init(struct usage *usage);

/* There was work without a gap, and so many calls have added more. */
void usage_saw(struct usage *usage, uint64_t from, uint64_t to, unsigned launches);

/* Whether busy time comes from usage_measured from now on. */
void usage_measure(struct usage *usage, bool is_measured);
void usage_measured(struct usage *usage, uint64_t busy_ns);

/* A thread begins to wait for work; and has waited, until the moment returned. */
void usage_wait_begins(struct usage *usage);
uint64_t usage_wait_ends(struct usage *usage);

/* Whether a thread waits now. */
bool usage_is_waiting(struct usage *usage);

/* Including the waits that go on. Never less than before. */
struct usage_totals usage_read(struct usage *usage);

#endif
