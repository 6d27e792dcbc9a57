/* The compute engine of a GPU: one context at a time, in slices. */
#ifndef NVSHARE_EMULATOR_COMPUTE_H
#define NVSHARE_EMULATOR_COMPUTE_H

#include "state.h"

/* Whether a kernel has reached the part that ends only when its process says so. */
static inline bool compute_is_spinning(const struct operation *operation) {
    return operation->flags & OPERATION_UNTIL_TOLD && operation->stretch == STRETCH_PLAIN;
}

/* Chooses the context that is on the engine from now on. Returns whether its fault holds it. */
bool compute_choose(struct node *node, struct gpu *gpu);

/* Emulated ns until a slice, a switch or a stretch ends; INFINITY if the engine has no work. */
double compute_time_to_event(struct node *node, struct gpu *gpu, double fault_rate);

/* Works for that long on the chosen context. Returns whether there was any work. Sets `moving` if a
 * block was on its way meanwhile. */
bool compute_let_time_pass(struct node *node, struct gpu *gpu, double ns, double fault_rate,
                           bool *moving);

/* No context has work for that long: only a switch to a context that died can end. */
void compute_rest(struct gpu *gpu, uint64_t ns);

#endif
