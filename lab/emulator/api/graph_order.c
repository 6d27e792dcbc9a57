/* The order of the nodes of a graph. */
#include "graph.h"

#include <string.h>

bool edge_is_plain(const CUgraphEdgeData *edge) {
    static const CUgraphEdgeData plain;
    return memcmp(edge, &plain, sizeof plain) == 0;
}

bool edges_are_plain(const CUgraphEdgeData *edges, size_t count) {
    for (size_t i = 0; edges && i < count; i++)
        if (!edge_is_plain(&edges[i]))
            return false;
    return true;
}

static void clear_reached(CUgraph graph) {
    for (size_t i = 0; i < graph->nodes.count; i++)
        graph->nodes.items[i]->reached = false;
}

static bool is_ready(const struct CUgraphNode_st *node) {
    for (size_t i = 0; i < node->dependencies.count; i++)
        if (!node->dependencies.items[i]->reached)
            return false;
    return true;
}

/* Goes over the nodes in the order of creation and takes those that can come next, until a round
 * takes none. Nodes are mostly created after their dependencies, and then one round is enough. */
CUresult graph_sort(CUgraph graph, struct node_list *out, CUgraphNode *stuck) {
    struct node_list order = {0};
    CUgraphNode left = NULL;
    clear_reached(graph);
    for (bool progress = true; progress && order.count < graph->nodes.count;) {
        progress = false;
        left = NULL;
        for (size_t i = 0; i < graph->nodes.count; i++) {
            CUgraphNode node = graph->nodes.items[i];
            if (node->reached || !is_ready(node)) {
                left = node->reached ? left : node;
                continue;
            }
            if (!node_list_add(&order, node)) {
                node_list_clear(&order);
                return CUDA_ERROR_OUT_OF_MEMORY;
            }
            node->reached = progress = true;
        }
    }
    if (left) {
        node_list_clear(&order);
        if (stuck)
            *stuck = left;
        return CUDA_ERROR_INVALID_VALUE;
    }
    *out = order;
    return CUDA_SUCCESS;
}

static bool reach(struct node_list *reached, CUgraphNode node) {
    if (node->reached)
        return true;
    node->reached = true;
    return node_list_add(reached, node);
}

CUresult graph_reach(CUgraph graph, const struct node_list *from) {
    struct node_list reached = {0}; /* grows at its end while it is processed from its beginning */
    clear_reached(graph);
    bool complete = true;
    for (size_t i = 0; i < from->count && complete; i++)
        complete = reach(&reached, from->items[i]);
    for (size_t i = 0; i < reached.count && complete; i++) {
        const struct node_list *dependencies = &reached.items[i]->dependencies;
        for (size_t d = 0; d < dependencies->count && complete; d++)
            complete = reach(&reached, dependencies->items[d]);
    }
    node_list_clear(&reached);
    return complete ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

bool graph_has(const struct CUgraph_st *graph, CUgraphNodeType type) {
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct CUgraphNode_st *node = graph->nodes.items[i];
        if (node->type == type || (node->child && graph_has(node->child, type)))
            return true;
    }
    return false;
}

CUgraphNode graph_find_clone(const struct CUgraph_st *graph,
                             const struct CUgraphNode_st *original) {
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode node = graph->nodes.items[i];
        if (node->origin == original->id)
            return node;
        CUgraphNode inside = node->child ? graph_find_clone(node->child, original) : NULL;
        if (inside)
            return inside;
    }
    return NULL;
}
