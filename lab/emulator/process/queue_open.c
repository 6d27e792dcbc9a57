/* The choice of a queue for a stream. */
#include <stdlib.h>

#include "worker_state.h"

/* Streams of one context and priority get so many queues; further streams share them. A GPU has up
 * to 32 for all of a context, of which a program gets 8 unless it asks for more. Frameworks make
 * hundreds of streams, and use a few. */
enum { QUEUES_PER_PRIORITY = 16 };

/* The queues of the process that a new stream can choose from. */
struct prospect {
    uint32_t free;       /* an unused one, or NO_INDEX */
    uint32_t free_count; /* the number of unused ones */
    uint32_t same;       /* the least used one of the same context and priority, or NO_INDEX */
    uint32_t same_count;
    uint32_t similar; /* of the same context */
};

static bool is_free(const struct local_queue *local, const struct queue *queue) {
    return !local || (local->users == 0 && queue->reaped == queue->submitted);
}

static bool is_less_used(struct worker *worker, uint32_t q, uint32_t than) {
    return than == NO_INDEX || worker->queues[q]->users < worker->queues[than]->users;
}

static struct prospect look_around(struct worker *worker, const struct slot *slot, uint32_t gpu,
                                   uint32_t context, int priority) {
    struct prospect found = {.free = NO_INDEX, .same = NO_INDEX, .similar = NO_INDEX};
    for (uint32_t q = MAX_QUEUES; q-- > 0;) {
        const struct queue *queue = &slot->queues[q];
        if (is_free(worker->queues[q], queue)) {
            found.free = q;
            found.free_count++;
            continue;
        }
        if (queue->gpu != gpu || queue->context != context || !worker->queues[q]->users)
            continue;
        if (is_less_used(worker, q, found.similar))
            found.similar = q;
        if (queue->priority != priority)
            continue;
        found.same_count++;
        if (is_less_used(worker, q, found.same))
            found.same = q;
    }
    return found;
}

/* The last free queues are for contexts that have none: every GPU may need one. */
static uint32_t choose(const struct prospect *found) {
    bool plenty = found->free_count > MAX_GPUS;
    if (found->similar == NO_INDEX || (plenty && found->same_count < QUEUES_PER_PRIORITY))
        return found->free;
    return found->same != NO_INDEX ? found->same : found->similar;
}

uint32_t queue_open(uint32_t gpu, uint32_t context, int priority) {
    struct worker *worker = driver->worker;
    struct slot *slot = driver_slot();
    node_lock(driver->node);
    struct prospect found = look_around(worker, slot, gpu, context, priority);
    uint32_t q = choose(&found);
    if (q != NO_INDEX && q == found.free) {
        if (!worker->queues[q])
            worker->queues[q] = calloc(1, sizeof(struct local_queue));
        struct queue *queue = &slot->queues[q];
        queue->gpu = (uint8_t)gpu;
        queue->context = context;
        queue->priority = (int16_t)priority;
        queue->failed = 0;
        if (worker->queues[q])
            worker->queues[q]->dead = false;
        if (q >= slot->queue_limit)
            slot->queue_limit = q + 1;
        queue->in_use = 1;
    }
    if (q != NO_INDEX && worker->queues[q])
        worker->queues[q]->users++;
    node_unlock(driver->node);
    return q;
}

void queue_close(uint32_t q) {
    node_lock(driver->node);
    driver->worker->queues[q]->users--;
    node_unlock(driver->node);
}
