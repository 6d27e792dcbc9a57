/* The model of time: what the GPUs have done by now.
 *
 * A discrete-event simulation that is caught up by whoever looks. At any instant a GPU runs
 *  - one context on the compute engine; contexts with work take turns in slices, and every change
 *    from one to another costs the profile's switch time;
 *  - any number of transfers on the two directions of the bus, which share it equally;
 *  - any number of page faults, whose handling keeps up with a few programs and is shared equally
 *    by more.
 * Between two events nothing changes but the work left, so the clock jumps from event to event. */
#include "engine.h"

#include <math.h>
#include <string.h>

#include "activity.h"
#include "busy.h"
#include "compute.h"
#include "stretch.h"

/* What is going on at one instant on one GPU. */
struct demand {
    uint32_t transfers_in, transfers_out, faults;
    uint64_t next_ready; /* the earliest submission that is still on its way, or UINT64_MAX */
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
    /* From here on it is done, for its process, which looks without the lock, and after a crash. */
    __atomic_store_n(&queue->completed, queue->completed + 1, __ATOMIC_RELEASE);
}

/* Carries the operation at the head as far as it goes without time passing. Returns true when it is
 * done. */
static bool settle_head(struct node *node, struct gpu *gpu, struct slot *slot,
                        struct queue *queue) {
    struct operation *operation = head_of(queue);
    if (operation->ready_at > gpu->clock)
        return false;
    switch (operation->kind) {
    case OPERATION_MARKER: return true;
    case OPERATION_WAIT:
        return slot->queues[operation->wait_queue % MAX_QUEUES].completed >= operation->wait_ticket;
    case OPERATION_HOST: operation->host_ready = 1; return operation->host_done;
    default: break;
    }
    if (operation->stretch != STRETCH_FIRST && operation->left > 0)
        return false;
    if (operation->stretch == STRETCH_FIRST)
        operation->started_at = gpu->clock;
    struct place place = {node, slot, queue, queue->gpu};
    return !stretch_next(&place, operation);
}

/* Completes all that can be completed now; one completion may set free another queue. Returns
 * whether there was any. */
static bool settle(struct node *node, struct gpu *gpu) {
    bool any = false;
    for (bool progress = true; progress; any |= progress) {
        progress = false;
        for (uint32_t i = 0; i < gpu->active_count;) {
            struct active_queue at = gpu->active[i];
            struct slot *slot = &node->slots[at.slot];
            struct queue *queue = &slot->queues[at.queue];
            while (queue->completed < queue->submitted && settle_head(node, gpu, slot, queue)) {
                complete(node, gpu, slot, queue, head_of(queue));
                progress = true;
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
static void settle_together(struct node *node) {
    for (bool progress = true; progress;) {
        progress = false;
        for (uint32_t g = 0; g < node->profile.gpu_count; g++)
            progress |= settle(node, &node->gpus[g]);
    }
}

static bool is_running(const struct gpu *gpu, const struct operation *operation) {
    return operation->kind >= OPERATION_WORK && operation->ready_at <= gpu->clock;
}

static struct demand look(struct node *node, struct gpu *gpu) {
    struct demand demand = {.next_ready = UINT64_MAX};
    for (uint32_t i = 0; i < gpu->active_count; i++) {
        struct active_queue at = gpu->active[i];
        const struct operation *operation = head_of(&node->slots[at.slot].queues[at.queue]);
        if (operation->ready_at > gpu->clock) {
            if (operation->ready_at < demand.next_ready)
                demand.next_ready = operation->ready_at;
        } else if (is_running(gpu, operation)) {
            demand.transfers_in += operation->stretch_engine == ENGINE_BUS_IN;
            demand.transfers_out += operation->stretch_engine == ENGINE_BUS_OUT;
            demand.faults += operation->stretch_engine == ENGINE_FAULT;
        }
    }
    return demand;
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
    case ENGINE_FAULT:
        return fmin(1, (double)profile->fault_overlap_permille / 1000 / demand->faults);
    default: return 0;
    }
}

/* Emulated ns until the next thing happens on this GPU. */
static double time_to_event(struct node *node, struct gpu *gpu, const struct demand *demand) {
    double soonest = compute_time_to_event(node, gpu);
    if (demand->next_ready != UINT64_MAX)
        soonest = fmin(soonest, (double)(demand->next_ready - gpu->clock));
    for (uint32_t i = 0; i < gpu->active_count; i++) {
        struct active_queue at = gpu->active[i];
        const struct operation *operation = head_of(&node->slots[at.slot].queues[at.queue]);
        double rate = rate_of(gpu, demand, operation->stretch_engine);
        if (is_running(gpu, operation) && rate > 0)
            soonest = fmin(soonest, operation->left / rate);
    }
    return soonest;
}

/* A remainder below a thousandth of a unit is rounding, not work. */
static void work_off(struct operation *operation, double amount) {
    operation->left -= amount;
    if (operation->left < 1e-3)
        operation->left = 0;
}

static void let_time_pass(struct node *node, struct gpu *gpu, const struct demand *demand,
                          uint64_t ns) {
    bool computing = compute_let_time_pass(node, gpu, (double)ns), moving = false;
    for (uint32_t i = 0; i < gpu->active_count; i++) {
        struct active_queue at = gpu->active[i];
        struct slot *slot = &node->slots[at.slot];
        struct operation *operation = head_of(&slot->queues[at.queue]);
        double rate = rate_of(gpu, demand, operation->stretch_engine);
        if (!is_running(gpu, operation) || rate <= 0)
            continue;
        work_off(operation, rate * (double)ns);
        moving |= operation->moves;
        if (operation->stretch_engine == ENGINE_FAULT)
            slot->accounts[gpu - node->gpus].fault_ns += ns;
    }
    if (computing || demand->faults)
        busy_note_gpu(gpu, gpu->clock, ns);
    if (moving)
        gpu->moving_ns += ns;
    gpu->clock += ns;
}

/* Events fall on whole nanoseconds: rounded up, so that an event's work is done when it comes. */
static uint64_t step_length(double soonest, uint64_t most) {
    if (soonest >= (double)most)
        return most;
    uint64_t whole = (uint64_t)ceil(soonest);
    return whole ? whole : 1;
}

static void advance_alone(struct node *node, struct gpu *gpu, uint64_t now) {
    settle(node, gpu);
    while (gpu->clock < now && gpu->active_count) {
        compute_choose(node, gpu);
        struct demand demand = look(node, gpu);
        uint64_t step = step_length(time_to_event(node, gpu, &demand), now - gpu->clock);
        let_time_pass(node, gpu, &demand, step);
        settle(node, gpu);
    }
    if (gpu->clock < now) {
        compute_rest(gpu, now - gpu->clock);
        gpu->clock = now;
    }
}

/* With a wait of one GPU for another, all take the same steps. One who was killed while advancing
 * left the first GPU ahead of some others. */
static void advance_together(struct node *node, uint64_t now) {
    struct demand demands[MAX_GPUS];
    for (uint32_t g = 1; g < node->profile.gpu_count; g++)
        advance_alone(node, &node->gpus[g], node->gpus[0].clock);
    for (;;) {
        settle_together(node);
        uint64_t clock = node->gpus[0].clock;
        if (clock >= now || !node->waits_across)
            return;
        double soonest = (double)(now - clock);
        for (uint32_t g = 0; g < node->profile.gpu_count; g++) {
            compute_choose(node, &node->gpus[g]);
            demands[g] = look(node, &node->gpus[g]);
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
