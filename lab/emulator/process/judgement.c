/* Work that reaches addresses without memory, or with memory that its GPU may not reach.
 *
 * Mappings change only by calls of this process, and each of them judges work first. Finished work
 * is judged by the mappings before the call; work under way, by the mappings before and after it.
 * Work that ends between two such calls is judged by the mappings that the first one left. So no
 * thread has to act when an operation begins or ends. Assumed: work that is under way goes to all
 * of its addresses until its end, and the error shows when it would have ended, or when its memory
 * goes. */
#include <stdio.h>

#include "../model/cancel.h"
#include "../model/engine.h"
#include "context.h"
#include "reach.h"
#include "worker_state.h"

/* All queues of the context are dead from here on. */
static void die(struct worker *worker, uint32_t gpu, uint32_t context) {
    node_lock(driver->node);
    cancel_context(driver->node, driver->slot, gpu, context);
    for (uint32_t q = 0; q < driver_slot()->queue_limit; q++) {
        const struct queue *queue = &driver_slot()->queues[q];
        if (worker->queues[q] && queue->gpu == gpu && queue->context == context)
            worker->queues[q]->dead = true;
    }
    node_unlock(driver->node);
    context_fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
}

bool judge(struct worker *worker, uint32_t q, const struct reach *reach) {
    uint64_t where;
    driver_lock();
    bool good = reach_is_there(reach, &where);
    driver_unlock();
    if (good)
        return true;
    const struct queue *queue = &driver_slot()->queues[q];
    fprintf(stderr,
            "nvshare emulator: GPU %u accessed 0x%llx, where no memory is mapped: the context is "
            "dead\n",
            queue->gpu, (unsigned long long)where);
    die(worker, queue->gpu, queue->context);
    return false;
}

static void judge_what_is_under_way(struct worker *worker) {
    for (uint32_t q = 0; q < driver_slot()->queue_limit; q++) {
        const struct queue *queue = &driver_slot()->queues[q];
        if (!worker->queues[q] || worker->queues[q]->dead)
            continue;
        node_lock(driver->node);
        bool under_way = engine_is_under_way(driver->node, driver->slot, q);
        const struct reach *reach =
            worker->queues[q]->operations[queue->completed % QUEUE_SLOTS].effect.reach;
        node_unlock(driver->node);
        if (under_way && reach)
            judge(worker, q, reach);
    }
}

static bool is_doomed(const struct local_queue *local, uint64_t number) {
    const struct reach *reach = local->operations[number % QUEUE_SLOTS].effect.reach;
    uint64_t where;
    return reach && !reach_is_there(reach, &where);
}

/* Makes work urgent that will go astray: NVML must report it even if no thread waits for it. */
static void have_the_doomed_looked_after(struct worker *worker) {
    bool any = false;
    driver_lock();
    node_lock(driver->node);
    for (uint32_t q = 0; q < driver_slot()->queue_limit; q++) {
        const struct queue *queue = &driver_slot()->queues[q];
        struct local_queue *local = worker->queues[q];
        for (uint64_t i = queue->reaped; local && i < queue->submitted; i++) {
            if (!is_doomed(local, i))
                continue;
            any = true;
            if (local->urgent < i + 1)
                local->urgent = i + 1;
        }
    }
    node_unlock(driver->node);
    driver_unlock();
    if (any)
        alert_worker(worker);
}

void mappings_begin_change(void) {
    struct worker *worker = driver->worker;
    pthread_mutex_lock(&worker->effects);
    if (driver->model) {
        node_lock(driver->node);
        node_unlock(driver->node);
        reap_finished(worker);
        judge_what_is_under_way(worker);
    }
    driver_lock();
}

void mappings_end_change(void) {
    struct worker *worker = driver->worker;
    driver_unlock();
    if (driver->model) {
        judge_what_is_under_way(worker);
        have_the_doomed_looked_after(worker);
    }
    pthread_mutex_unlock(&worker->effects);
    if (driver->model)
        announce_progress(worker);
}
