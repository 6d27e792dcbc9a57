/* Addresses for allocations inside one reserved stretch of address space.
 *
 * Space is handed out in chunks of a block's size; small allocations share a chunk with others of
 * their size class. Looking an address up takes no search. Not thread-safe. */
#ifndef NVSHARE_EMULATOR_ARENA_H
#define NVSHARE_EMULATOR_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHUNK_BYTES ((uint64_t)2 << 20)

struct arena;

struct arena *arena_create(uint64_t base, uint64_t bytes);

/* Reserves `bytes`. arena_find() will return `owner`. Returns the address, or 0 if there is none.
 * `chunks` gets the number of chunks that this newly uses, from `first_chunk` on. */
uint64_t arena_allocate(struct arena *arena, uint64_t bytes, void *owner, uint32_t *first_chunk,
                        uint32_t *chunks);

/* Frees an allocation; `chunks` gets the number of chunks that are no longer in use. */
void arena_release(struct arena *arena, uint64_t address, uint32_t *first_chunk, uint32_t *chunks);

/* The owner of the allocation that contains an address, or NULL. */
void *arena_find(const struct arena *arena, uint64_t address);

bool arena_contains(const struct arena *arena, uint64_t address);

#endif
