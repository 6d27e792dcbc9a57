/* How long a program has work on a GPU, from what its threads see of it.
 *
 * Two things are known: a mark that is still in flight has been so since it was recorded, and a thread
 * that waits for work does so because there is some. What several threads see counts once. Time of which
 * nobody knows does not count, so that there may have been more work, and not less; except that a stream
 * may also have had to wait for something that is no work of the GPU, as a host function is. */
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
    uint64_t known_to; /* all that is counted lies before */
    unsigned waiting;  /* threads */
    uint64_t waiting_since;
    bool is_measured; /* what the GPU has done is known from events, and nothing is concluded */
    _Atomic bool is_followed; /* the session looks at it now and then, and need not be told */
};

void usage_init(struct usage *usage);

/* There was work without a gap, and so many calls have given the GPU more. */
void usage_saw(struct usage *usage, uint64_t from, uint64_t to, unsigned launches);

/* From now on the busy time comes from usage_measured, or not any more. */
void usage_measure(struct usage *usage, bool is_measured);
void usage_measured(struct usage *usage, uint64_t busy_ns);

/* A thread begins to wait for work; and has waited, until the moment that is returned. */
void usage_wait_begins(struct usage *usage);
uint64_t usage_wait_ends(struct usage *usage);

/* Whether a thread waits now. */
bool usage_is_waiting(struct usage *usage);

/* With the waits that go on. Never less than before. */
struct usage_totals usage_read(struct usage *usage);

#endif
