/* A process on an emulated node, without a driver: it holds exactly what its arguments say, so that
 * tests of NVML know the right answers.
 *
 *     node_guest GPU CONTEXTS PLAIN_BYTES MANAGED_BLOCKS BUSY_NS
 *
 * It keeps the compute engine busy for that long (emulated), prints "ready", and stays until its
 * input ends. NVSHARE_EMULATOR_NODE names the node. */
#include <stdio.h>
#include <stdlib.h>

#include "model/engine.h"
#include "model/node.h"
#include "model/residency.h"

struct wish {
    uint32_t gpu, contexts, blocks;
    uint64_t plain_bytes, busy_ns;
};

static uint64_t number(const char *text) {
    return strtoull(text, NULL, 10);
}

static void take_managed(struct node *node, uint32_t slot_index, const struct wish *wish) {
    int range = range_create(node, slot_index, 0, wish->blocks);
    for (uint32_t i = 0; range >= 0 && i < wish->blocks; i++)
        block_put(node, slot_index, i, (uint8_t)(LOCATION_GPU + wish->gpu));
}

static void submit_work(struct node *node, uint32_t slot_index, const struct wish *wish) {
    struct slot *slot = &node->slots[slot_index];
    slot->queues[0].gpu = (uint8_t)wish->gpu;
    slot->queues[0].in_use = 1;
    slot->queue_limit = 1;
    struct operation work = {.kind = OPERATION_WORK,
                             .engine = ENGINE_COMPUTE,
                             .flags = OPERATION_FIXED_COST,
                             .amount = wish->busy_ns};
    engine_submit(node, slot_index, 0, &work, NULL);
}

static int take(struct node *node, uint32_t slot, const struct wish *wish) {
    struct room room;
    int result = 0;
    node_lock(node);
    for (uint32_t i = 0; i < wish->contexts && result == 0; i++)
        result = gpu_take_context(node, slot, wish->gpu, &room);
    if (result == 0)
        result = gpu_take_plain(node, slot, wish->gpu, wish->plain_bytes, &room);
    if (wish->blocks)
        take_managed(node, slot, wish);
    if (wish->busy_ns)
        submit_work(node, slot, wish);
    node_unlock(node);
    return result;
}

int main(int count, char **arguments) {
    if (count != 6) {
        fprintf(stderr, "usage: %s GPU CONTEXTS PLAIN_BYTES MANAGED_BLOCKS BUSY_NS\n", *arguments);
        return 2;
    }
    struct wish wish = {.gpu = (uint32_t)number(arguments[1]),
                        .contexts = (uint32_t)number(arguments[2]),
                        .plain_bytes = number(arguments[3]),
                        .blocks = (uint32_t)number(arguments[4]),
                        .busy_ns = number(arguments[5])};
    struct node *node;
    char why[4096];
    if (node_attach(&node, why, sizeof why) < 0) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    int slot = node_join(node);
    if (slot < 0 || take(node, (uint32_t)slot, &wish) < 0)
        return 1;
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF)
        continue;
    return 0;
}
