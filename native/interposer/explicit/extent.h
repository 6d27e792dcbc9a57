/* Host memory for what has left the GPU, in extents: pieces of memory that the daemon has made and paid for, so that
 * none of it is charged to the program. They are held for as long as the program may need them, whatever becomes of the
 * daemon, because to make them and to lock their pages takes several times as long as a copy. Plain C: it calls no
 * driver (locking.h does).
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
#define EXTENT_BYTES ((uint64_t)64 << 20) /* how large one is that nobody has made for us */
enum { EXTENT_PAGES_MAX = 64 };

struct extent {
    struct extent *next;
    char *at;
    unsigned pages;
    uint64_t taken;   /* a bit per page */
    uint64_t context; /* the number of the one that has locked it; 0: its pages are not locked */
    bool is_refused;  /* the driver does not lock it, and is not asked again and again */
};

/* What the daemon is told of them. */
struct extents_report {
    uint64_t received; /* bytes, on this connection */
    uint64_t held;
    uint64_t most;    /* bytes that could be needed, if all that can move were out */
    uint64_t lacking; /* bytes beyond those held that a move waits for */
};

/* All extents of a GPU. */
struct extents {
    pthread_mutex_t lock;
    struct account *account;
    struct extent *first, *last;
    struct extents_report report;
    uint64_t unused;          /* bytes in no slot */
    _Atomic bool is_provided; /* a daemon makes them; if not, they are the program's own memory */
    _Atomic bool is_denied;   /* the daemon can make no more */
    bool is_full;             /* the program has no addresses for more */
};

void extents_init(struct extents *extents, struct account *account);

/* What the daemon has made: maps it. The descriptor stays the caller's. */
void extents_receive(struct extents *extents, int descriptor, uint64_t bytes);

/* Memory of the program's own, where no daemon makes any. Returns 0 or -ENOMEM. */
int extents_make(struct extents *extents, uint64_t bytes);

/* Whether an extent or more is held beyond what could be needed. */
bool extents_have_spare(struct extents *extents, uint64_t most);

/* A move waits for so many bytes; or for none any more, with 0. Returns whether there are as many. */
bool extents_await(struct extents *extents, uint64_t bytes);

/* What the daemon is to be told; and, of another daemon's connection, that nothing has come by it yet. */
struct extents_report extents_look(struct extents *extents, uint64_t most);
void extents_reconnect(struct extents *extents);

/* Takes out an extent that is in no slot, if more is held than could be needed; or returns NULL. Whoever gets it unmaps
 * it. */
struct extent *extents_take_spare(struct extents *extents, uint64_t most);
void extent_unmap(struct extent *extent);

static inline uint64_t extent_bytes(const struct extent *extent) {
    return extent->pages * EXTENT_PAGE;
}

#endif
