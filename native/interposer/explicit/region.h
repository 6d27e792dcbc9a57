/* Explicit memory, as records: regions, the chunks that they consist of, where the bytes of each
 * chunk are, and at which addresses the program sees them. Plain C: it calls no driver.
 *
 * Chunks are the unit of moving. A chunk is one handle of physical memory while it is there, and
 * nothing on the GPU while it is away. An address of a chunk that is away must not be used: so the
 * gate opens only when none is.
 *
 * A region is allocated as one. One made by cuMemAlloc, for one allocation or many small ones
 * (slab.h), has one mapping for its whole life. One made by cuMemCreate is mapped by the program as
 * often as it likes, or not at all.
 *
 * A chunk counts with the bytes that the program has in it, so that the moved bytes add up to the
 * allocated bytes. */
#ifndef NVSHARE_EXPLICIT_REGION_H
#define NVSHARE_EXPLICIT_REGION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/ledger.h"
#include "slot.h"

/* The unit in which drivers give physical memory and addresses for it. */
#define REGION_PAGE ((uint64_t)2 << 20)

/* How much of a region moves at once. Each handle has a cost, so small chunks are slow; large
 * chunks delay programs that wait for the room. */
#define REGION_CHUNK ((uint64_t)64 << 20)

enum { MAPPING_GPUS = 16 }; /* that can have access to a mapping */

enum chunk_state {
    CHUNK_THERE,  /* on the GPU */
    CHUNK_STORED, /* on the host, in its slot */
    CHUNK_BLANK,  /* nowhere: it was never written to */
    CHUNK_LOST,   /* nowhere: no context works any more, so it cannot be used */
};

struct region;

struct chunk {
    struct region *region;
    uint64_t handle; /* of its physical memory, while it is there; or could not be taken away */
    uint64_t offset, bytes;
    uint64_t live; /* bytes that the program has in it */
    enum chunk_state state;
    bool is_moving; /* a thread works on it outside the lock */
    uint64_t fill;  /* the number of the fill that has brought it in; and what it was before that */
    enum chunk_state before_fill;
    struct slot slot; /* on the host, while it has one */
    /* How long before the newest its region was last used, for the list that it is in. */
    unsigned coldness;
};

struct access {
    int gpu;
    int flags; /* as the program gave them */
};

/* A part of a region, at addresses. */
struct mapping {
    struct mapping *next; /* of the same region */
    struct region *region;
    uint64_t address, bytes;
    uint64_t offset; /* in the region */
    unsigned access_count;
    struct access access[MAPPING_GPUS];
};

struct slab;
struct physical;

struct region {
    struct region *next, **link; /* of its GPU; without a link, the region is gone */
    uint64_t serial;             /* its number among all regions ever made */
    uint64_t bytes;
    _Atomic uint64_t used_ns; /* when something in it was last seen in use */
    struct mapping *mappings;
    struct slab *slab;         /* it is shared by small allocations; or NULL */
    struct physical *physical; /* it is behind a handle of the program's; or NULL */
    bool stays;                /* it may not leave any more */
    uint64_t chunk_bytes;      /* of each chunk but the last */
    unsigned count;
    struct chunk chunks[];
};

/* All regions of one GPU. */
struct regions {
    pthread_mutex_t lock;
    pthread_cond_t landed; /* a chunk has stopped moving */
    struct account *account;
    uint64_t away;  /* live bytes that are not on the GPU; the account counts them, too */
    uint64_t fills; /* how many there were */
    /* How many when everything was last there: memory that later ones brought was not used. */
    uint64_t fills_when_whole;
    uint64_t last_serial;
    struct region *first;
    size_t chunk_count;
    _Atomic uint64_t movable; /* bytes of all regions that may leave, in whole pages */
    struct mapping **sorted;  /* by address */
    size_t mapping_count, capacity;
    unsigned lists;      /* lists that may still refer to chunks of regions that are gone */
    struct region *gone; /* those regions */
};

/* Chunks to move, in order. Regions that are freed meanwhile are skipped, and stay readable until
 * the list is freed. */
struct chunk_list {
    struct chunk **chunks;
    size_t count, next;
};

void regions_init(struct regions *regions, struct account *account);

/* Makes a region of `bytes` in whole pages, in chunks. All of it is blank, and nothing is allocated
 * in it. Returns NULL if there is no memory for it. */
struct region *region_create(uint64_t bytes, uint64_t chunk_bytes);

/* For the functions below the caller holds the lock. */

/* Links a region; or unlinks it, and frees it with its mappings. The caller makes sure that nothing
 * of it moves, and that nothing is allocated in it. */
void region_link(struct regions *regions, struct region *region);
void region_drop(struct regions *regions, struct region *region);

/* Adds a mapping, as a copy of what is given, or drops one. Returns the new one, or NULL if there
 * is no memory. */
struct mapping *mapping_add(struct regions *regions, const struct mapping *mapping);
void mapping_drop(struct regions *regions, struct mapping *mapping);

/* The mapping that an address lies in, or NULL. */
struct mapping *regions_find(const struct regions *regions, uint64_t address);

/* The part of a chunk that a mapping covers: address, offset and bytes. Returns false if it covers
 * none. */
bool mapping_of_chunk(const struct mapping *mapping, const struct chunk *chunk, uint64_t *address,
                      uint64_t *offset, uint64_t *bytes);

/* The program has `bytes` more, or less, from an offset of a region on. */
void region_add_live(struct regions *regions, struct region *region, uint64_t offset,
                     uint64_t bytes);
void region_remove_live(struct regions *regions, struct region *region, uint64_t offset,
                        uint64_t bytes);

/* A chunk is somewhere else from now on. */
void chunk_set_state(struct regions *regions, struct chunk *chunk, enum chunk_state state);

/* The region may not leave any more. */
void region_stay(struct regions *regions, struct region *region);

/* All memory that is away is lost. */
void regions_lose(struct regions *regions);

/* Whether all of a region is on the GPU. */
bool region_is_there(const struct region *region);

/* Waits until nothing of a region moves. */
void region_wait(struct regions *regions, const struct region *region);

/* The chunk has stopped moving. */
void chunk_landed(struct regions *regions, struct chunk *chunk);

/* Chunks that are there, the coldest first; or away, the hottest first. Returns 0 or -ENOMEM. The
 * caller frees the list. */
int regions_list_there(struct regions *regions, struct chunk_list *list);
int regions_list_away(struct regions *regions, struct chunk_list *list);
void chunk_list_free(struct regions *regions, struct chunk_list *list);

/* Takes the next chunk that is still as it was when the list was made, or NULL. It counts as moving
 * from now on. */
struct chunk *chunk_list_take(struct chunk_list *list, bool away);

#endif
