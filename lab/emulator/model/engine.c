/* The model of time: the progress of the GPUs up to now.
 *
 * A discrete-event simulation; each process that looks advances it to now. At any instant a GPU
 * runs
 *  - one context on the compute engine; contexts with work take turns in slices, and every change
 *    from one to another costs the profile's switch time;
 *  - any number of transfers on the two directions of the bus, which share it equally. The copies
 *    of managed memory to the host are one transfer, for all processes;
 *  - the thread that serves page faults. Those of kernels come one by one, because they hold the
 *    compute engine (compute.c); those of copies share the thread with them.
 * Besides, threads of processes prefetch independently.
 * Between two events only the remaining work changes, so the clock jumps from event to event. */
#include "engine.h"

#include <math.h>
#include <string.h>

#include "activity.h"
#include "busy.h"
#include "compute.h"
#include "migrate.h"
#include "stretch.h"

/* The activity of one GPU at one instant. */
struct demand {
    uint32_t transfers_in, transfers_out;
    uint32_t faults;        /* of copies; they delay no kernel */
    uint32_t kernel_faults; /* being served: one or none */
    uint64_t next_ready;    /* the earliest submission that is still on its way, or UINT64_MAX */
};

static void count_work(struct gpu *gpu, struct account *account,
                       const struct operation *operation) {
    if (operation->engine == ENGINE_COMPUTE) {
        account->kernels++;
    } else if (operation->engine == ENGINE_BUS_IN) {
        gpu->in_bytes += operation->amount;
        account->in_bytes += operation->amount;
    } else if (operation->engine == ENGINE_BUS_OUT) {
        gpu->out_bytes += operation->amount;
        account->out_bytes += operation->amount;
    }
}

static void complete(struct node *node, struct gpu *gpu, struct slot *slot, struct queue *queue,
                     struct operation *operation) {
    node->waits_across -= operation->across;
    if (operation->kind == OPERATION_WORK)
        count_work(gpu, &slot->accounts[queue->gpu], operation);
    operation->finished_at = gpu->clock;
    operation->completion = ++node->completions;
    queue->references_done = operation->first_reference + operation->references;
    /* From here on it counts as done: for its process, which reads this without the lock, and after
     * a crash. */
    __atomic_store_n(&queue->completed, queue->completed + 1, __ATOMIC_RELEASE);
}

enum outcome { STUCK, WENT_ON, DONE };

static enum outcome continue_prefetch(const struct place *place, struct operation *operation) {
    operation->stretch = STRETCH_PLAIN;
    bool any = migrate_step(place, operation);
    return migrate_is_over(operation) ? DONE : any ? WENT_ON : STUCK;
}

static enum outcome continue_work(const struct place *place, struct operation *operation) {
    if (operation->stretch == STRETCH_WAITING && !stretch_is_waiting(place, operation))
        operation->left = 0;
    if (compute_is_spinning(operation) && operation->host_done)
        operation->left = 0;
    if (operation->stretch != STRETCH_FIRST && operation->left > 0)
        return STUCK;
    bool goes_on = stretch_next(place, operation);
    operation->abandoned = place->queue->failed != 0;
    return goes_on && !operation->abandoned ? STUCK : DONE;
}

/* Nothing of a dead context runs except host functions: a thread may wait for these. */
static enum outcome end_failed(const struct place *place, struct operation *operation) {
    if (operation->kind == OPERATION_PREFETCH)
        migrate_abandon(place, operation);
    operation->host_ready = operation->kind == OPERATION_HOST;
    operation->abandoned = 1;
    return operation->kind != OPERATION_HOST || operation->host_done ? DONE : STUCK;
}

/* Advances the operation at the head as far as possible without time passing. */
static enum outcome continue_head(struct node *node, struct gpu *gpu, uint32_t slot_index,
                                  struct queue *queue) {
    struct slot *slot = &node->slots[slot_index];
    struct operation *operation = head_of(queue);
    if (operation->ready_at > gpu->clock)
        return STUCK;
    struct place place = {node, slot, queue, slot_index, queue->gpu};
    if (queue->failed)
        return end_failed(&place, operation);
    switch (operation->kind) {
    case OPERATION_MARKER: return DONE;
    case OPERATION_WAIT:
        return slot->queues[operation->wait_queue % MAX_QUEUES].completed >= operation->wait_ticket
                   ? DONE
                   : STUCK;
    case OPERATION_HOST: operation->host_ready = 1; return operation->host_done ? DONE : STUCK;
    default: break;
    }
    if (operation->stretch == STRETCH_FIRST)
        operation->started_at = gpu->clock;
    return operation->kind == OPERATION_PREFETCH ? continue_prefetch(&place, operation)
                                                 : continue_work(&place, operation);
}

/* Completes all operations that can be completed now; each may release another queue. Returns
 * whether there was any. */
