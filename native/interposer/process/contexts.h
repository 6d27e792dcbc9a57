/* The contexts of this process: the GPU of each, and a number that is never reused.
 *
 * A context's handle is an address, and a destroyed context's address soon comes back. So
 * everything that belongs to a context is kept under its number. */
#ifndef NVSHARE_CONTEXTS_H
#define NVSHARE_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lookup/driver.h"

struct device;

struct context {
    CUcontext handle;
    uint64_t id;
    struct device *device;
    bool is_created; /* by cuCtxCreate; the others are primary contexts */
    CUevent probe;   /* for drain.c; NULL until it is needed */
    CUevent old;     /* the same */
    bool has_old;    /* it was recorded */
    struct context *next;
};

/* The calling thread's current context, or NULL. It stays valid unless the program destroys it
 * while using it, which is the program's own fault. */
const struct context *context_here(void);

/* The calling thread's context is this one now; NULL: it is not known. */
void context_switched(CUcontext handle);

/* Notes that the current context comes from cuCtxCreate. */
void context_created(CUcontext handle);

/* Takes a context out of the list, before or after the driver destroys it. NULL: it was never
 * used. */
struct context *context_take(CUcontext handle);
void context_put_back(struct context *context);

/* The device of a context, or NULL if the context was never used. */
struct device *context_device(CUcontext handle);

/* Whether a context of this number still exists; and its handle, or NULL. */
bool context_exists(uint64_t id);
CUcontext context_handle(uint64_t id);

/* Takes out a context of a device that was not created: one that goes with the primary context. The
 * caller holds the lock. */
struct context *context_take_primary(const struct device *device);

/* To go through all contexts of a device: they cannot go away while the lock is held. */
void contexts_lock(void);
void contexts_unlock(void);
struct context *contexts_first(void);

/* In a child after fork. */
void contexts_forget(void);

#endif
