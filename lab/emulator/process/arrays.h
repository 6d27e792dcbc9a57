/* The known beginnings of arrays in reserved addresses, sorted. */
#ifndef NVSHARE_EMULATOR_ARRAYS_H
#define NVSHARE_EMULATOR_ARRAYS_H

#include <stdint.h>

struct arrays {
    uint64_t *begins; /* NULL: none is known */
    unsigned count, capacity;
};

/* Notes that an array begins at an address. Does nothing if memory is out, or after thousands. */
void arrays_note(struct arrays *arrays, uint64_t address);

/* The first one that begins above an address and below a limit; or the limit. */
uint64_t arrays_next(const struct arrays *arrays, uint64_t address, uint64_t limit);

void arrays_free(struct arrays *arrays);

#endif
