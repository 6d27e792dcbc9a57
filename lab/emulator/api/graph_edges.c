/* The edges of a graph: queried, added and removed. They carry order and no data. Data is for
 * programmatic launches, which begin before their dependencies have ended; these are not
 * emulated. */
#include "graph.h"

#include "../unsupported.h"

/* Where a list of edges goes. Any place may be NULL; without any, edges are only counted. */
struct edge_sink {
    CUgraphNode *from, *to;
    CUgraphEdgeData *data;
    size_t room, count;
};

static bool counts_only(const struct edge_sink *sink) {
    return !sink->from && !sink->to;
}

static void put(struct edge_sink *sink, CUgraphNode from, CUgraphNode to) {
    if (!counts_only(sink)) {
        if (sink->count == sink->room)
            return;
        if (sink->from)
            sink->from[sink->count] = from;
        if (sink->to)
            sink->to[sink->count] = to;
        if (sink->data)
            sink->data[sink->count] = (CUgraphEdgeData){0};
    }
    sink->count++;
}

/* The remaining places are set to NULL. */
static CUresult finish(struct edge_sink *sink, size_t *count) {
    size_t found = sink->count;
    if (!counts_only(sink))
        while (sink->count < sink->room)
            put(sink, NULL, NULL);
    *count = found;
    return CUDA_SUCCESS;
}

static void put_dependencies(struct edge_sink *sink, CUgraphNode node) {
    for (size_t i = 0; i < node->dependencies.count; i++)
        put(sink, node->dependencies.items[i], node);
}

CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                            CUgraphEdgeData *edgeData, size_t *numEdges) {
    REQUIRE_DRIVER();
    REQUIRE(graph_of(hGraph) && numEdges && !from == !to, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!edgeData || from, CUDA_ERROR_INVALID_VALUE);
    struct edge_sink sink = {from, to, edgeData, *numEdges, 0};
    for (size_t i = 0; i < hGraph->nodes.count; i++)
        put_dependencies(&sink, hGraph->nodes.items[i]);
    return finish(&sink, numEdges);
}

CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges) {
    return cuGraphGetEdges_v2(hGraph, from, to, NULL, numEdges);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies,
                                       CUgraphEdgeData *edgeData, size_t *numDependencies) {
    REQUIRE_DRIVER();
    REQUIRE(node_of(hNode) && numDependencies, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!edgeData || dependencies, CUDA_ERROR_INVALID_VALUE);
    struct edge_sink sink = {dependencies, NULL, edgeData, *numDependencies, 0};
    put_dependencies(&sink, hNode);
    return finish(&sink, numDependencies);
}

CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies,
                                    size_t *numDependencies) {
    return cuGraphNodeGetDependencies_v2(hNode, dependencies, NULL, numDependencies);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                         CUgraphEdgeData *edgeData, size_t *numDependentNodes) {
    REQUIRE_DRIVER();
    REQUIRE(node_of(hNode) && numDependentNodes, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!edgeData || dependentNodes, CUDA_ERROR_INVALID_VALUE);
    struct edge_sink sink = {NULL, dependentNodes, edgeData, *numDependentNodes, 0};
    const struct node_list *all = &hNode->graph->nodes;
    for (size_t i = 0; i < all->count; i++)
        if (node_list_contains(&all->items[i]->dependencies, hNode))
            put(&sink, hNode, all->items[i]);
    return finish(&sink, numDependentNodes);
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                      size_t *numDependentNodes) {
    return cuGraphNodeGetDependentNodes_v2(hNode, dependentNodes, NULL, numDependentNodes);
}

static bool are_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bool known = node_of(from[i]) && node_of(to[i]);
        if (!known || from[i]->graph != graph || to[i]->graph != graph || from[i] == to[i])
            return false;
    }
    return true;
}

/* An edge that exists already is an error, and then none is added. Cycles are found when the graph
 * is instantiated, as with the real driver. */
CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *edgeData, size_t numDependencies) {
    REQUIRE_DRIVER();
    REQUIRE(graph_of(hGraph) && ((from && to) || !numDependencies), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(are_edges(hGraph, from, to, numDependencies), CUDA_ERROR_INVALID_VALUE);
    if (!edges_are_plain(edgeData, numDependencies))
        return emulator_unsupported("cuGraphAddDependencies with programmatic edges");
    CUresult result = CUDA_SUCCESS;
    size_t added = 0;
    while (added < numDependencies && result == CUDA_SUCCESS) {
        struct node_list *list = &to[added]->dependencies;
        if (node_list_contains(list, from[added]))
            result = CUDA_ERROR_INVALID_VALUE;
        else if (!node_list_add(list, from[added]))
            result = CUDA_ERROR_OUT_OF_MEMORY;
        else
            added++;
    }
    while (result != CUDA_SUCCESS && added--)
        node_list_remove(&to[added]->dependencies, from[added]);
    return result;
}

CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                size_t numDependencies) {
    return cuGraphAddDependencies_v2(hGraph, from, to, NULL, numDependencies);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode *from,
                                      const CUgraphNode *to, const CUgraphEdgeData *edgeData,
                                      size_t numDependencies) {
    REQUIRE_DRIVER();
    REQUIRE(graph_of(hGraph) && ((from && to) || !numDependencies), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(are_edges(hGraph, from, to, numDependencies), CUDA_ERROR_INVALID_VALUE);
    /* Every edge is a plain one, so an edge with data does not exist. */
    REQUIRE(edges_are_plain(edgeData, numDependencies), CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < numDependencies; i++)
        REQUIRE(node_list_contains(&to[i]->dependencies, from[i]), CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < numDependencies; i++)
        node_list_remove(&to[i]->dependencies, from[i]);
    return CUDA_SUCCESS;
}

CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
                                   size_t numDependencies) {
    return cuGraphRemoveDependencies_v2(hGraph, from, to, NULL, numDependencies);
}
