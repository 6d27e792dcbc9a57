/* The memory that a kernel counts as touching. Nothing tells which of its parameters are pointers,
 * nor how far it goes from each. So every address in them counts as a pointer (at every multiple of
 * eight, as compilers align them), and
 *
 *  - in an allocation, all of it is touched, once;
 *  - in a reservation that is mapped to its end, the same: it is an allocation, in as many pieces
 *    as the program likes;
 *  - in a reservation that can still grow there may be many arrays. Every address in it that a
 *    kernel is given begins an array, permanently. The kernel touches the memory from there to the
 *    next beginning, or to the end of the mapped memory. That PyTorch's additions take the time of
 *    the three matrices that they are about is measured, and there may be a fourth beside them. But
 *    a kernel that is given a part of an array divides it for later ones, which then cost too
 *    little.
 *
 * Assumed, where it does not say otherwise. */
#include <string.h>

#include "context.h"
#include "memory.h"
#include "reservation.h"
#include "task.h"

enum { MOST_POINTERS = 64 };

struct pointer {
    uint64_t address;
    const void *whole;               /* all of this is touched; or NULL */
    struct reservation *reservation; /* of memory that is mapped; or NULL */
    uint64_t begin, end;             /* of the touched memory */
};

struct pointers {
    unsigned count;
    struct pointer list[MOST_POINTERS];
};

static bool is_in(const struct pointers *pointers, const struct pointer *pointer) {
    for (unsigned i = 0; i < pointers->count; i++)
        if (pointers->list[i].address == pointer->address ||
            (pointer->whole && pointers->list[i].whole == pointer->whole))
            return true;
    return false;
}

/* The end of the memory that is mapped without a gap. */
static uint64_t end_of_run(uint64_t at, uint64_t limit) {
    const struct allocation *next;
    while (at < limit && (next = memory_find(at)) && next->kind == MEMORY_MAPPED)
        at = next->address + next->bytes;
    return at < limit ? at : limit;
}

/* The other arrays in a reservation that can grow are known only once all pointers are. */
static struct pointer find(uint64_t address, const struct allocation *allocation) {
    struct pointer found = {.address = address,
                            .whole = allocation,
                            .begin = allocation->address,
                            .end = allocation->address + allocation->bytes};
    if (allocation->kind != MEMORY_MAPPED)
        return found;
    found.reservation = reservation_find(address);
    uint64_t end = found.reservation->address + found.reservation->bytes;
    bool is_full = memory_find(end - 1) != NULL;
    found.whole = is_full ? found.reservation : NULL;
    found.begin = is_full ? found.reservation->address : address;
    found.end = is_full ? end : end_of_run(found.end, end);
    return found;
}

static void add(struct pointers *pointers, uint64_t word) {
    const struct allocation *allocation = word ? memory_find(word) : NULL;
    if (!allocation || pointers->count == MOST_POINTERS)
        return;
    struct pointer pointer = find(word, allocation);
    if (is_in(pointers, &pointer))
        return;
    pointers->list[pointers->count++] = pointer;
    if (!pointer.whole)
        arrays_note(&pointer.reservation->arrays, word);
}

void kernel_touch(const struct kernel_task *kernel, struct touch *touch, struct sweep *sweep) {
    struct pointers pointers = {.count = 0};
    for (unsigned at = 0; at + 8 <= kernel->parameter_bytes; at += 8) {
        uint64_t word;
        memcpy(&word, kernel->parameters + at, sizeof word);
        add(&pointers, word);
    }
    for (unsigned i = 0; i < pointers.count; i++) {
        struct pointer *pointer = &pointers.list[i];
        if (!pointer->whole)
            pointer->end =
                arrays_next(&pointer->reservation->arrays, pointer->address, pointer->end);
        memory_touch(touch, pointer->begin, pointer->end - pointer->begin);
        if (i >= SWEEP_POINTERS)
            continue;
        sweep->pointer[i].address = pointer->address;
        sweep->pointer[i].end = pointer->end;
    }
    sweep->count = pointers.count;
}
