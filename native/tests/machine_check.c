/* The machine under arbitrary inputs, sensible or not: it keeps within its bounds, reports its
 * actions, and loses no descriptor. Prints how many pairs of state and event it has seen, and the
 * most actions of one step.
 *
 *     machine_check SEED STEPS */
#include "machine.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

static struct {
    bool is_given[MOST]; /* and not closed yet */
    int next;
    int armed; /* -1: none */
    bool is_open;
} world = {.armed = -1};

static uint64_t state;
static bool is_explicit; /* which a client is or is not, for all its life */

static uint64_t draw(uint64_t below) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % below;
}

static void shut(int descriptor) {
    assert(descriptor >= 0 && world.is_given[descriptor]);
    world.is_given[descriptor] = false;
}

static int give(void) {
    do
        world.next = (world.next + 1) % MOST;
    while (world.is_given[world.next]);
    world.is_given[world.next] = true;
    return world.next;
}

static void perform(const struct machine_action *action) {
    assert(machine_act_name(action->act));
    switch (action->act) {
    case DO_OPEN: world.is_open = true; break;
    case DO_CLOSE:
    case DO_REFUSE: world.is_open = false; break;
    case DO_ARM_GATE:
    case DO_ARM_SESSION:
        assert(world.armed < 0);
        world.armed = action->descriptor;
        break;
    case DO_DISARM:
        shut(world.armed);
        world.armed = -1;
        break;
    case DO_HAND_OVER: assert(world.is_given[action->descriptor]); break;
    case DO_DROP: shut(action->descriptor); break;
    default: break;
    }
}

static void check(const struct machine *machine) {
    int given = 0;
    for (int i = 0; i < MOST; i++)
        given += world.is_given[i];
    assert(given == (machine->next_descriptor >= 0) + (world.armed >= 0));
    assert(machine->next_descriptor < 0 || world.is_given[machine->next_descriptor]);
    assert((world.armed >= 0) == (machine->standby != MACHINE_NO_STANDBY));
    bool may_be_open = machine->state == MACHINE_ALONE || machine->state == MACHINE_OPEN ||
                       machine->state == MACHINE_WATCHED;
    assert(world.is_open == may_be_open);
}

static struct machine_input make(const struct machine *machine) {
    struct machine_input input = {.event = (uint32_t)draw(MACHINE_EVENTS + 1), .descriptor = -1};
    bool has_one = input.event == ON_STANDBY || input.event == ON_HANDOVER;
    if (has_one && draw(8))
        input.descriptor = give();
    input.turn = machine->turn + draw(3);
    if (input.turn && !draw(4))
        input.turn--;
    input.next_turn = draw(100);
    input.bytes = draw(2) ? draw(100) : draw(2) ? UINT64_MAX : 0;
    input.there = draw(3) ? draw(100) : 0;
    input.away = draw(2) ? draw(100) : 0;
    input.missing = draw(100);
    bool *flags[] = {&input.is_urgent, &input.displaces, &input.must_fill, &input.can_move,
                     &input.waits,     &input.refuses,   &input.may_wait};
    input.is_explicit = is_explicit;
    for (unsigned i = 0; i < sizeof flags / sizeof flags[0]; i++)
        *flags[i] = draw(2);
    return input;
}

/* Only a caller can do this: the descriptor of a disarmed gate is closed. */
static void disarm(const struct machine *machine, const struct machine_input *input) {
    if (input->event != ON_DISARMED || machine->standby != MACHINE_NO_STANDBY || world.armed < 0)
        return;
    shut(world.armed);
    world.armed = -1;
}

/* A lost daemon leaves nothing behind; then another program begins. */
static void begin_again(struct machine *machine) {
    struct machine_input lost = {.event = ON_LOST, .descriptor = -1};
    struct machine_actions actions;
    machine_feed(machine, &lost, &actions);
    for (uint32_t i = 0; i < actions.count; i++)
        perform(&actions.list[i]);
    assert(machine->state == MACHINE_ALONE && machine->next_descriptor < 0 && world.armed < 0);
    check(machine);
    machine_init(machine);
    world.is_open = false;
    is_explicit = draw(2);
}

int main(int count, char **arguments) {
    if (count != 3)
        return 2;
    static bool seen[MACHINE_STATES][MACHINE_EVENTS + 1];
    struct machine machine;
    uint32_t most = 0;
    unsigned pairs = 0;
    state = strtoull(arguments[1], NULL, 10);
    machine_init(&machine);
    for (long left = atol(arguments[2]); left > 0; left--) {
        const struct machine before = machine;
        struct machine_input input = make(&machine);
        struct machine_actions actions;
        uint32_t result = machine_feed(&machine, &input, &actions);
        assert(actions.count < MACHINE_ACTIONS && machine_state_name(machine.state));
        assert(result == MACHINE_TAKEN || memcmp(&before, &machine, sizeof machine) == 0);
        pairs += !seen[before.state][input.event];
        seen[before.state][input.event] = true;
        most = actions.count > most ? actions.count : most;
        for (uint32_t i = 0; i < actions.count; i++)
            perform(&actions.list[i]);
        disarm(&machine, &input);
        check(&machine);
        if (!draw(50))
            begin_again(&machine);
    }
    printf("%u %u\n", pairs, most);
    return 0;
}
