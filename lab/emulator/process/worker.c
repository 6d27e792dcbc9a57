/* The process's side of its queues, and the thread that looks after them.
 *
 * A thread that waits for the GPU advances the model itself and carries out the effects of finished
 * operations, so that no time is lost in switching threads. The worker does the same for operations
 * that no thread waits for, and has host functions run. Its life shows the node that the process
 * lives. */
#define _GNU_SOURCE
#include "worker_state.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "../model/engine.h"
#include "context.h"
#include "host_limit.h"

/* The end of a wait is spent yielding: a machine wakes a sleeper some 60 µs late, and the GPU would
 * be late by that times the speed of the node. Real ns. */
#define SHORT_WAIT_NS 120000
/* The interval for checking a wait whose end is not known. Real ns. */
#define LONG_WAIT_NS 2000000

/* The interval at which a process with a limit checks its usage. Real ns. */
#define LIMIT_GLANCE_NS 10000000

static struct queue *shared_queue(uint32_t queue) {
    return &driver_slot()->queues[queue];
}

static uint64_t real_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Sleeps on a condition until a real instant. The timer slack of 50 µs would be milliseconds of
 * emulated time, so the thread turns it off for this sleep. */
static void sleep_until(struct worker *worker, pthread_cond_t *condition, uint64_t real) {
    struct timespec until = {(time_t)(real / 1000000000u), (long)(real % 1000000000u)};
    int slack = prctl(PR_GET_TIMERSLACK), before;
    prctl(PR_SET_TIMERSLACK, 1);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before); /* it has the lock */
    pthread_cond_timedwait(condition, &worker->sleep, &until);
    pthread_setcancelstate(before, &before);
    if (slack > 0)
        prctl(PR_SET_TIMERSLACK, slack);
}

/* The queue whose oldest finished operation finished first, or NO_INDEX. */
static uint32_t next_to_reap(struct worker *worker) {
    uint32_t best = NO_INDEX;
    uint64_t best_completion = UINT64_MAX;
    uint32_t limit = driver_slot()->queue_limit;
    for (uint32_t q = 0; q < limit; q++) {
        const struct queue *queue = shared_queue(q);
        uint64_t completed = __atomic_load_n(&queue->completed, __ATOMIC_ACQUIRE);
        if (!worker->queues[q] || queue->reaped >= completed)
            continue;
        uint64_t completion = queue->operations[queue->reaped % QUEUE_SLOTS].completion;
        if (completion < best_completion) {
            best_completion = completion;
            best = q;
        }
    }
    return best;
}

static void carry_out(struct worker *worker, uint32_t q, struct effect effect, uint64_t finished_at,
                      bool abandoned) {
    abandoned |= worker->queues[q]->dead;
    if (__builtin_expect(effect.reach != NULL, 0)) {
        if (!abandoned)
            abandoned = !judge(worker, q, effect.reach);
        free(effect.reach);
    }
    if (effect.work && abandoned)
        free(effect.data);
    else if (effect.run)
        effect.run(effect.data, finished_at);
}

void effect_at_once(uint32_t queue, struct effect effect) {
    if (!effect.work && !effect.reach) { /* an event: it reaches no memory */
        if (effect.run)
            effect.run(effect.data, 0);
        return;
    }
    pthread_mutex_lock(&driver->worker->effects);
    carry_out(driver->worker, queue, effect, 0, false);
    pthread_mutex_unlock(&driver->worker->effects);
}

static void reap(struct worker *worker, uint32_t q) {
    struct queue *queue = shared_queue(q);
    uint64_t number = queue->reaped;
    struct local_operation *local = &worker->queues[q]->operations[number % QUEUE_SLOTS];
    struct effect effect = local->effect;
    const struct operation *operation = &queue->operations[number % QUEUE_SLOTS];
    local->effect = (struct effect){0};
    if (__builtin_expect(queue->failed, 0))
        context_fail(queue->context, CUDA_ERROR_ILLEGAL_ADDRESS);
    carry_out(worker, q, effect, operation->finished_at, operation->abandoned);
    __atomic_store_n(&queue->reaped, number + 1, __ATOMIC_RELEASE);
}

void announce_progress(struct worker *worker) {
    pthread_mutex_lock(&worker->sleep);
    pthread_cond_broadcast(&worker->progress);
    pthread_mutex_unlock(&worker->sleep);
}

