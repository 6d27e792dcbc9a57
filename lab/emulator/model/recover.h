/* Working out again what is derived from what is primary (see state.h). */
#ifndef NVSHARE_EMULATOR_RECOVER_H
#define NVSHARE_EMULATOR_RECOVER_H

#include "state.h"

/* After the lock was found abandoned: mends what a half-done change can leave, and recounts. */
void node_recover(struct node *node);

/* Recounts totals, residents and active queues. */
void recount(struct node *node);

/* Compares what is derived with a recount. Returns NULL, or the name of what differs. */
const char *node_difference(struct node *node);

#endif
