/* State that worker.c and queue_open.c share: the process's side of its queues. */
#ifndef NVSHARE_EMULATOR_WORKER_STATE_H
#define NVSHARE_EMULATOR_WORKER_STATE_H

#include "worker.h"

struct local_operation {
    struct effect effect;
    host_function *function; /* of the program, with its data in effect.data */
    poll_function *poll;     /* whether the wait is over; the same data */
};

struct local_queue {
    struct local_operation operations[QUEUE_SLOTS];
    uint32_t users;  /* streams that share it */
    uint64_t urgent; /* tickets up to here need the worker, without any query */
    bool dead;       /* its context accessed an address without memory */
};

struct worker {
    pthread_t thread;
    pthread_mutex_t effects;  /* held while effects are carried out */
    pthread_mutex_t sleep;    /* guards the two conditions */
    pthread_cond_t progress;  /* for waiting threads */
    pthread_cond_t alarm;     /* for the worker */
    pthread_cond_t functions; /* for the thread of the program's functions */
    bool has_functions;       /* for it to run */
    bool has_host_thread;
    bool started;  /* has joined the node, or failed to */
    bool released; /* the driver is ready for it */
    int join_result;
    uint64_t changes; /* counts up with every push that needs the worker */
    struct local_queue *queues[MAX_QUEUES];
};

/* With `effects` held. The first carries out the effects of all finished operations. The second
 * tells whether all addresses in `reach` have memory; if not, the context dies, and its remaining
 * work is dropped. */
bool reap_finished(struct worker *worker);
bool judge(struct worker *worker, uint32_t queue, const struct reach *reach);

/* attend.c: operations that the GPU cannot end by itself. A separate thread runs the program's
 * functions that are due. Words that a wait is for are polled; returns whether any wait is over. */
void attend_to_functions(struct worker *worker);
bool attend_to_words(struct worker *worker);

/* Wake the waiting threads, and the worker. */
void announce_progress(struct worker *worker);
void alert_worker(struct worker *worker);

#endif
