/* The recent utilisation of a GPU and its users, in buckets of a tenth of an emulated second. */
#ifndef NVSHARE_EMULATOR_BUSY_H
#define NVSHARE_EMULATOR_BUSY_H

#include "state.h"

void busy_note_gpu(struct gpu *gpu, uint64_t from, uint64_t ns);
void busy_note_account(struct account *account, uint64_t from, uint64_t ns);

/* Percent of a past bucket; `age` 1 is the last complete one. */
uint32_t busy_percent_gpu(const struct gpu *gpu, uint64_t now, uint32_t age);
uint32_t busy_percent_account(const struct account *account, uint64_t now, uint32_t age);

#endif
