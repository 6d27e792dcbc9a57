/* Runs a script on an arena and prints its answers, for a test that keeps records itself.
 *
 *     a BYTES    allocate: prints offset, first chunk, chunks newly in use ("none" when it is full)
 *     r OFFSET   release the allocation there: prints first chunk, chunks given back
 *     f OFFSET   find: prints the number of the allocation there (in order of allocation), or "none" */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "process/arena.h"

enum { BASE = 1 << 30 };

static void allocate(struct arena *arena, uint64_t bytes, uintptr_t number) {
    uint32_t first = 0, chunks = 0;
    uint64_t address = arena_allocate(arena, bytes, (void *)number, &first, &chunks);
    if (address)
        printf("%" PRIu64 " %u %u\n", address - BASE, first, chunks);
    else
        puts("none");
}

static void give_back(struct arena *arena, uint64_t offset) {
    uint32_t first, chunks;
    arena_release(arena, BASE + offset, &first, &chunks);
    printf("%u %u\n", first, chunks);
}

static void find(struct arena *arena, uint64_t offset) {
    uintptr_t number = (uintptr_t)arena_find(arena, BASE + offset);
    if (number)
        printf("%" PRIuPTR "\n", number);
    else
        puts("none");
}

int main(int argc, char **argv) {
    struct arena *arena = arena_create(BASE, argc > 1 ? strtoull(argv[1], NULL, 10) : 0);
    char verb;
    uint64_t number;
    uintptr_t allocations = 0;
    while (scanf(" %c %" SCNu64, &verb, &number) == 2) {
        if (verb == 'a')
            allocate(arena, number, ++allocations);
        else if (verb == 'r')
            give_back(arena, number);
        else
            find(arena, number);
    }
    return 0;
}
