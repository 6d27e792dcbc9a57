/* Host memory for explicit memory that has left the GPU, in extents: pieces that the daemon has
 * made and paid for, so that none of it is charged to the program. They are held while the program
 * may need them, even if the daemon goes, because making them and locking their pages takes several
 * times as long as a copy. Plain C: it calls no driver (locking.h does).
 *
 * Extents are given out in pages of 2 MiB, to the slots of chunks (slot.h). */
#ifndef NVSHARE_EXPLICIT_EXTENT_H
#define NVSHARE_EXPLICIT_EXTENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct account;

#define EXTENT_PAGE  ((uint64_t)2 << 20)
#define EXTENT_BYTES ((uint64_t)64 << 20) /* the size of those that we make ourselves */
enum { EXTENT_PAGES_MAX = 64 };

struct extent {
    struct extent *next;
    char *at;
    unsigned pages;
    uint64_t taken;   /* a bit per page */
    uint64_t context; /* the number of the context that has locked it; 0: not locked */
    bool is_refused;  /* the driver refused to lock it, and is not asked again */
};

/* What the daemon is told about them. */
struct extents_report {
    uint64_t received; /* bytes, on this connection */
    uint64_t held;
    uint64_t most;    /* bytes that would be needed if all movable memory were out */
    uint64_t lacking; /* bytes beyond those held that a move waits for */
};

/* All extents of a GPU. */
struct extents {
    pthread_mutex_t lock;
    struct account *account;
    struct extent *first, *last;
    struct extents_report report;
    uint64_t unused;          /* bytes in no slot */
    _Atomic bool is_provided; /* the daemon makes them; if not, they are the program's own memory */
    _Atomic bool is_denied;   /* the daemon can make no more */
    bool is_full;             /* the program has no addresses for more */
};

void extents_init(struct extents *extents, struct account *account);

/* Maps an extent that the daemon has made. The descriptor stays the caller's. */
void extents_receive(struct extents *extents, int descriptor, uint64_t bytes);

/* Makes extents of the program's own memory, where no daemon does. Returns 0 or -ENOMEM. */
int extents_make(struct extents *extents, uint64_t bytes);

/* Whether at least one extent more is held than could be needed. */
bool extents_have_spare(struct extents *extents, uint64_t most);

/* A move waits for so many bytes; 0: it does not wait any more. Returns whether there are as
 * many. */
bool extents_await(struct extents *extents, uint64_t bytes);

/* The report for the daemon. extents_reconnect: a new daemon has sent no extents yet. */
struct extents_report extents_look(struct extents *extents, uint64_t most);
void extents_reconnect(struct extents *extents);

/* Takes out an extent that is in no slot, if more is held than could be needed, or returns NULL.
 * The caller unmaps it. */
struct extent *extents_take_spare(struct extents *extents, uint64_t most);
void extent_unmap(struct extent *extent);

static inline uint64_t extent_bytes(const struct extent *extent) {
    return extent->pages * EXTENT_PAGE;
}

#endif
