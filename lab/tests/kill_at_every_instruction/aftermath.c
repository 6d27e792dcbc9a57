/* The conditions that must hold after a death. */
#include <sys/wait.h>
#include <unistd.h>

#include "kill.h"
#include "model/engine.h"
#include "model/recover.h"
#include "model/residency.h"

static void check_survivor(const struct node *node) {
    const struct slot *slot = &node->slots[SURVIVOR];
    const struct account *account = &slot->accounts[0];
    check(slot->in_use && slot->pid == getpid(), "the survivor lost its slot");
    check(account->plain_bytes == SURVIVOR_PLAIN, "the survivor's memory is not what it was");
    check(account->contexts == 1, "the survivor's context is gone");
    check(slot->ranges[0].in_use && slot->ranges[0].blocks == SURVIVOR_BLOCKS,
          "the survivor's range is not what it was");
    for (uint32_t i = 0; i < SURVIVOR_BLOCKS; i++) {
        uint8_t location = slot->blocks[i].location;
        check(location == LOCATION_HOST || location == LOCATION_GPU, "a block is nowhere");
        check(location == LOCATION_GPU || slot->blocks[i].host & HOST_PAGES, "a block has no page");
        check(location == LOCATION_HOST || slot->chunks[0][i], "a block has no chunk");
    }
}

static void check_memory(const struct node *node) {
    const struct gpu *gpu = &node->gpus[0];
    const struct account *account = &node->slots[SURVIVOR].accounts[0];
    check(gpu->plain_bytes == SURVIVOR_PLAIN, "plain memory of the dead is not back");
    check(gpu->context_bytes == account->context_bytes, "a context of the dead is not back");
    check(gpu->resident_blocks == account->resident_blocks, "blocks of the dead are not back");
    check(gpu->chunks == account->chunks, "chunks of the dead are not back");
    check(node->host_blocks == node->slots[SURVIVOR].host_blocks, "host pages are not back");
    for (uint32_t s = SURVIVOR + 1; s < MAX_PROCESSES; s++)
        check(!node->slots[s].in_use, "the slot of a dead process is not back");
}

/* The survivor's queued work completes. */
static void check_survivors_work(struct node *node) {
    const struct queue *queue = &node->slots[SURVIVOR].queues[0];
    engine_advance(node, later(node));
    check(queue->completed == queue->submitted, "the survivor's work does not end");
    const struct operation *last = &queue->operations[(queue->submitted - 1) % QUEUE_SLOTS];
    check(last->finished_at && last->completion, "the survivor's work has no time");
}

static void check_difference(struct node *node) {
    const char *difference = node_difference(node);
    check(!difference, difference ? difference : "");
}

/* A new process can do everything. */
static void check_newcomer(struct node *node) {
    int status;
    struct room room;
    pid_t pid = begin_process();
    if (pid == 0) {
        alarm(10);
        int slot = node_join(node);
        check(slot > SURVIVOR, "a new process cannot join");
        set_up_process(node, (uint32_t)slot);
        node_lock(node);
        uint64_t all = gpu_free_bytes(&node->gpus[0]);
        check(gpu_take_plain(node, (uint32_t)slot, 0, all, &room) == 0,
              "a new process gets no memory");
        gpu_give_plain(node, (uint32_t)slot, 0, all);
        submit(node, (uint32_t)slot, OPERATION_WORK, 0);
        engine_advance(node, later(node));
        const struct queue *queue = &node->slots[slot].queues[0];
        check(queue->completed == queue->submitted, "a new process's work does not end");
        check(node->slots[slot].accounts[0].resident_blocks == BLOCKS,
              "and its blocks do not come");
        check_difference(node);
        node_unlock(node);
        _exit(0);
    }
    reach(pid, &status);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a new process does not get on");
}

void check_all(struct node *node) {
    alarm(10); /* a lock that is never released must not hang the test */
    node_lock(node);
    check_difference(node); /* also before the death is noticed */
    node_reap(node);
    check_difference(node);
    check_memory(node);
    check_survivor(node);
    check_survivors_work(node);
    node_unlock(node);
    check_newcomer(node);
    node_lock(node);
    node_reap(node);
    check_memory(node);
    check_survivor(node);
    node_unlock(node);
    alarm(0);
}
