/* The processes: a survivor, and others that are set up beside it and die. */
#include "kill.h"
#include "model/engine.h"
#include "model/residency.h"

#define SECOND_NS UINT64_C(1000000000)

static void open_queue(struct slot *slot) {
    slot->queues[0].context = 1;
    slot->queue_limit = 1;
    slot->queues[0].in_use = 1;
}

static struct reference whole_range(const struct slot *slot, uint32_t range) {
    return (struct reference){.range = range,
                              .first_block = slot->ranges[range].first_block,
                              .blocks = slot->ranges[range].blocks,
                              .bytes = slot->ranges[range].blocks * BLOCK_BYTES};
}

void put_range(struct node *node, uint32_t index, uint32_t first, uint32_t blocks,
               uint8_t location) {
    check(range_create(node, index, first, blocks) >= 0, "no range could be made");
    for (uint32_t i = 0; i < blocks; i++)
        block_put(node, index, first + i, location);
}

void submit(struct node *node, uint32_t index, uint8_t kind, uint8_t target) {
    struct slot *slot = &node->slots[index];
    struct reference reference = whole_range(slot, 0);
    struct operation operation = {.kind = kind,
                                  .engine = kind == OPERATION_WORK ? ENGINE_COMPUTE : ENGINE_NONE,
                                  .target = target,
                                  .amount = kind == OPERATION_WORK ? 1000 : 0,
                                  .references = kind >= OPERATION_WORK};
    engine_submit(node, index, 0, &operation, &reference);
}

/* The state of every process but the survivor before the change. */
void set_up_process(struct node *node, uint32_t index) {
    struct room room;
    node_lock(node);
    open_queue(&node->slots[index]);
    check(gpu_take_context(node, index, 0, &room) == 0, "no room for a context");
    check(gpu_take_plain(node, index, 0, VICTIM_PLAIN, &room) == 0, "no room");
    put_range(node, index, 0, BLOCKS, LOCATION_HOST);
    node_unlock(node);
}

uint64_t later(const struct node *node) {
    return node->gpus[0].clock + SECOND_NS;
}

void set_up_survivor(struct node *node) {
    struct room room;
    check(node_join(node) == SURVIVOR, "the node is not fresh");
    node_lock(node);
    open_queue(&node->slots[SURVIVOR]);
    check(gpu_take_context(node, SURVIVOR, 0, &room) == 0, "no room for a context");
    check(gpu_take_plain(node, SURVIVOR, 0, SURVIVOR_PLAIN, &room) == 0, "no room");
    put_range(node, SURVIVOR, 0, SURVIVOR_BLOCKS, LOCATION_GPU);
    block_put(node, SURVIVOR, 0, LOCATION_HOST); /* its chunk stays, unused */
    submit(node, SURVIVOR, OPERATION_WORK, 0);
    submit(node, SURVIVOR, OPERATION_PREFETCH, LOCATION_GPU);
    submit(node, SURVIVOR, OPERATION_MARKER, 0);
    node_unlock(node);
}
