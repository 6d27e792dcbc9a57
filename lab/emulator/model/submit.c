/* Handing operations to the model, and the earliest time of their end. */
#include <string.h>

#include "activity.h"
#include "engine.h"
#include "migrate.h"

bool engine_has_room(const struct node *node, const struct queue *queue, uint32_t references) {
    uint64_t depth = node->gpus[queue->gpu].profile.queue_depth;
    if (depth > QUEUE_SLOTS)
        depth = QUEUE_SLOTS;
    uint64_t reaped = __atomic_load_n(&queue->reaped, __ATOMIC_ACQUIRE);
    return queue->submitted - reaped < depth &&
           queue->references_submitted - queue->references_done + references <= REFERENCE_SLOTS;
}

/* Does an operation depend on another GPU's clock? A prefetch does, if copies on another GPU's bus
 * are part of it. */
static bool reaches_across(const struct node *node, const struct slot *slot,
                           const struct queue *queue, const struct operation *operation) {
    if (operation->kind == OPERATION_WAIT)
        return slot->queues[operation->wait_queue % MAX_QUEUES].gpu != queue->gpu;
    if (operation->kind != OPERATION_PREFETCH)
        return false;
    if (operation->target >= LOCATION_GPU)
        return operation->target != LOCATION_GPU + queue->gpu;
    for (uint32_t g = 0; g < node->profile.gpu_count; g++)
        if (g != queue->gpu && slot->accounts[g].resident_blocks)
            return true;
    return false;
}

static uint32_t count_blocks(const struct operation *operation,
                             const struct reference *references) {
    uint32_t blocks = 0;
    for (uint32_t i = 0; i < operation->references; i++)
        blocks += references[i].blocks;
    return blocks;
}

uint64_t engine_submit(struct node *node, uint32_t slot_index, uint32_t queue_index,
                       const struct operation *operation, const struct reference *references) {
    struct slot *slot = &node->slots[slot_index];
    struct queue *queue = &slot->queues[queue_index];
    const struct gpu *gpu = &node->gpus[queue->gpu];
    struct operation *place = &queue->operations[queue->submitted % QUEUE_SLOTS];
    *place = *operation;
    /* Noted now: the queue may serve another GPU by the time the wait is over. */
    place->across = reaches_across(node, slot, queue, operation);
    if (operation->kind == OPERATION_PREFETCH) {
        place->deferred = queue->completed < queue->submitted;
        place->blocks = place->to_issue = count_blocks(operation, references);
    }
    place->first_reference = queue->references_submitted;
    place->ready_at = gpu->clock + (operation->kind >= OPERATION_WORK ? gpu->profile.launch_ns : 0);
    for (uint32_t i = 0; i < operation->references; i++)
        queue->references[(queue->references_submitted + i) % REFERENCE_SLOTS] = references[i];
    queue->references_submitted += operation->references;
    /* From here on it counts, also after a crash. */
    __atomic_store_n(&queue->submitted, queue->submitted + 1, __ATOMIC_RELEASE);
    node->waits_across += place->across;
    activate(node, slot_index, queue_index);
    return queue->submitted;
}

static double lasts_at_least(const struct gpu *gpu, const struct operation *operation) {
    if (operation->kind < OPERATION_WORK)
        return 0;
    if (operation->kind == OPERATION_PREFETCH)
        return migrate_soonest(gpu, operation);
    bool begun = operation->stretch != STRETCH_FIRST;
    double amount = begun ? operation->left : (double)operation->amount;
    uint8_t engine = begun ? operation->stretch_engine : operation->engine;
    if (engine == ENGINE_BUS_IN)
        return amount * 1e9 / (double)gpu->profile.h2d_bandwidth;
    if (engine == ENGINE_BUS_OUT)
        return amount * 1e9 / (double)gpu->profile.d2h_bandwidth;
    return amount;
}

uint64_t engine_soonest(const struct node *node, uint32_t slot, uint32_t index, uint64_t ticket) {
    const struct queue *queue = &node->slots[slot].queues[index];
    const struct gpu *gpu = &node->gpus[queue->gpu];
    double sum = 0;
    for (uint64_t i = queue->completed; i < queue->submitted && i < ticket; i++) {
        const struct operation *operation = &queue->operations[i % QUEUE_SLOTS];
        if (i == queue->completed && operation->ready_at > gpu->clock)
            sum += (double)(operation->ready_at - gpu->clock);
        sum += lasts_at_least(gpu, operation);
    }
    return (uint64_t)sum;
}

bool engine_is_under_way(struct node *node, uint32_t slot, uint32_t index) {
    struct queue *queue = &node->slots[slot].queues[index];
    const struct operation *head = head_of(queue);
    if (queue->completed == queue->submitted || head->kind != OPERATION_WORK)
        return false;
    return head->stretch > STRETCH_PLAIN ||
           (head->stretch == STRETCH_PLAIN && head->left < (double)head->amount);
}

uint64_t engine_issue_soonest(const struct node *node, uint32_t slot, uint32_t index,
                              uint64_t ticket) {
    const struct queue *queue = &node->slots[slot].queues[index];
    const struct operation *operation = &queue->operations[(ticket - 1) % QUEUE_SLOTS];
    return (uint64_t)migrate_issue_soonest(&node->gpus[queue->gpu], operation);
}

bool engine_is_issued(const struct node *node, uint32_t slot, uint32_t index, uint64_t ticket,
                      int *error) {
    const struct queue *queue = &node->slots[slot].queues[index];
    const struct operation *operation = &queue->operations[(ticket - 1) % QUEUE_SLOTS];
    bool over = queue->completed >= ticket;
    *error = operation->deferred ? 0 : operation->error;
    return over || operation->deferred || (operation->target != LOCATION_HOST && operation->issued);
}
