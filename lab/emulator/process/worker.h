/* The process's side of its queues: what happens in this process when the model says that an
 * operation is done, and the thread that sees to it when nobody else does. */
#ifndef NVSHARE_EMULATOR_WORKER_H
#define NVSHARE_EMULATOR_WORKER_H

#include "driver.h"

/* What to do in the process once an operation is done by the model: move the bytes, note the time.
 * `run` is called once, in the order in which operations finish; `data` is its own to free. */
struct effect {
    void (*run)(void *data, uint64_t finished_at);
    void *data;
    bool eager; /* somebody may look at the result without asking the driver first */
    bool work;  /* the GPU's: a context that is dead does none, and `data` is freed instead */
    struct reach *reach; /* where the work goes (reach.h), or NULL; freed with it */
};

/* Carries an effect out where nothing takes time (NVSHARE_EMULATOR_MODEL=off). */
void effect_at_once(uint32_t queue, struct effect effect);

/* Starts the thread, which joins the node on the process's behalf. Returns 0 or negative errno. */
int worker_start(struct driver *new_driver);
void worker_release(struct worker *worker); /* once `driver` is set */

/* Queues of the node, for streams. Opening never fails: past the last, queues are shared. */
uint32_t queue_open(uint32_t gpu, uint32_t context, int priority);
void queue_close(uint32_t queue);

/* Hands an operation to a queue, waiting for room when it is full; returns its ticket. */
uint64_t queue_push(uint32_t queue, const struct operation *operation,
                    const struct reference *references, struct effect effect);

/* The ticket of the newest operation; and whether a ticket's effects have been carried out. */
uint64_t queue_newest(uint32_t queue);
bool queue_reached(uint32_t queue, uint64_t ticket);
void queue_wait(uint32_t queue, uint64_t ticket);

/* Waits until the call that a prefetch stands for would return. Returns 0, or the negative errno that
 * it failed with. */
int queue_wait_issued(uint32_t queue, uint64_t ticket);

/* Carries out the effects of all that is done by now. */
void worker_pump(void);

/* Around every change of what is mapped where, and who may reach it. Work that is done by then is
 * judged by what there was before; work under way by both, and work that has yet to begin by what it
 * finds. The driver's lock is held in between. */
void mappings_begin_change(void);
void mappings_end_change(void);

/* A function of the user's, run when its queue has come to it. */
typedef void host_function(void *data);
uint64_t queue_push_host(uint32_t queue, host_function *function, void *data);

/* An operation that is over when `poll` says so, which is asked again and again from when the queue has come to it. It is
 * called with effect.data. No effect is carried out meanwhile. */
typedef bool poll_function(void *data);
uint64_t queue_push_poll(uint32_t queue, const struct operation *operation,
                         const struct reference *references, struct effect effect,
                         poll_function *poll);

#endif