bool reap_finished(struct worker *worker) {
    bool any = false;
    for (uint32_t q; (q = next_to_reap(worker)) != NO_INDEX; any = true)
        reap(worker, q);
    return any;
}

static void reap_all(struct worker *worker) {
    pthread_mutex_lock(&worker->effects);
    bool any = reap_finished(worker);
    pthread_mutex_unlock(&worker->effects);
    if (any)
        announce_progress(worker);
}

void worker_pump(void) {
    if (!driver->model)
        return;
    node_lock(driver->node);
    node_unlock(driver->node);
    reap_all(driver->worker);
}

uint64_t queue_newest(uint32_t q) {
    return __atomic_load_n(&shared_queue(q)->submitted, __ATOMIC_ACQUIRE);
}

bool queue_reached(uint32_t q, uint64_t ticket) {
    return __atomic_load_n(&shared_queue(q)->reaped, __ATOMIC_ACQUIRE) >= ticket;
}

/* The earliest real time at which a ticket may be reached. */
static uint64_t soonest(uint32_t q, uint64_t ticket) {
    node_lock(driver->node);
    uint64_t left = engine_soonest(driver->node, driver->slot, q, ticket);
    node_unlock(driver->node);
    uint64_t real = (uint64_t)((double)left / driver->node->profile.speed);
    return real_now() + (real < LONG_WAIT_NS * 500ull ? real : LONG_WAIT_NS * 500ull);
}

/* The end of an operation is unknown while it waits for another queue, for its copies, for the host
 * or for a word of memory. */
static bool end_is_unknown(uint32_t q) {
    const struct queue *queue = shared_queue(q);
    uint64_t completed = __atomic_load_n(&queue->completed, __ATOMIC_ACQUIRE);
    const struct operation *head = &queue->operations[completed % QUEUE_SLOTS];
    return head->kind == OPERATION_WAIT || head->kind == OPERATION_HOST ||
           (head->kind == OPERATION_WORK &&
            (head->stretch == STRETCH_WAITING || head->flags & OPERATION_UNTIL_TOLD));
}

void queue_wait(uint32_t q, uint64_t ticket) {
    struct worker *worker = driver->worker;
    if (!driver->model)
        return;
    for (;;) {
        uint64_t until = soonest(q, ticket);
        reap_all(worker);
        if (queue_reached(q, ticket))
            return;
        uint64_t now = real_now();
        if (until < now + SHORT_WAIT_NS && !end_is_unknown(q)) {
            sched_yield();
            continue;
        }
        if (end_is_unknown(q))
            until = now + LONG_WAIT_NS / 20;
        else
            until -= SHORT_WAIT_NS;
        pthread_mutex_lock(&worker->sleep);
        if (!queue_reached(q, ticket))
            sleep_until(worker, &worker->progress, until);
        pthread_mutex_unlock(&worker->sleep);
    }
}

int queue_wait_issued(uint32_t q, uint64_t ticket) {
    struct worker *worker = driver->worker;
    if (!driver->model || !ticket)
        return 0;
    for (;;) {
        int error;
        node_lock(driver->node);
        bool issued = engine_is_issued(driver->node, driver->slot, q, ticket, &error);
        uint64_t left = engine_issue_soonest(driver->node, driver->slot, q, ticket);
        node_unlock(driver->node);
        reap_all(worker);
        if (issued)
            return error;
        uint64_t real = (uint64_t)((double)left / driver->node->profile.speed);
        if (real < SHORT_WAIT_NS) {
            sched_yield();
            continue;
        }
        pthread_mutex_lock(&worker->sleep);
        sleep_until(worker, &worker->progress, real_now() + real - SHORT_WAIT_NS);
        pthread_mutex_unlock(&worker->sleep);
    }
}

void alert_worker(struct worker *worker) {
    pthread_mutex_lock(&worker->sleep);
    worker->changes++;
    pthread_cond_signal(&worker->alarm);
    pthread_mutex_unlock(&worker->sleep);
}

static uint64_t push(uint32_t q, const struct operation *operation,
                     const struct reference *references, struct local_operation local) {
    struct worker *worker = driver->worker;
    struct queue *queue = shared_queue(q);
    for (;;) {
        node_lock(driver->node);
        if (engine_has_room(driver->node, queue, operation->references))
            break;
        uint64_t oldest = queue->reaped + 1;
        node_unlock(driver->node);
        queue_wait(q, oldest);
    }
    worker->queues[q]->operations[queue->submitted % QUEUE_SLOTS] = local;
    uint64_t ticket = engine_submit(driver->node, driver->slot, q, operation, references);
    bool urgent = local.effect.eager || local.function || local.poll;
    if (urgent)
        worker->queues[q]->urgent = ticket;
    node_unlock(driver->node);
    if (urgent)
        alert_worker(worker);
    return ticket;
}

