#include "latency.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST_ROOM = 1024 };

void latencies_add(struct latencies *latencies, double seconds) {
    if (latencies->count == latencies->room) {
        latencies->room = latencies->room ? 2 * latencies->room : FIRST_ROOM;
        latencies->seconds =
            realloc(latencies->seconds, latencies->room * sizeof *latencies->seconds);
        if (!latencies->seconds) {
            perror("realloc");
            exit(1);
        }
    }
    latencies->seconds[latencies->count++] = seconds;
}

void latencies_print(const struct latencies *latencies) {
    for (size_t i = 0; i < latencies->count; i++)
        printf("%s%.6f", i ? ", " : "", latencies->seconds[i]);
}
