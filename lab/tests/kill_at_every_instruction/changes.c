/* The changes during which a process is killed. */
#include <string.h>

#include "kill.h"
#include "model/engine.h"
#include "model/residency.h"
#include "model/scrub.h"

/* Leaves room for fewer blocks than the survivor has there, so that bringing in more evicts some. */
static void fill_up(struct node *node, uint32_t index) {
    struct room room;
    uint64_t idle = gpu_free_bytes(&node->gpus[0]) + node->gpus[0].surplus * BLOCK_BYTES;
    gpu_take_plain(node, index, 0, idle - BLOCK_BYTES, &room);
}

static void change_join(struct node *node, uint32_t index) {
    (void)index;
    node_join(node);
}

static void change_submit(struct node *node, uint32_t index) {
    node_lock(node);
    submit(node, index, OPERATION_WORK, 0);
    submit(node, index, OPERATION_MARKER, 0);
    node_unlock(node);
}

static void change_plain(struct node *node, uint32_t index) {
    struct room room;
    node_lock(node);
    uint64_t idle = gpu_free_bytes(&node->gpus[0]) + node->gpus[0].surplus * BLOCK_BYTES;
    gpu_take_plain(node, index, 0, idle + 3 * BLOCK_BYTES, &room);
    gpu_give_plain(node, index, 0, VICTIM_PLAIN);
    node_unlock(node);
}

/* The changes in the node by creating, mapping and releasing physical memory, call by call
 * (api/vmm.c, vmm_map.c, process/pause.c): room for it, the memory that the process has to give
 * back, and how long the next such call has to wait. */
static void change_handle(struct node *node, uint32_t index) {
    struct room room;
    struct slot *slot = &node->slots[index];
    node_lock(node);
    if (!scrub_wait_ns(&node->gpus[0], BLOCK_BYTES))
        gpu_take_plain(node, index, 0, BLOCK_BYTES, &room);
    node_unlock(node);
    for (uint32_t resource = 0; resource < RESOURCES; resource++) {
        uint64_t now = node_lock(node);
        node->calls_free_at = (node->calls_free_at > now ? node->calls_free_at : now) + 1000;
        node_unlock(node);
        __atomic_add_fetch(&slot->resources[resource], 1, __ATOMIC_RELAXED);
    }
    for (uint32_t resource = 0; resource < RESOURCES; resource++)
        __atomic_sub_fetch(&slot->resources[resource], 1, __ATOMIC_RELAXED);
    node_lock(node);
    gpu_give_plain(node, index, 0, BLOCK_BYTES);
    node_unlock(node);
}

/* Copies of explicit memory in both directions, to their end. */
static void change_copy(struct node *node, uint32_t index) {
    node_lock(node);
    for (uint8_t engine = ENGINE_BUS_IN; engine <= ENGINE_BUS_OUT; engine++) {
        struct operation copy = {.kind = OPERATION_WORK, .engine = engine, .amount = BLOCK_BYTES};
        engine_submit(node, index, 0, &copy, NULL);
    }
    submit(node, index, OPERATION_MARKER, 0);
    engine_advance(node, later(node));
    node_unlock(node);
}

static void change_context(struct node *node, uint32_t index) {
    struct room room;
    node_lock(node);
    gpu_take_context(node, index, 0, &room);
    gpu_give_context(node, index, 0);
    node_unlock(node);
}

static void change_range(struct node *node, uint32_t index) {
    node_lock(node);
    put_range(node, index, BLOCKS, 3, LOCATION_GPU);
    block_put(node, index, BLOCKS, LOCATION_HOST);
    range_destroy(node, index, 1);
    node_unlock(node);
}

static void change_faults(struct node *node, uint32_t index) {
    node_lock(node);
    fill_up(node, index);
    submit(node, index, OPERATION_WORK, 0);
    engine_advance(node, later(node));
    node_unlock(node);
}

static void change_prefetch(struct node *node, uint32_t index) {
    node_lock(node);
    fill_up(node, index);
    submit(node, index, OPERATION_PREFETCH, LOCATION_GPU);
    engine_advance(node, later(node));
    node_unlock(node);
}

/* To the host: copies that are queued, pages that are taken, chunks that change lists. */
static void change_prefetch_out(struct node *node, uint32_t index) {
    node_lock(node);
    for (uint32_t i = 0; i < BLOCKS; i++)
        block_put(node, index, i, LOCATION_GPU);
    submit(node, index, OPERATION_PREFETCH, LOCATION_HOST);
    engine_advance(node, later(node));
    node_unlock(node);
}

/* The survivor's work, advanced by a process that reads the node and dies during that. */
static void change_advance(struct node *node, uint32_t index) {
    (void)index;
    node_lock(node);
    engine_advance(node, later(node));
    node_unlock(node);
}

static void change_reap(struct node *node, uint32_t index) {
    (void)index;
    node_lock(node);
    node_reap(node);
    node_unlock(node);
}

static void change_recover(struct node *node, uint32_t index) {
    (void)index;
    node_lock(node);
    node_unlock(node);
}

static const struct change CHANGES[] = {
    {"join", change_join, true, false, false},
    {"submit", change_submit, false, false, false},
    {"plain", change_plain, false, false, false},
    {"handle", change_handle, false, false, false},
    {"copy", change_copy, false, false, false},
    {"context", change_context, false, false, false},
    {"range", change_range, false, false, false},
    {"faults", change_faults, false, false, false},
    {"prefetch", change_prefetch, false, false, false},
    {"prefetch-out", change_prefetch_out, false, false, false},
    {"advance", change_advance, false, false, false},
    {"reap", change_reap, false, true, false},
    {"recover", change_recover, false, true, true},
};

const struct change *find_change(const char *name) {
    for (size_t i = 0; i < sizeof CHANGES / sizeof CHANGES[0]; i++)
        if (strcmp(CHANGES[i].name, name) == 0)
            return &CHANGES[i];
    fail("no such change");
    return NULL;
}
