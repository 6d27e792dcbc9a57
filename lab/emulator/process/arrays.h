/* Where arrays begin in reserved addresses, as far as anybody has told: addresses in their order. */
#ifndef NVSHARE_EMULATOR_ARRAYS_H
#define NVSHARE_EMULATOR_ARRAYS_H

#include <stdint.h>

struct arrays {
    uint64_t *begins; /* NULL: nobody has */
    unsigned count, capacity;
};

/* An array begins at an address. It is forgotten at once if there is no memory for it, or there are thousands. */
void arrays_note(struct arrays *arrays, uint64_t address);

/* The first one that begins above an address and below a limit; or the limit. */
uint64_t arrays_next(const struct arrays *arrays, uint64_t address, uint64_t limit);

void arrays_free(struct arrays *arrays);

#endif
