/* What a kernel counts as touching. Nothing tells which of its parameters are pointers, nor how far it goes from each:
 * so everything in them that is an address counts as one (at every multiple of eight, as compilers align them), and
 *
 *  - in an allocation, all of it is touched, once;
 *  - in memory that is mapped, what is mapped side by side, from the mapping that the address lies in up to that of
 *    the next such address, or to the end: an array may consist of many mappings, and a reservation hold many
 *    arrays. Assumed. */
#include <string.h>

#include "context.h"
#include "memory.h"
#include "task.h"

enum { MOST_POINTERS = 64 };

struct pointer {
    uint64_t address;
    const struct allocation *allocation;
    uint64_t end; /* of what is touched from there on */
};

struct pointers {
    unsigned count;
    struct pointer list[MOST_POINTERS];
};

/* The first one into each allocation. */
static void add(struct pointers *pointers, uint64_t word) {
    const struct allocation *allocation = word ? memory_find(word) : NULL;
    for (unsigned i = 0; i < pointers->count && allocation; i++)
        if (pointers->list[i].allocation == allocation)
            return;
    if (allocation && pointers->count < MOST_POINTERS)
        pointers->list[pointers->count++] =
            (struct pointer){word, allocation, allocation->address + allocation->bytes};
}

static bool is_begun_by(const struct pointers *pointers, const struct allocation *allocation) {
    for (unsigned i = 0; i < pointers->count; i++)
        if (pointers->list[i].allocation == allocation)
            return true;
    return false;
}

static void touch_run(const struct pointers *pointers, struct pointer *pointer,
                      struct touch *touch) {
    const struct allocation *next;
    memory_touch_allocation(touch, pointer->allocation);
    if (pointer->allocation->kind != MEMORY_MAPPED)
        return;
    while ((next = memory_find(pointer->end)) && next->kind == MEMORY_MAPPED &&
           next->address == pointer->end && !is_begun_by(pointers, next)) {
        memory_touch_allocation(touch, next);
        pointer->end += next->bytes;
    }
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
        touch_run(&pointers, pointer, touch);
        if (i >= SWEEP_POINTERS)
            continue;
        sweep->pointer[i].address = pointer->address;
        sweep->pointer[i].end = pointer->end;
    }
    sweep->count = pointers.count;
}
