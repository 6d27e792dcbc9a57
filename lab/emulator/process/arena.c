/* Addresses for allocations inside one reserved stretch of address space. */
#include "arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    SMALLEST_SHIFT = 9, /* 512 bytes, which is also the alignment of every allocation */
    CLASS_COUNT = 12,   /* up to 1 MiB; anything larger has chunks of its own */
    NO_CHUNK = -1,
};

/* A chunk that is shared by small allocations of one class. */
struct slab {
    uint32_t class;
    uint32_t used;
    int32_t next, previous; /* slabs of the class that have a free place */
    uint32_t search_from;
    void *owners[]; /* one per place; NULL: free */
};

struct chunk {
    void *owner;       /* of a large allocation, in its first chunk */
    struct slab *slab; /* or the slab in it */
    uint32_t first;    /* of the large allocation it belongs to, + 1; 0: free */
    uint32_t length;   /* of the large allocation, in chunks */
};

struct arena {
    uint64_t base;
    uint32_t chunk_count;
    uint32_t search_from;
    int32_t partial[CLASS_COUNT];
    struct chunk *chunks;
};

static uint32_t places_in(uint32_t class) {
    return (uint32_t)(CHUNK_BYTES >> (SMALLEST_SHIFT + class));
}

struct arena *arena_create(uint64_t base, uint64_t bytes) {
    struct arena *arena = calloc(1, sizeof *arena);
    if (!arena)
        return NULL;
    arena->base = base;
    arena->chunk_count = (uint32_t)(bytes / CHUNK_BYTES);
    for (int i = 0; i < CLASS_COUNT; i++)
        arena->partial[i] = NO_CHUNK;
    /* Mapped, not allocated: the table is large and mostly stays untouched. */
    arena->chunks = mmap(NULL, arena->chunk_count * sizeof(struct chunk), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena->chunks == MAP_FAILED) {
        free(arena);
        return NULL;
    }
    return arena;
}

/* First fit from where the last search ended, then from the beginning. */
static int64_t find_free_run(const struct arena *arena, uint32_t from, uint32_t until,
                             uint32_t length) {
    uint32_t run = 0;
    for (uint32_t i = from; i < until; i++) {
        const struct chunk *chunk = &arena->chunks[i];
        run = chunk->first || chunk->slab ? 0 : run + 1;
        if (run == length)
            return (int64_t)i - length + 1;
    }
    return -1;
}

static int64_t take_run(struct arena *arena, uint32_t length) {
    int64_t start = find_free_run(arena, arena->search_from, arena->chunk_count, length);
    if (start < 0) {
        uint64_t until = (uint64_t)arena->search_from + length;
        if (until > arena->chunk_count)
            until = arena->chunk_count;
        start = find_free_run(arena, 0, (uint32_t)until, length);
    }
    if (start >= 0)
        arena->search_from = (uint32_t)start + length;
    return start;
}

static uint64_t allocate_large(struct arena *arena, uint64_t bytes, void *owner,
                               uint32_t *first_chunk, uint32_t *chunks) {
    uint32_t length = (uint32_t)((bytes + CHUNK_BYTES - 1) / CHUNK_BYTES);
    int64_t start = take_run(arena, length);
    if (start < 0)
        return 0;
    for (uint32_t i = 0; i < length; i++)
        arena->chunks[start + i].first = (uint32_t)start + 1;
    arena->chunks[start].owner = owner;
    arena->chunks[start].length = length;
    *first_chunk = (uint32_t)start;
    *chunks = length;
    return arena->base + (uint64_t)start * CHUNK_BYTES;
}

static void link_partial(struct arena *arena, int32_t index) {
    struct slab *slab = arena->chunks[index].slab;
    slab->previous = NO_CHUNK;
    slab->next = arena->partial[slab->class];
    if (slab->next != NO_CHUNK)
        arena->chunks[slab->next].slab->previous = index;
    arena->partial[slab->class] = index;
}

static void unlink_partial(struct arena *arena, int32_t index) {
    struct slab *slab = arena->chunks[index].slab;
    if (slab->next != NO_CHUNK)
        arena->chunks[slab->next].slab->previous = slab->previous;
    if (slab->previous != NO_CHUNK)
        arena->chunks[slab->previous].slab->next = slab->next;
    else
        arena->partial[slab->class] = slab->next;
}

