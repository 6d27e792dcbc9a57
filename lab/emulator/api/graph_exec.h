/* Executable graphs: a clone of a graph, checked and put in order. */
#ifndef NVSHARE_EMULATOR_GRAPH_EXEC_H
#define NVSHARE_EMULATOR_GRAPH_EXEC_H

#include "graph.h"

#define EXEC_MAGIC 0x47657831u

struct CUgraphExec_st {
    uint32_t magic;
    uint64_t id;
    unsigned long long flags;
    CUgraph graph;
    unsigned users; /* the program, and launches under way that need the graph's user objects */
    uint32_t last_queue; /* of its last launch: two launches of it never overlap */
    uint64_t last_ticket;
};

static inline struct CUgraphExec_st *exec_of(CUgraphExec handle) {
    return handle && handle->magic == EXEC_MAGIC ? handle : NULL;
}

/* Puts a graph and its child graphs in order. `stuck`: see graph_sort(). */
CUresult exec_order(CUgraph graph, CUgraphNode *stuck);

/* The executable graph's own node for one of the graph that it was made from, or NULL. */
CUgraphNode exec_node(CUgraphExec exec, CUgraphNode original);

#endif