static bool complete_ready(struct node *node, struct gpu *gpu) {
    bool any = false;
    for (bool progress = true; progress; any |= progress) {
        progress = false;
        for (uint32_t i = 0; i < gpu->active_count;) {
            struct active_queue at = gpu->active[i];
            struct queue *queue = &node->slots[at.slot].queues[at.queue];
            enum outcome outcome = DONE;
            while (queue->completed < queue->submitted && outcome == DONE) {
                outcome = continue_head(node, gpu, at.slot, queue);
                if (outcome == DONE)
                    complete(node, gpu, &node->slots[at.slot], queue, head_of(queue));
                progress |= outcome != STUCK;
            }
            if (queue->completed == queue->submitted)
                deactivate(node, gpu, i);
            else
                i++;
        }
    }
    return any;
}

/* The same for all GPUs, along chains of waits in any order. */
static void complete_everywhere(struct node *node) {
    for (bool progress = true; progress;) {
        progress = false;
        for (uint32_t g = 0; g < node->profile.gpu_count; g++)
            progress |= complete_ready(node, &node->gpus[g]);
    }
}

static bool is_running(const struct gpu *gpu, const struct operation *operation) {
    return operation->kind >= OPERATION_WORK && operation->ready_at <= gpu->clock;
}

static bool copies_out(const struct gpu *gpu) {
    return !out_reached(gpu, gpu->out_queued);
}

static struct demand look(struct node *node, struct gpu *gpu) {
    struct demand demand = {.next_ready = UINT64_MAX, .transfers_out = copies_out(gpu)};
    for (uint32_t i = 0; i < gpu->active_count; i++) {
        struct active_queue at = gpu->active[i];
        const struct operation *operation = head_of(&node->slots[at.slot].queues[at.queue]);
        if (operation->ready_at > gpu->clock) {
            if (operation->ready_at < demand.next_ready)
                demand.next_ready = operation->ready_at;
        } else if (operation->kind == OPERATION_PREFETCH) {
            demand.transfers_in += operation->copy_left > 0;
        } else if (is_running(gpu, operation)) {
            demand.transfers_in += operation->stretch_engine == ENGINE_BUS_IN;
            demand.transfers_out += operation->stretch_engine == ENGINE_BUS_OUT;
            demand.faults +=
                operation->stretch_engine == ENGINE_FAULT && operation->engine != ENGINE_COMPUTE;
        }
    }
    return demand;
}

/* Whether a fault holds the compute engine is known only once a context is on it. */
static struct demand look_and_choose(struct node *node, struct gpu *gpu) {
    bool fault = compute_choose(node, gpu);
    struct demand demand = look(node, gpu);
    demand.kernel_faults = fault;
    return demand;
}

/* One thread serves the faults of a GPU, for all processes (published driver: one bottom half per
 * GPU, uvm_gpu_isr.c). */
static double fault_rate(const struct demand *demand) {
    uint32_t faults = demand->faults + demand->kernel_faults;
    return faults ? 1.0 / faults : 0;
}

/* Work per emulated ns that one operation gets from an engine it shares equally. */
static double rate_of(const struct gpu *gpu, const struct demand *demand, uint8_t engine) {
    const struct gpu_profile *profile = &gpu->profile;
    bool duplex = demand->transfers_in && demand->transfers_out;
    double share = duplex ? (double)profile->duplex_permille / 2000 : 1;
    switch (engine) {
    case ENGINE_BUS_IN: return (double)profile->h2d_bandwidth / 1e9 * share / demand->transfers_in;
    case ENGINE_BUS_OUT:
        return (double)profile->d2h_bandwidth / 1e9 * share / demand->transfers_out;
    case ENGINE_FAULT: return fault_rate(demand);
    default: return 0;
    }
}

/* Emulated ns until a GPU has copied out up to a point. */
static double time_to_point(struct node *node, uint32_t index, uint64_t point) {
    struct gpu *gpu = &node->gpus[index];
    struct demand demand = look(node, gpu);
    if (!copies_out(gpu))
        return 0;
    return ((double)point - gpu->out_done) / rate_of(gpu, &demand, ENGINE_BUS_OUT);
}

static double prefetch_time_to_event(struct node *node, struct gpu *gpu,
                                     const struct demand *demand,
                                     const struct operation *operation) {
    double thread = 0, copies = 0, in = 0;
    if (operation->awaits)
        thread = time_to_point(node, operation->awaits_gpu, operation->awaits);
    if (operation->copy_awaits)
        copies = time_to_point(node, operation->target - LOCATION_GPU, operation->copy_awaits);
    if (operation->copy_left > 0)
        in = rate_of(gpu, demand, ENGINE_BUS_IN);
    return migrate_time_to_event(operation, in, thread, copies);
}

static bool uses_engine(const struct gpu *gpu, const struct operation *operation) {
    if (!is_running(gpu, operation) || operation->kind == OPERATION_PREFETCH)
        return false;
    if (operation->stretch_engine == ENGINE_FAULT)
        return operation->engine != ENGINE_COMPUTE;
    return operation->stretch_engine == ENGINE_BUS_IN ||
           operation->stretch_engine == ENGINE_BUS_OUT;
}

