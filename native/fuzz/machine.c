/* Events in any order and with any values: the most that a hostile daemon can cause
 * (native/machine). */
#include "machine.h"

#include <string.h>

#include "targets.h"

/* An input as it lies in the fuzzer's bytes. */
struct packed {
    uint8_t event, flags, number, descriptor;
    uint64_t turn, next_turn, bytes;
} __attribute__((packed));

static struct machine_input unpack(const struct packed *from) {
    return (struct machine_input){
        .event = from->event % MACHINE_EVENTS,
        .descriptor = from->descriptor % 2 ? from->descriptor : -1,
        .turn = from->turn,
        .next_turn = from->next_turn,
        .bytes = from->bytes,
        .missing = from->bytes >> 1,
        .idle_ns = from->turn,
        .is_urgent = from->flags & 1,
        .displaces = from->flags & 2,
        .must_fill = from->flags & 4,
        .can_move = from->flags & 8,
        .waits = from->flags & 16,
        .refuses = from->flags & 32,
        .is_explicit = from->flags & 64,
        .number = from->number,
        .there = from->next_turn,
        .away = from->bytes,
    };
}

void fuzz_machine(const uint8_t *data, size_t size) {
    struct machine machine;
    machine_init(&machine);
    for (; size >= sizeof(struct packed); data += sizeof(struct packed)) {
        struct packed packed;
        struct machine_actions actions = {0};
        struct machine before = machine;
        memcpy(&packed, data, sizeof packed);
        size -= sizeof packed;
        struct machine_input input = unpack(&packed);
        uint32_t result = machine_feed(&machine, &input, &actions);
        FUZZ_PROMISE(result <= MACHINE_IMPOSSIBLE && actions.count <= MACHINE_ACTIONS);
        FUZZ_PROMISE(machine_state_name(machine.state));
        for (uint32_t i = 0; i < actions.count; i++)
            FUZZ_PROMISE(machine_act_name(actions.list[i].act));
        if (result == MACHINE_IMPOSSIBLE)
            FUZZ_PROMISE(memcmp(&before, &machine, sizeof machine) == 0);
    }
}
