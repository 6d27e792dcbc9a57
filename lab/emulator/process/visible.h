/* CUDA_VISIBLE_DEVICES: which GPUs of the node a program sees, and in which order. */
#ifndef NVSHARE_EMULATOR_VISIBLE_H
#define NVSHARE_EMULATOR_VISIBLE_H

#include "../model/state.h"

/* Fills `visible` and returns how many there are. NULL: all. As with the real driver a list of
 * numbers or UUIDs (or their beginnings) counts up to the first entry that names no GPU. */
uint32_t visible_gpus(const struct node *node, const char *list, uint32_t visible[MAX_GPUS]);

#endif
