/* What a kernel counts as touching. Nothing tells which of its parameters are pointers, nor how far it goes from each:
 * so everything in them that is an address counts as one (at every multiple of eight, as compilers align them), and
 *
 *  - in an allocation, all of it is touched, once;
 *  - in memory that is mapped, what is mapped side by side, from the mapping that the address lies in to the end of its
 *    reservation: an array may consist of many mappings;
 *  - a reservation in which one kernel was given several addresses holds several arrays. From then on every address
 *    in it that a kernel is given begins one, for good, and what is touched is from there to where the next one begins.
 *    That PyTorch's additions touch the three matrices they are about, and not a fourth one beside them, is measured; a
 *    kernel that is given a part of an array divides it for later ones, which is wrong, and cheaper.
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
    const struct allocation *allocation;
    struct reservation *reservation; /* of memory that is mapped; or NULL */
    uint64_t end;                    /* of what is touched from there on */
};

struct pointers {
    unsigned count;
    struct pointer list[MOST_POINTERS];
};

/* The first one into each allocation; into memory that is mapped, every one. */
static bool is_in(const struct pointers *pointers, const struct pointer *pointer) {
    for (unsigned i = 0; i < pointers->count; i++)
        if (pointers->list[i].allocation == pointer->allocation &&
            (!pointer->reservation || pointers->list[i].address == pointer->address))
            return true;
    return false;
}

static void add(struct pointers *pointers, uint64_t word) {
    const struct allocation *allocation = word ? memory_find(word) : NULL;
    if (!allocation || pointers->count == MOST_POINTERS)
        return;
    struct pointer pointer = {word, allocation, NULL, allocation->address + allocation->bytes};
    if (allocation->kind == MEMORY_MAPPED)
        pointer.reservation = reservation_find(word);
    if (!is_in(pointers, &pointer))
        pointers->list[pointers->count++] = pointer;
}

static bool is_shared(const struct pointers *pointers, const struct pointer *pointer) {
    unsigned sharing = 0;
    for (unsigned i = 0; i < pointers->count; i++)
        sharing += pointers->list[i].reservation == pointer->reservation;
    return sharing > 1;
}

static void note_arrays(const struct pointers *pointers) {
    for (unsigned i = 0; i < pointers->count; i++) {
        const struct pointer *pointer = &pointers->list[i];
        struct reservation *reservation = pointer->reservation;
        if (reservation && (reservation->arrays.count || is_shared(pointers, pointer)))
            arrays_note(&reservation->arrays, pointer->address);
    }
}

/* How far memory is mapped without a gap. */
static uint64_t end_of_run(uint64_t at, uint64_t limit) {
    const struct allocation *next;
    while (at < limit && (next = memory_find(at)) && next->kind == MEMORY_MAPPED)
        at = next->address + next->bytes;
    return at < limit ? at : limit;
}

static void touch_array(struct pointer *pointer, struct touch *touch) {
    const struct reservation *reservation = pointer->reservation;
    uint64_t begin = pointer->allocation->address,
             limit = reservation->address + reservation->bytes;
    if (reservation->arrays.count) {
        begin = pointer->address;
        limit = arrays_next(&reservation->arrays, begin, limit);
    }
    pointer->end = end_of_run(pointer->end, limit);
    memory_touch(touch, begin, pointer->end - begin);
}

void kernel_touch(const struct kernel_task *kernel, struct touch *touch, struct sweep *sweep) {
    struct pointers pointers = {.count = 0};
    for (unsigned at = 0; at + 8 <= kernel->parameter_bytes; at += 8) {
        uint64_t word;
        memcpy(&word, kernel->parameters + at, sizeof word);
        add(&pointers, word);
    }
    note_arrays(&pointers);
    for (unsigned i = 0; i < pointers.count; i++) {
        struct pointer *pointer = &pointers.list[i];
        if (pointer->reservation)
            touch_array(pointer, touch);
        else
            memory_touch_allocation(touch, pointer->allocation);
        if (i >= SWEEP_POINTERS)
            continue;
        sweep->pointer[i].address = pointer->address;
        sweep->pointer[i].end = pointer->end;
    }
    sweep->count = pointers.count;
}
