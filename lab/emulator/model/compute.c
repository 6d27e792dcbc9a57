/* The compute engine of a GPU: one context at a time, in slices.
 *
 * Contexts that have a kernel ready take turns in a fixed round. A change from one to another costs
 * switch_ns: this is the time lost by sharing. A context that is alone is never switched. Within a
 * context the kernel of the highest priority runs, then the one that was ready first. A kernel that
 * spins until memory changes has the engine when its context has nothing else to run: on a GPU it
 * leaves room for other kernels of its context, and may wait for one of them. That they lose
 * nothing by it is assumed.
 *
 * A kernel that needs a block which is elsewhere holds the engine until the block has arrived: the
 * context cannot be changed before its faults are served, and no kernel computes (published driver:
 * the comment at the top of uvm_gpu_non_replayable_faults.c). Between two blocks the engine can
 * switch, as between any two instructions. A context that is not on the engine raises no faults.
 * Faults of copies are not handled here.
 *
 * A context that is alone has slices too: they follow each other from its arrival, and a newcomer
 * waits for the end of the current one. Nothing here depends on how often the model is advanced. */
#include "compute.h"

#include <math.h>

#include "activity.h"
#include "busy.h"

static bool is_fault(const struct operation *operation) {
    return operation->stretch_engine == ENGINE_FAULT && operation->engine == ENGINE_COMPUTE;
}

static bool is_computing(const struct gpu *gpu, const struct operation *operation) {
    return operation->kind == OPERATION_WORK && operation->ready_at <= gpu->clock &&
           (operation->stretch_engine == ENGINE_COMPUTE || is_fault(operation)) &&
           operation->left > 0;
}

/* A context's place in the round. */
static uint64_t place_of(uint32_t slot, uint32_t context) {
    return (uint64_t)slot << 32 | context;
}

static uint64_t current_place(const struct gpu *gpu) {
    return place_of(gpu->current_slot, gpu->current_context);
}

/* The first context with work after `after` in the round, and whether another one has work. */
struct contenders {
    bool any;
    bool current_has_work;
    bool others_have_work;
    uint64_t next;
};

static struct contenders look_around(struct node *node, struct gpu *gpu) {
    struct contenders found = {0};
    uint64_t current = current_place(gpu);
    for (uint32_t i = 0; i < gpu->active_count; i++) {
        struct active_queue at = gpu->active[i];
        struct queue *queue = &node->slots[at.slot].queues[at.queue];
        if (!is_computing(gpu, head_of(queue)))
            continue;
        uint64_t place = place_of(at.slot, queue->context);
        found.any = true;
        if (place == current) {
            found.current_has_work = true;
            continue;
        }
        /* Distances count upwards from the current place and wrap around. */
        if (!found.others_have_work || place - current < found.next - current)
            found.next = place;
        found.others_have_work = true;
    }
    return found;
}

/* As in the API, the lower number is the higher priority. */
static bool goes_before(struct queue *queue, struct queue *other) {
    if (head_of(queue)->serving != head_of(other)->serving)
        return head_of(queue)->serving;
    if (compute_is_spinning(head_of(queue)) != compute_is_spinning(head_of(other)))
        return compute_is_spinning(head_of(other));
    if (queue->priority != other->priority)
        return queue->priority < other->priority;
    uint64_t started = head_of(queue)->started_at, other_started = head_of(other)->started_at;
    return started != other_started ? started < other_started : queue < other;
}

static struct operation *chosen(struct node *node, struct gpu *gpu) {
    struct queue *best = NULL;
    for (uint32_t i = 0; i < gpu->active_count; i++) {
        struct active_queue at = gpu->active[i];
        struct queue *queue = &node->slots[at.slot].queues[at.queue];
        if (place_of(at.slot, queue->context) == current_place(gpu) &&
            is_computing(gpu, head_of(queue)) && (!best || goes_before(queue, best)))
            best = queue;
    }
    return best ? head_of(best) : NULL;
}

static void choose_context(struct node *node, struct gpu *gpu) {
    struct contenders found = look_around(node, gpu);
    bool stays = found.current_has_work && (gpu->slice_left > 0 || !found.others_have_work);
    if (stays && gpu->slice_left <= 0)
        gpu->slice_left = (double)gpu->profile.slice_ns;
    if (!found.any || stays)
        return;
    bool first = gpu->current_slot == NO_INDEX;
    gpu->current_slot = (uint32_t)(found.next >> 32);
    gpu->current_context = (uint32_t)found.next;
    gpu->slice_left = (double)gpu->profile.slice_ns;
    if (!first) {
        gpu->switch_left = (double)gpu->profile.switch_ns;
        gpu->switches++;
    }
}

bool compute_choose(struct node *node, struct gpu *gpu) {
    if (gpu->switch_left > 0)
        return false;
    const struct operation *operation = chosen(node, gpu);
    if (operation && operation->serving)
        return true;
    choose_context(node, gpu);
    operation = gpu->switch_left > 0 ? NULL : chosen(node, gpu);
    return operation && is_fault(operation);
}

double compute_time_to_event(struct node *node, struct gpu *gpu, double fault_rate) {
    if (gpu->switch_left > 0)
        return gpu->switch_left;
    const struct operation *operation = chosen(node, gpu);
    if (!operation)
        return INFINITY;
    if (is_fault(operation))
        return operation->left / fault_rate;
    bool contended = look_around(node, gpu).others_have_work;
    return contended ? fmin(operation->left, gpu->slice_left) : operation->left;
}

/* With others waiting a slice ends on time; only a context that was alone can have exceeded it. */
static void use_slice(struct gpu *gpu, double ns) {
    gpu->slice_left -= ns;
    if (gpu->slice_left < 0)
        gpu->slice_left +=
            ceil(-gpu->slice_left / (double)gpu->profile.slice_ns) * (double)gpu->profile.slice_ns;
}

void compute_rest(struct gpu *gpu, uint64_t ns) {
    gpu->switch_left = fmax(0, gpu->switch_left - (double)ns);
}

static void work_off(struct operation *operation, double amount) {
    operation->left -= amount;
    if (operation->left < 1e-3)
        operation->left = 0;
}

/* The slice goes on meanwhile, and may be over when the fault is served. */
static void serve_fault(struct gpu *gpu, struct account *account, struct operation *operation,
                        double ns, double rate) {
    operation->serving = 1;
    work_off(operation, ns * rate);
    gpu->slice_left = fmax(0, gpu->slice_left - ns);
    account->fault_ns += (uint64_t)ns;
}

bool compute_let_time_pass(struct node *node, struct gpu *gpu, double ns, double fault_rate,
                           bool *moving) {
    if (gpu->switch_left > 0) {
        gpu->switch_left = fmax(0, gpu->switch_left - ns);
        return true;
    }
    struct operation *operation = chosen(node, gpu);
    if (!operation)
        return false;
    struct account *account = &node->slots[gpu->current_slot].accounts[gpu - node->gpus];
    if (is_fault(operation)) {
        serve_fault(gpu, account, operation, ns, fault_rate);
        *moving |= operation->moves;
        return true;
    }
    work_off(operation, ns);
    use_slice(gpu, ns);
    account->compute_ns += (uint64_t)ns;
    busy_note_account(account, gpu->clock, (uint64_t)ns);
    return true;
}
