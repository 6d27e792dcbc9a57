/* Recomputes derived state from primary state (see state.h). */
#ifndef NVSHARE_EMULATOR_RECOVER_H
#define NVSHARE_EMULATOR_RECOVER_H

#include "state.h"

/* After the lock was found abandoned: repairs a half-done change, and recounts. */
void node_recover(struct node *node);

/* Recounts totals, residents and active queues. */
void recount(struct node *node);

/* Compares the derived state with a recount. Returns NULL, or the name of a difference. */
const char *node_difference(struct node *node);

#endif
