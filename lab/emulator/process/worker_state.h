/* What worker.c and queue_open.c share: the process's side of its queues. */
#ifndef NVSHARE_EMULATOR_WORKER_STATE_H
#define NVSHARE_EMULATOR_WORKER_STATE_H

#include "worker.h"

struct local_operation {
    struct effect effect;
    host_function *function; /* of the user's, with its data in effect.data */
    poll_function *poll;     /* whether what is waited for has come; the same data */
};

struct local_queue {
    struct local_operation operations[QUEUE_SLOTS];
    uint32_t users;  /* streams that share it */
    uint64_t urgent; /* tickets up to here must be seen to without being asked */
    bool dead;       /* its context went where there is no memory */
};

struct worker {
    pthread_t thread;
    pthread_mutex_t effects;  /* held while effects are carried out */
    pthread_mutex_t sleep;    /* guards the two conditions */
    pthread_cond_t progress;  /* for those who wait */
    pthread_cond_t alarm;     /* for the worker */
    pthread_cond_t functions; /* for the thread of the user's functions */
    bool has_functions;       /* for it to run */
    bool has_host_thread;
    bool started;  /* has joined the node, or failed to */
    bool released; /* the driver is ready for it */
    int join_result;
    uint64_t changes; /* counts up with every push that needs the worker */
    struct local_queue *queues[MAX_QUEUES];
};

/* With `effects` held: carries out the effects of all that is done; does the work of a queue go where
 * there is memory? If not, its context dies, and what it has not done yet is not done. */
bool reap_finished(struct worker *worker);
bool judge(struct worker *worker, uint32_t queue, const struct reach *reach);

/* attend.c: what the GPU cannot end by itself. Functions of the user's whose turn has come are run by a thread of their
 * own; words that somebody waits for are looked at. Returns whether any wait is over. */
void attend_to_functions(struct worker *worker);
bool attend_to_words(struct worker *worker);

/* To those who wait, and to the worker. */
void announce_progress(struct worker *worker);
void alert_worker(struct worker *worker);

#endif
