/* The addresses that a kernel reaches.
 *
 * They are known to the byte for the named kernels. Any other kernel is taken to reach the mappings
 * that its parameters point into when it runs. */
#include <string.h>

#include "function.h"
#include "memory.h"
#include "reach.h"
#include "reservation.h"
#include "task.h"

static uint64_t word_at(const struct kernel_task *kernel, unsigned at) {
    uint64_t word = 0;
    if (at + sizeof word <= kernel->parameter_bytes)
        memcpy(&word, kernel->parameters + at, sizeof word);
    return word;
}

static void reach_spans(const struct kernel_task *kernel, uint32_t gpu, struct reach **reach) {
    for (const struct kernel_span *span = kernel->function->spans; span->element; span++) {
        uint64_t address = word_at(kernel, span->pointer), bytes;
        uint64_t count = span->count == ONE_ELEMENT ? 1 : word_at(kernel, (unsigned)span->count);
        if (__builtin_mul_overflow(count, span->element, &bytes))
            bytes = UINT64_MAX;
        if (!memory_find(address))
            reach_add_unknown(reach, address, bytes, gpu, REACH_READS);
        else
            reach_add(reach, address, bytes, gpu, REACH_READS);
    }
}

bool kernel_waits_for_host(const struct kernel_task *kernel) {
    bool all = true;
    for (const struct kernel_span *span = kernel->function->spans; span->element && all; span++) {
        const struct allocation *allocation = memory_find(word_at(kernel, span->pointer));
        all = allocation &&
              (allocation->kind == MEMORY_HOST || allocation->kind == MEMORY_REGISTERED);
    }
    return all;
}

static bool points_into(const struct kernel_task *kernel, const struct allocation *allocation) {
    for (unsigned at = 0; at + 8 <= kernel->parameter_bytes; at += 8)
        if (word_at(kernel, at) - allocation->address < allocation->bytes)
            return true;
    return false;
}

/* Libraries pass the end of an array besides its beginning, and do not access it. Assumed: an
 * address with nothing at it is an end, if it is the end of a mapping that another parameter points
 * into. */
static bool is_end_of_array(const struct kernel_task *kernel, uint64_t address) {
    const struct allocation *before = memory_find(address) ? NULL : memory_find(address - 1);
    return before && points_into(kernel, before);
}

static void reach_pointers(const struct kernel_task *kernel, uint32_t gpu, struct reach **reach) {
    for (unsigned at = 0; at + 8 <= kernel->parameter_bytes; at += 8) {
        uint64_t word = word_at(kernel, at);
        if (reservation_find(word) && !is_end_of_array(kernel, word))
            reach_add(reach, word, 1, gpu, REACH_READS);
    }
}

void kernel_reach(const struct kernel_task *kernel, uint32_t gpu, struct effect *effect) {
    uint64_t where;
    if (kernel->function->spans)
        reach_spans(kernel, gpu, &effect->reach);
    else if (driver->reservations)
        reach_pointers(kernel, gpu, &effect->reach);
    if (effect->reach && !reach_is_there(effect->reach, &where))
        effect->eager = true; /* perhaps no thread asks for the result */
}
