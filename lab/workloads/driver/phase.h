/* A phase of a program, as a scenario file describes it: docs/simulator.md explains every field.
 *
 * Memory is a line from 0 to its size. A kernel touches a window of it. Windows follow each other
 * to the end of the line and start over. The line is cut into allocations at all borders of windows
 * and at all sizes, so that a window consists of whole allocations. */
#ifndef NVSHARE_WORKLOAD_PHASE_H
#define NVSHARE_WORKLOAD_PHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_PHASES = 256, MAX_CUTS = 128 };

struct phase {
    double wait_s;
    uint64_t memory, copy_in;
    uint64_t iterations, kernels;
    uint64_t touch;   /* bytes; at most `memory` */
    double kernel_us; /* 0: as long as the touched bytes take */
    bool sync;
    double idle_s, idle_jitter_s;
    double rate; /* random requests per second; 0: the next one comes after the rest */
};

/* Reads "memory=1073741824,iterations=100". Ends the program with a message if it is malformed. */
struct phase phase_read(char *text);

/* The number of windows, and the beginning of each. Together they cover all memory. */
uint64_t phase_windows(const struct phase *phase);
uint64_t phase_window(const struct phase *phase, uint64_t number);

/* The places where memory is cut, in order, from 0 to the largest size. */
struct cuts {
    size_t count;
    uint64_t at[MAX_CUTS];
};
struct cuts phase_cuts(const struct phase *phases, size_t count);

#endif