/* Emulated ns until the next event on this GPU. */
static double time_to_event(struct node *node, struct gpu *gpu, const struct demand *demand) {
    double soonest = compute_time_to_event(node, gpu, fault_rate(demand));
    if (demand->next_ready != UINT64_MAX)
        soonest = fmin(soonest, (double)(demand->next_ready - gpu->clock));
    if (copies_out(gpu))
        soonest = fmin(soonest, ((double)gpu->out_queued - gpu->out_done) /
                                    rate_of(gpu, demand, ENGINE_BUS_OUT));
    for (uint32_t i = 0; i < gpu->active_count; i++) {
        struct active_queue at = gpu->active[i];
        const struct operation *operation = head_of(&node->slots[at.slot].queues[at.queue]);
        if (uses_engine(gpu, operation))
            soonest =
                fmin(soonest, operation->left / rate_of(gpu, demand, operation->stretch_engine));
        else if (is_running(gpu, operation) && operation->kind == OPERATION_PREFETCH)
            soonest = fmin(soonest, prefetch_time_to_event(node, gpu, demand, operation));
    }
    return soonest;
}

/* A remainder below a thousandth of a unit is rounding, not work. */
static void work_off(struct operation *operation, double amount) {
    operation->left -= amount;
    if (operation->left < 1e-3)
        operation->left = 0;
}

static bool copy_out(struct gpu *gpu, const struct demand *demand, uint64_t ns) {
    if (!copies_out(gpu))
        return false;
    double done = gpu->out_done + rate_of(gpu, demand, ENGINE_BUS_OUT) * (double)ns;
    gpu->out_done = done + 1e-3 < (double)gpu->out_queued ? done : (double)gpu->out_queued;
    return true;
}

static void let_time_pass(struct node *node, struct gpu *gpu, const struct demand *demand,
                          uint64_t ns) {
    bool moving = false;
    bool computing = compute_let_time_pass(node, gpu, (double)ns, fault_rate(demand), &moving);
    for (uint32_t i = 0; i < gpu->active_count; i++) {
        struct active_queue at = gpu->active[i];
        struct slot *slot = &node->slots[at.slot];
        struct operation *operation = head_of(&slot->queues[at.queue]);
        if (is_running(gpu, operation) && operation->kind == OPERATION_PREFETCH) {
            double in = operation->copy_left > 0 ? rate_of(gpu, demand, ENGINE_BUS_IN) : 0;
            moving |= migrate_let_time_pass(operation, in, (double)ns);
        } else if (uses_engine(gpu, operation)) {
            work_off(operation, rate_of(gpu, demand, operation->stretch_engine) * (double)ns);
            moving |= operation->moves;
            if (operation->stretch_engine == ENGINE_FAULT)
                slot->accounts[gpu - node->gpus].fault_ns += ns;
        }
    }
    moving |= copy_out(gpu, demand, ns);
    if (computing || demand->faults)
        busy_note_gpu(gpu, gpu->clock, ns);
    if (moving)
        gpu->moving_ns += ns;
    gpu->clock += ns;
}

/* Events fall on whole nanoseconds: rounded up, so that the work of an event is done by then. */
static uint64_t step_length(double soonest, uint64_t most) {
    if (soonest >= (double)most)
        return most;
    uint64_t whole = (uint64_t)ceil(soonest);
    return whole ? whole : 1;
}

static void advance_alone(struct node *node, struct gpu *gpu, uint64_t now) {
    complete_ready(node, gpu);
    while (gpu->clock < now && (gpu->active_count || copies_out(gpu))) {
        struct demand demand = look_and_choose(node, gpu);
        uint64_t step = step_length(time_to_event(node, gpu, &demand), now - gpu->clock);
        let_time_pass(node, gpu, &demand, step);
        complete_ready(node, gpu);
    }
    if (gpu->clock < now) {
        compute_rest(gpu, now - gpu->clock);
        gpu->clock = now;
    }
}

/* With a wait of one GPU for another, all take the same steps. A process that was killed while
 * advancing may have left the first GPU ahead of others. */
static void advance_together(struct node *node, uint64_t now) {
    struct demand demands[MAX_GPUS];
    for (uint32_t g = 1; g < node->profile.gpu_count; g++)
        advance_alone(node, &node->gpus[g], node->gpus[0].clock);
    for (;;) {
        complete_everywhere(node);
        uint64_t clock = node->gpus[0].clock;
        if (clock >= now || !node->waits_across)
            return;
        double soonest = (double)(now - clock);
        for (uint32_t g = 0; g < node->profile.gpu_count; g++) {
            demands[g] = look_and_choose(node, &node->gpus[g]);
            soonest = fmin(soonest, time_to_event(node, &node->gpus[g], &demands[g]));
        }
        uint64_t step = step_length(soonest, now - clock);
        for (uint32_t g = 0; g < node->profile.gpu_count; g++)
            let_time_pass(node, &node->gpus[g], &demands[g], step);
    }
}

void engine_advance(struct node *node, uint64_t now) {
    if (now < node->gpus[0].clock)
        now = node->gpus[0].clock; /* another process took a later time and came first */
    if (node->waits_across)
        advance_together(node, now);
    for (uint32_t g = 0; g < node->profile.gpu_count; g++)
        advance_alone(node, &node->gpus[g], now);
}
