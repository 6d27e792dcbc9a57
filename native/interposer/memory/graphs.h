/* Memory of graphs (memory nodes): the driver makes it when a graph is launched, and keeps it for
 * the next launch. It cannot have a handle of ours, so it cannot move. It is counted as the driver
 * reports it. Unused graph memory is not given back for others (cuDeviceGraphMemTrim): on a GPU
 * filled with explicit memory, the next launch would run out of memory, although it had worked
 * before. */
#ifndef NVSHARE_GRAPHS_H
#define NVSHARE_GRAPHS_H

#include <stdatomic.h>
#include <stdbool.h>

struct device;

/* Whether the program has ever made a memory node. */
extern _Atomic bool graphs_have_memory;

/* Counts the present amount, and tells the session of a change. */
void graphs_count(struct device *device);

#endif
