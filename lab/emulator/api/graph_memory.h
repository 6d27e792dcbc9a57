/* Memory that belongs to graphs: what their allocation nodes promise an address for.
 *
 * A real driver backs such memory while a graph that allocates it runs, and keeps it until it is trimmed. Here it is
 * backed from the creation of the node to the end of the last graph that has it, so it counts as used for longer; or
 * until it is trimmed.
 * All functions want the driver's lock. */
#ifndef NVSHARE_EMULATOR_GRAPH_MEMORY_H
#define NVSHARE_EMULATOR_GRAPH_MEMORY_H

#include "../process/driver.h"

/* A node (or one more, a clone) allocates the memory at an address. */
CUresult graph_memory_retain(uint64_t address);

/* The node is gone. The memory goes with the last one, unless the program still has it in use, and
 * then it is the program's to free. */
void graph_memory_drop(uint64_t address);

/* An allocation node is launched: the memory is in use. Clears *fresh if it is already. What was trimmed comes back, if
 * there is room. */
CUresult graph_memory_use(uint64_t address, bool *fresh);

/* Somebody frees it. True if it belongs to a graph: it stays where it is, for the next launch. To
 * be asked by everything that frees memory in the order of a stream, and by cuMemFree. */
bool graph_memory_free(uint64_t address);

#endif
