/* The duration of each burst of kernels, as a growing list. */
#ifndef NVSHARE_WORKLOAD_LATENCY_H
#define NVSHARE_WORKLOAD_LATENCY_H

#include <stddef.h>

struct latencies {
    size_t count, room;
    double *seconds;
};

void latencies_add(struct latencies *latencies, double seconds);

/* As the inside of a JSON array, in seconds. */
void latencies_print(const struct latencies *latencies);

#endif
