/* Memory that belongs to graphs: their allocation nodes promise an address for it.
 *
 * A real driver backs such memory while a graph that allocates it runs, and keeps it until it is
 * trimmed. Here it is backed from the creation of the node until it is trimmed, or until the last
 * graph that has it is gone; so it counts as used for longer.
 * Callers of all functions hold the driver's lock. */
#ifndef NVSHARE_EMULATOR_GRAPH_MEMORY_H
#define NVSHARE_EMULATOR_GRAPH_MEMORY_H

#include "../process/driver.h"

/* One more node (an original or a clone) allocates the memory at an address. */
CUresult graph_memory_retain(uint64_t address);

/* The node is gone. The memory is freed with its last node. If the program still uses it then, the
 * program has to free it. */
void graph_memory_drop(uint64_t address);

/* An allocation node is launched: the memory is in use. Clears *fresh if it was already. Trimmed
 * memory comes back, if there is room. */
CUresult graph_memory_use(uint64_t address, bool *fresh);

/* The memory is to be freed. True if it belongs to a graph: then it stays, for the next launch.
 * Called by cuMemFree and by every function that frees memory in stream order. */
bool graph_memory_free(uint64_t address);

#endif
