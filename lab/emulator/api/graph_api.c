/* Graphs as a whole, and queries about any node. Edges are in graph_edges.c. */
#include "graph.h"

CUresult cuGraphCreate(CUgraph *phGraph, unsigned int flags) {
    REQUIRE_DRIVER();
    REQUIRE(phGraph && !flags, CUDA_ERROR_INVALID_VALUE);
    return graph_create(phGraph);
}

CUresult cuGraphDestroy(CUgraph hGraph) {
    REQUIRE_DRIVER();
    REQUIRE(graph_of(hGraph) && !hGraph->embedded, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!hGraph->being_captured, CUDA_ERROR_ILLEGAL_STATE);
    graph_destroy(hGraph);
    return CUDA_SUCCESS;
}

static bool has_memory_nodes(const struct CUgraph_st *graph) {
    return graph_has(graph, CU_GRAPH_NODE_TYPE_MEM_ALLOC) ||
           graph_has(graph, CU_GRAPH_NODE_TYPE_MEM_FREE);
}

CUresult cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph) {
    REQUIRE_DRIVER();
    REQUIRE(phGraphClone && graph_of(originalGraph), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!has_memory_nodes(originalGraph), CUDA_ERROR_NOT_SUPPORTED);
    return graph_clone(originalGraph, phGraphClone);
}

CUresult cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode,
                                CUgraph hClonedGraph) {
    REQUIRE_DRIVER();
    REQUIRE(phNode && node_of(hOriginalNode) && graph_of(hClonedGraph), CUDA_ERROR_INVALID_VALUE);
    CUgraphNode found = graph_find_clone(hClonedGraph, hOriginalNode);
    REQUIRE(found, CUDA_ERROR_INVALID_VALUE);
    *phNode = found;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type) {
    REQUIRE_DRIVER();
    REQUIRE(node_of(hNode) && type, CUDA_ERROR_INVALID_VALUE);
    *type = hNode->type;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetContainingGraph(CUgraphNode hNode, CUgraph *phGraph) {
    REQUIRE_DRIVER();
    REQUIRE(node_of(hNode) && phGraph, CUDA_ERROR_INVALID_VALUE);
    *phGraph = hNode->graph;
    return CUDA_SUCCESS;
}

/* One counter serves all graphs, so an id is unique in the process and thus in its graph too. */
CUresult cuGraphNodeGetLocalId(CUgraphNode hNode, unsigned int *nodeId) {
    REQUIRE_DRIVER();
    REQUIRE(node_of(hNode) && nodeId, CUDA_ERROR_INVALID_VALUE);
    *nodeId = (unsigned)hNode->id;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetToolsId(CUgraphNode hNode, unsigned long long *toolsNodeId) {
    REQUIRE_DRIVER();
    REQUIRE(node_of(hNode) && toolsNodeId, CUDA_ERROR_INVALID_VALUE);
    *toolsNodeId = hNode->id;
    return CUDA_SUCCESS;
}

CUresult cuGraphGetId(CUgraph hGraph, unsigned int *graphId) {
    REQUIRE_DRIVER();
    REQUIRE(graph_of(hGraph) && graphId, CUDA_ERROR_INVALID_VALUE);
    *graphId = (unsigned)hGraph->id;
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroyNode(CUgraphNode hNode) {
    REQUIRE_DRIVER();
    REQUIRE(node_of(hNode), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!hNode->graph->being_captured, CUDA_ERROR_ILLEGAL_STATE);
    REQUIRE(!has_memory_nodes(hNode->graph), CUDA_ERROR_NOT_SUPPORTED);
    graph_remove(hNode);
    return CUDA_SUCCESS;
}

static bool is_root(const struct CUgraphNode_st *node) {
    return node->dependencies.count == 0;
}
static bool is_any(const struct CUgraphNode_st *node) {
    return node != NULL;
}

/* As in all such calls: without a buffer, the count; with one, as many as fit, then NULLs. */
static CUresult list_nodes(CUgraph graph, bool (*chosen)(const struct CUgraphNode_st *),
                           CUgraphNode *out, size_t *count) {
    REQUIRE_DRIVER();
    REQUIRE(graph_of(graph) && count, CUDA_ERROR_INVALID_VALUE);
    size_t found = 0;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode node = graph->nodes.items[i];
        if (!chosen(node) || (out && found == *count))
            continue;
        if (out)
            out[found] = node;
        found++;
    }
    for (size_t i = found; out && i < *count; i++)
        out[i] = NULL;
    *count = found;
    return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes) {
    return list_nodes(hGraph, is_any, nodes, numNodes);
}

CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes) {
    return list_nodes(hGraph, is_root, rootNodes, numRootNodes);
}
