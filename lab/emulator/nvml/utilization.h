/* The utilisation of a GPU, as NVML reports it: in whole percent, and late. */
#ifndef NVSHARE_EMULATOR_NVML_UTILIZATION_H
#define NVSHARE_EMULATOR_NVML_UTILIZATION_H

#include "look.h"
#include "model/busy.h"

/* NVML's figures are 200 to 400 ms old: the newest tenth of a second it knows is the third last. */
enum { LATENESS = 3 };

static inline unsigned int utilization(const struct look *look) {
    return busy_percent_gpu(look->gpu, look->now, LATENESS);
}

/* Between two constants of the board, by utilisation. */
static inline uint64_t between(uint64_t idle, uint64_t busy, unsigned int percent) {
    return busy > idle ? idle + (busy - idle) * percent / 100 : idle;
}

/* Unix time in µs at the end of the tenth of a second with that age. A bucket keeps its time, so a
 * query for newer samples does not return it again. */
uint64_t sample_time(const struct look *look, uint32_t age);

#endif
