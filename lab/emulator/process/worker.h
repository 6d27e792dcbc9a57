/* The process's side of its queues: the effects in this process when the model finishes an
 * operation, and the worker thread, which carries them out when no other thread does. */
#ifndef NVSHARE_EMULATOR_WORKER_H
#define NVSHARE_EMULATOR_WORKER_H

#include "driver.h"

/* The action in the process once the model has finished an operation: move the bytes, note the
 * time. `run` is called once, in the order in which operations finish, and frees `data`. */
struct effect {
    void (*run)(void *data, uint64_t finished_at);
    void *data;
    bool eager;          /* the result may be read without a call of the driver */
    bool work;           /* of the GPU: a dead context does none, and `data` is freed instead */
    struct reach *reach; /* the addresses that it reaches (reach.h), or NULL; freed with it */
};

/* Carries an effect out at once, if nothing takes time (NVSHARE_EMULATOR_MODEL=off). */
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

/* Waits until a real call of a prefetch would return. Returns 0, or the negative errno that it
 * failed with. */
int queue_wait_issued(uint32_t queue, uint64_t ticket);

/* Carries out the effects of all finished operations. */
void worker_pump(void);

/* Called before and after every change of mappings or of access to them. Finished work is judged by
 * the mappings before the change, work under way by both, and later work by those that it finds.
 * The driver's lock is held in between. */
void mappings_begin_change(void);
void mappings_end_change(void);

/* A host function of the program, run when its queue reaches it. */
typedef void host_function(void *data);
uint64_t queue_push_host(uint32_t queue, host_function *function, void *data);

/* An operation that is over when `poll` says so. From the time when the queue reaches the
 * operation, `poll` is called repeatedly with effect.data. No effect is carried out during a
 * call. */
typedef bool poll_function(void *data);
uint64_t queue_push_poll(uint32_t queue, const struct operation *operation,
                         const struct reference *references, struct effect effect,
                         poll_function *poll);

#endif