uint64_t queue_push(uint32_t q, const struct operation *operation,
                    const struct reference *references, struct effect effect) {
    return push(q, operation, references, (struct local_operation){.effect = effect});
}

uint64_t queue_push_host(uint32_t q, host_function *function, void *data) {
    struct operation operation = {.kind = OPERATION_HOST};
    struct local_operation local = {.effect = {.data = data}, .function = function};
    return push(q, &operation, NULL, local);
}

uint64_t queue_push_poll(uint32_t q, const struct operation *operation,
                         const struct reference *references, struct effect effect,
                         poll_function *poll) {
    return push(q, operation, references, (struct local_operation){.effect = effect, .poll = poll});
}

/* The time at which the worker has to look again. */
static uint64_t next_alarm(struct worker *worker) {
    uint64_t next = UINT64_MAX;
    for (uint32_t q = 0; q < driver_slot()->queue_limit; q++) {
        const struct local_queue *local = worker->queues[q];
        if (!local || queue_reached(q, local->urgent))
            continue;
        uint64_t ticket = shared_queue(q)->reaped + 1;
        uint64_t when = soonest(q, ticket);
        if (end_is_unknown(q))
            when = real_now() + LONG_WAIT_NS / 20;
        if (when < next)
            next = when;
    }
    return next;
}

static void work(struct worker *worker) {
    for (;;) {
        pthread_mutex_lock(&worker->sleep);
        uint64_t seen = worker->changes;
        pthread_mutex_unlock(&worker->sleep);
        worker_pump();
        attend_to_functions(worker);
        if (attend_to_words(worker))
            continue;
        uint64_t alarm = next_alarm(worker);
        if (host_limit_exists()) {
            host_limit_enforce();
            uint64_t again = real_now() + LIMIT_GLANCE_NS;
            alarm = alarm < again ? alarm : again;
        }
        pthread_mutex_lock(&worker->sleep);
        if (seen == worker->changes) {
            if (alarm == UINT64_MAX)
                pthread_cond_wait(&worker->alarm, &worker->sleep);
            else
                sleep_until(worker, &worker->alarm, alarm);
        }
        pthread_mutex_unlock(&worker->sleep);
    }
}

struct start {
    struct driver *driver;
    struct worker *worker;
};

static void *run_worker(void *argument) {
    struct start start = *(struct start *)argument;
    prctl(PR_SET_NAME, "nvshare-emu");
    int slot = node_join(start.driver->node);
    pthread_mutex_lock(&start.worker->sleep);
    start.worker->join_result = slot;
    start.worker->started = true;
    pthread_cond_broadcast(&start.worker->progress);
    while (slot >= 0 && !start.worker->released)
        pthread_cond_wait(&start.worker->progress, &start.worker->sleep);
    pthread_mutex_unlock(&start.worker->sleep);
    if (slot >= 0)
        work(start.worker);
    return NULL;
}

static void init_condition(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

int worker_start(struct driver *new_driver) {
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return -ENOMEM;
    pthread_mutex_init(&worker->effects, NULL);
    pthread_mutex_init(&worker->sleep, NULL);
    init_condition(&worker->progress);
    init_condition(&worker->alarm);
    init_condition(&worker->functions);
    struct start start = {new_driver, worker}; /* the thread copies it before it says `started` */
    sigset_t all, before; /* the program's signals are for the program's threads */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&worker->thread, NULL, run_worker, &start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return -error;
    pthread_mutex_lock(&worker->sleep);
    while (!worker->started)
        pthread_cond_wait(&worker->progress, &worker->sleep);
    pthread_mutex_unlock(&worker->sleep);
    if (worker->join_result < 0)
        return worker->join_result;
    new_driver->slot = (uint32_t)worker->join_result;
    new_driver->worker = worker;
    return 0;
}

void worker_release(struct worker *worker) {
    pthread_mutex_lock(&worker->sleep);
    worker->released = true;
    pthread_cond_broadcast(&worker->progress);
    pthread_mutex_unlock(&worker->sleep);
}