static int32_t new_slab(struct arena *arena, uint32_t class) {
    struct slab *slab = calloc(1, sizeof *slab + places_in(class) * sizeof slab->owners[0]);
    int64_t start = slab ? take_run(arena, 1) : -1;
    if (start < 0) {
        free(slab);
        return NO_CHUNK;
    }
    slab->class = class;
    arena->chunks[start].slab = slab;
    link_partial(arena, (int32_t)start);
    return (int32_t)start;
}

static uint64_t allocate_small(struct arena *arena, uint32_t class, void *owner,
                               uint32_t *first_chunk, uint32_t *chunks) {
    int32_t index = arena->partial[class];
    *chunks = 0;
    if (index == NO_CHUNK) {
        index = new_slab(arena, class);
        if (index == NO_CHUNK)
            return 0;
        *chunks = 1;
    }
    *first_chunk = (uint32_t)index;
    struct slab *slab = arena->chunks[index].slab;
    uint32_t places = places_in(class), place = slab->search_from;
    while (slab->owners[place % places])
        place++;
    place %= places;
    slab->owners[place] = owner;
    slab->search_from = (place + 1) % places;
    if (++slab->used == places)
        unlink_partial(arena, index);
    return arena->base + (uint64_t)(uint32_t)index * CHUNK_BYTES +
           ((uint64_t)place << (SMALLEST_SHIFT + class));
}

uint64_t arena_allocate(struct arena *arena, uint64_t bytes, void *owner, uint32_t *first_chunk,
                        uint32_t *chunks) {
    if (bytes > (uint64_t)arena->chunk_count * CHUNK_BYTES)
        return 0;
    for (uint32_t class = 0; class < CLASS_COUNT; class ++)
        if (bytes <= (uint64_t)1 << (SMALLEST_SHIFT + class))
            return allocate_small(arena, class, owner, first_chunk, chunks);
    return allocate_large(arena, bytes, owner, first_chunk, chunks);
}

static void release_large(struct arena *arena, uint32_t index, uint32_t *first_chunk,
                          uint32_t *chunks) {
    uint32_t first = arena->chunks[index].first - 1;
    *first_chunk = first;
    *chunks = arena->chunks[first].length;
    memset(&arena->chunks[first], 0, *chunks * sizeof(struct chunk));
    if (first < arena->search_from)
        arena->search_from = first;
}

static void release_small(struct arena *arena, uint32_t index, uint64_t offset,
                          uint32_t *first_chunk, uint32_t *chunks) {
    struct slab *slab = arena->chunks[index].slab;
    uint32_t place = (uint32_t)(offset % CHUNK_BYTES >> (SMALLEST_SHIFT + slab->class));
    slab->owners[place] = NULL;
    slab->search_from = place;
    if (slab->used-- == places_in(slab->class))
        link_partial(arena, (int32_t)index);
    *first_chunk = index;
    *chunks = 0;
    if (slab->used == 0) {
        unlink_partial(arena, (int32_t)index);
        free(slab);
        arena->chunks[index].slab = NULL;
        *chunks = 1;
        if (index < arena->search_from)
            arena->search_from = index;
    }
}

void arena_release(struct arena *arena, uint64_t address, uint32_t *first_chunk, uint32_t *chunks) {
    uint64_t offset = address - arena->base;
    uint32_t index = (uint32_t)(offset / CHUNK_BYTES);
    if (arena->chunks[index].slab)
        release_small(arena, index, offset, first_chunk, chunks);
    else
        release_large(arena, index, first_chunk, chunks);
}

bool arena_contains(const struct arena *arena, uint64_t address) {
    return address >= arena->base &&
           address - arena->base < (uint64_t)arena->chunk_count * CHUNK_BYTES;
}

void *arena_find(const struct arena *arena, uint64_t address) {
    if (!arena_contains(arena, address))
        return NULL;
    uint64_t offset = address - arena->base;
    const struct chunk *chunk = &arena->chunks[offset / CHUNK_BYTES];
    if (chunk->slab)
        return chunk->slab->owners[offset % CHUNK_BYTES >> (SMALLEST_SHIFT + chunk->slab->class)];
    return chunk->first ? arena->chunks[chunk->first - 1].owner : NULL;
}
