/* Faults that cannot be served.
 *
 * Published driver: if a batch cannot be served, as when an eviction finds no page on the host, all
 * of its faults are cancelled, for all processes (uvm_parent_gpu_service_replayable_faults,
 * cancel_fault_batch). Assumed: every kernel that has reached a block which is not there is in it.
 */
#include "cancel.h"

#include "activity.h"

static bool has_fault(struct queue *queue) {
    const struct operation *head = head_of(queue);
    return queue->completed < queue->submitted && head->kind == OPERATION_WORK &&
           head->stretch_engine == ENGINE_FAULT && head->left > 0;
}

/* All streams of the context end with it. */
static void fail_context(struct slot *slot, uint32_t gpu, uint32_t context) {
    for (uint32_t q = 0; q < slot->queue_limit; q++)
        if (slot->queues[q].gpu == gpu && slot->queues[q].context == context)
            slot->queues[q].failed = 1;
}

static void note_page_fault(struct gpu *gpu) {
    gpu->last_xid = XID_PAGE_FAULT;
    gpu->xids++;
}

void cancel_faults(struct node *node, uint32_t index, struct queue *queue) {
    struct gpu *gpu = &node->gpus[index];
    queue->failed = 1;
    for (uint32_t i = 0; i < gpu->active_count; i++) {
        struct slot *slot = &node->slots[gpu->active[i].slot];
        struct queue *other = &slot->queues[gpu->active[i].queue];
        if (other == queue || has_fault(other))
            fail_context(slot, index, other->context);
    }
    gpu->cancelled++;
    note_page_fault(gpu);
}

void cancel_context(struct node *node, uint32_t slot, uint32_t gpu, uint32_t context) {
    fail_context(&node->slots[slot], gpu, context);
    note_page_fault(&node->gpus[gpu]);
}
