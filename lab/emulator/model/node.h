/* Attaching to an emulated node, its lock, and the slots of its processes. */
#ifndef NVSHARE_EMULATOR_NODE_H
#define NVSHARE_EMULATOR_NODE_H

#include "state.h"

/* Maps the node that NVSHARE_EMULATOR_NODE names; the first process to do so creates its state.
 * Returns 0, or a negative errno with a sentence for the user in `why`. */
int node_attach(struct node **out, char *why, size_t why_bytes);
int node_attach_folder(const char *folder, struct node **out, char *why, size_t why_bytes);
void node_detach(struct node *node);

/* The emulated time now, and the real (CLOCK_MONOTONIC) instant of an emulated time. */
uint64_t node_now(const struct node *node);
uint64_t node_real_time(const struct node *node, uint64_t emulated);

/* The one lock. node_lock() brings the model up to date and returns its time. */
uint64_t node_lock(struct node *node);
void node_unlock(struct node *node);

/* Takes a slot for the calling process. The calling thread must live as long as the process, since
 * it holds the slot's life. Returns the slot's number or -ENOSPC. */
int node_join(struct node *node);

/* Frees everything that dead processes held, with the lock held. Cheap if no process has died. */
void node_reap(struct node *node);

/* Frees everything that one slot holds, with the lock held. */
void node_clear_slot(struct node *node, uint32_t slot);

#endif
