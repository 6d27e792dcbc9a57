#include "arrays.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The number is limited: a program may give each kernel a new address, and each slows the next. */
enum { MOST_ARRAYS = 4096, FIRST_ARRAYS = 16 };

/* The number of arrays that begin at or below an address. */
static unsigned rank(const struct arrays *arrays, uint64_t address) {
    unsigned low = 0, high = arrays->count;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (arrays->begins[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool make_room(struct arrays *arrays) {
    if (arrays->count < arrays->capacity)
        return true;
    unsigned capacity = arrays->capacity ? 2 * arrays->capacity : FIRST_ARRAYS;
    uint64_t *begins = capacity <= MOST_ARRAYS
                           ? realloc(arrays->begins, capacity * sizeof arrays->begins[0])
                           : NULL;
    if (!begins)
        return false;
    arrays->begins = begins;
    arrays->capacity = capacity;
    return true;
}

void arrays_note(struct arrays *arrays, uint64_t address) {
    unsigned at = rank(arrays, address);
    if ((at && arrays->begins[at - 1] == address) || !make_room(arrays))
        return;
    memmove(&arrays->begins[at + 1], &arrays->begins[at],
            (arrays->count - at) * sizeof arrays->begins[0]);
    arrays->begins[at] = address;
    arrays->count++;
}

uint64_t arrays_next(const struct arrays *arrays, uint64_t address, uint64_t limit) {
    unsigned at = rank(arrays, address);
    return at < arrays->count && arrays->begins[at] < limit ? arrays->begins[at] : limit;
}

void arrays_free(struct arrays *arrays) {
    free(arrays->begins);
    *arrays = (struct arrays){0};
}
