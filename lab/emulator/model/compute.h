/* The compute engine of a GPU: one context at a time, in slices. */
#ifndef NVSHARE_EMULATOR_COMPUTE_H
#define NVSHARE_EMULATOR_COMPUTE_H

#include "state.h"

/* Whether a kernel is on the engine, or waits for it, until its process says that it ends. */
static inline bool compute_is_spinning(const struct operation *operation) {
    return operation->flags & OPERATION_UNTIL_TOLD && operation->stretch == STRETCH_PLAIN;
}

/* Decides whose context is on the engine from now on. Returns whether a fault of its holds it. */
bool compute_choose(struct node *node, struct gpu *gpu);

/* Emulated ns until a slice, a switch or a stretch ends; INFINITY when the engine has no work. */
double compute_time_to_event(struct node *node, struct gpu *gpu, double fault_rate);

/* Works for that long on the chosen context. Returns whether there was anything to do; `moving` gets
 * set if a block was on its way meanwhile. */
bool compute_let_time_pass(struct node *node, struct gpu *gpu, double ns, double fault_rate,
                           bool *moving);

/* Nobody has anything to do for that long: all that can end is a switch to one who died. */
void compute_rest(struct gpu *gpu, uint64_t ns);

#endif
