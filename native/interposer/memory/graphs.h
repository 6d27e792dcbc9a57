/* Memory of graphs (memory nodes): the driver makes it when a graph is launched, and keeps it for the next launch. No
 * handle of ours can be behind it, so that it cannot be moved. It is counted as the driver tells. What no graph uses just
 * now is not given back for others (cuDeviceGraphMemTrim): on a GPU that they have filled with explicit memory the next
 * launch would be out of memory, which had worked before. */
#ifndef NVSHARE_GRAPHS_H
#define NVSHARE_GRAPHS_H

#include <stdatomic.h>
#include <stdbool.h>

struct device;

/* Whether the program has ever made a memory node. */
extern _Atomic bool graphs_have_memory;

/* Counts what there is by now. The session hears of a change. */
void graphs_count(struct device *device);

#endif
