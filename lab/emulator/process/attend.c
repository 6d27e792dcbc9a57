/* Operations at the head of a queue that the GPU cannot end by itself: host functions of the
 * program, and streams or spinning kernels that wait for a word of memory to change.
 *
 * Functions have a thread of their own, and run there one by one (documented: those of streams
 * without an order between them may be serialised). A function may wait for a call of another
 * thread, and for the work that this call gives the GPU; so the worker goes on meanwhile. The
 * worker polls words. */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include "../model/engine.h"
#include "worker_state.h"

static struct operation *head_of_queue(struct queue *queue) {
    return &queue->operations[queue->completed % QUEUE_SLOTS];
}

static struct local_operation *local_head(struct worker *worker, uint32_t q) {
    uint64_t completed = driver_slot()->queues[q].completed;
    return &worker->queues[q]->operations[completed % QUEUE_SLOTS];
}

/* With the node's lock held. A kernel is not due before it has been on the engine. */
static bool is_due(struct worker *worker, uint32_t q) {
    struct queue *queue = &driver_slot()->queues[q];
    const struct operation *head = head_of_queue(queue);
    if (!worker->queues[q] || queue->completed >= queue->submitted || head->host_done)
        return false;
    if (head->kind == OPERATION_HOST)
        return head->host_ready;
    return head->flags & OPERATION_UNTIL_TOLD && engine_is_under_way(driver->node, driver->slot, q);
}

static bool is_function_due(struct worker *worker, uint32_t q) {
    node_lock(driver->node);
    bool due = is_due(worker, q) && local_head(worker, q)->function;
    node_unlock(driver->node);
    return due;
}

/* Until this is called the queue does not advance, unless its context has died. */
static void is_over(uint32_t q, uint64_t number) {
    struct queue *queue = &driver_slot()->queues[q];
    node_lock(driver->node);
    if (queue->completed == number)
        head_of_queue(queue)->host_done = 1;
    node_unlock(driver->node);
}

static bool run_functions(struct worker *worker) {
    bool any = false;
    for (uint32_t q = 0; q < driver_slot()->queue_limit; q++) {
        if (!is_function_due(worker, q))
            continue;
        worker_pump(); /* earlier work in any stream must be visible to the function */
        uint64_t number = driver_slot()->queues[q].completed;
        const struct local_operation *local = local_head(worker, q);
        local->function(local->effect.data);
        is_over(q, number);
        alert_worker(worker);
        any = true;
    }
    return any;
}

static void *run_host_thread(void *argument) {
    struct worker *worker = argument;
    prctl(PR_SET_NAME, "nvshare-emu-fn");
    for (;;) {
        pthread_mutex_lock(&worker->sleep);
        while (!worker->has_functions)
            pthread_cond_wait(&worker->functions, &worker->sleep);
        worker->has_functions = false;
        pthread_mutex_unlock(&worker->sleep);
        while (run_functions(worker))
            continue;
    }
    return NULL;
}

static bool has_host_thread(struct worker *worker) {
    pthread_t thread;
    sigset_t all, before; /* the program's signals are for the program's threads */
    if (worker->has_host_thread)
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    worker->has_host_thread = pthread_create(&thread, NULL, run_host_thread, worker) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (worker->has_host_thread)
        pthread_detach(thread);
    return worker->has_host_thread;
}

static bool any_function_is_due(struct worker *worker) {
    for (uint32_t q = 0; q < driver_slot()->queue_limit; q++)
        if (is_function_due(worker, q))
            return true;
    return false;
}

void attend_to_functions(struct worker *worker) {
    if (!any_function_is_due(worker) || !has_host_thread(worker))
        return;
    pthread_mutex_lock(&worker->sleep);
    worker->has_functions = true;
    pthread_cond_signal(&worker->functions);
    pthread_mutex_unlock(&worker->sleep);
}

/* Holds `effects`, since carrying out an effect would free the data that `poll` reads. */
static bool look(struct worker *worker, uint32_t q) {
    pthread_mutex_lock(&worker->effects);
    node_lock(driver->node);
    struct local_operation local = {0};
    uint64_t number = driver_slot()->queues[q].completed;
    if (is_due(worker, q))
        local = *local_head(worker, q);
    node_unlock(driver->node);
    bool over = local.poll && local.poll(local.effect.data);
    if (over)
        is_over(q, number);
    pthread_mutex_unlock(&worker->effects);
    return over;
}

bool attend_to_words(struct worker *worker) {
    bool any = false;
    for (uint32_t q = 0; q < driver_slot()->queue_limit; q++)
        any |= worker->queues[q] && look(worker, q);
    return any;
}
