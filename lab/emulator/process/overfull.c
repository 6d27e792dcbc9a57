/* The memory of a node that stores data is memory of this machine as soon as it is written. The
 * kernel would kill a program that fills too much of it, without a message. */
#include "overfull.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "../../../native/common/quantity.h"
#include "../model/node.h"
#include "driver.h"

/* Smaller allocations matter little, and adding up takes a while. */
#define SMALL_BYTES ((uint64_t)16 << 20)

static uint64_t allocated_by(const struct node *node, const struct slot *slot) {
    uint64_t bytes = 0;
    for (uint32_t g = 0; g < node->profile.gpu_count; g++)
        bytes += slot->accounts[g].plain_bytes;
    for (uint32_t r = 0; r < slot->range_limit; r++)
        if (slot->ranges[r].in_use)
            bytes += slot->ranges[r].blocks * BLOCK_BYTES;
    return bytes;
}

static uint64_t allocated_on(struct node *node) {
    uint64_t bytes = 0;
    node_lock(node);
    for (uint32_t s = 0; s < node->slot_limit; s++)
        if (node->slots[s].in_use)
            bytes += allocated_by(node, &node->slots[s]);
    node_unlock(node);
    return bytes;
}

static void say(uint64_t allocated, uint64_t machine) {
    char wanted[QUANTITY_TEXT], there[QUANTITY_TEXT], line[512];
    quantity_show(allocated, wanted);
    quantity_show(machine, there);
    int length = snprintf(
        line, sizeof line,
        "nvshare emulator: programs on this node have allocated %s, and this machine has %s. With "
        "--data on, data that they write takes real memory, and the kernel may kill them for lack "
        "of it. If their results do not matter, start the node with --data off\n",
        wanted, there);
    /* If stderr is closed, the message is lost. */
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        return;
}

void overfull_look(uint64_t bytes) {
    static _Atomic bool is_said;
    if (!driver->data || bytes < SMALL_BYTES || atomic_load(&is_said))
        return;
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t allocated = allocated_on(driver->node);
    if (allocated > machine && !atomic_exchange(&is_said, true))
        say(allocated, machine);
}
