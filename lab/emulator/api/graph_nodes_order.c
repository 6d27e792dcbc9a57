/* Nodes that do no work of their own: empty ones, child graphs, events, and memory. Also the
 * functions that take nodes of any type. */
#include "node_params.h"

#include "../unsupported.h"

CUresult cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                             const CUgraphNode *dependencies, size_t numDependencies) {
    REQUIRE_DRIVER();
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    return node_add(hGraph, dependencies, numDependencies, &params, phGraphNode);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                  const CUgraphNode *dependencies, size_t numDependencies,
                                  CUgraph childGraph) {
    REQUIRE_DRIVER();
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {.graph = childGraph}};
    return node_add(hGraph, dependencies, numDependencies, &params, phGraphNode);
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph) {
    REQUIRE_DRIVER();
    REQUIRE(phGraph, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params;
    CUresult result = node_get(hNode, CU_GRAPH_NODE_TYPE_GRAPH, &params);
    if (result == CUDA_SUCCESS)
        *phGraph = params.graph.graph;
    return result;
}

static CUgraphNodeParams record_params(CUevent event) {
    return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                               .eventRecord = {.event = event}};
}

static CUgraphNodeParams wait_params(CUevent event) {
    return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                               .eventWait = {.event = event}};
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                   const CUgraphNode *dependencies, size_t numDependencies,
                                   CUevent event) {
    REQUIRE_DRIVER();
    CUgraphNodeParams params = record_params(event);
    return node_add(hGraph, dependencies, numDependencies, &params, phGraphNode);
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent *event_out) {
    REQUIRE_DRIVER();
    REQUIRE(event_out, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params;
    CUresult result = node_get(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &params);
    if (result == CUDA_SUCCESS)
        *event_out = params.eventRecord.event;
    return result;
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event) {
    REQUIRE_DRIVER();
    CUgraphNodeParams params = record_params(event);
    return node_set(hNode, &params);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                 const CUgraphNode *dependencies, size_t numDependencies,
                                 CUevent event) {
    REQUIRE_DRIVER();
    CUgraphNodeParams params = wait_params(event);
    return node_add(hGraph, dependencies, numDependencies, &params, phGraphNode);
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent *event_out) {
    REQUIRE_DRIVER();
    REQUIRE(event_out, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params;
    CUresult result = node_get(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &params);
    if (result == CUDA_SUCCESS)
        *event_out = params.eventWait.event;
    return result;
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event) {
    REQUIRE_DRIVER();
    CUgraphNodeParams params = wait_params(event);
    return node_set(hNode, &params);
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                const CUgraphNode *dependencies, size_t numDependencies,
                                CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams) {
    REQUIRE_DRIVER();
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params = {
        .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
        .alloc = {.poolProps = nodeParams->poolProps, .bytesize = nodeParams->bytesize}};
    CUresult result = node_add(hGraph, dependencies, numDependencies, &params, phGraphNode);
    if (result == CUDA_SUCCESS)
        nodeParams->dptr = params.alloc.dptr;
    return result;
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS *params_out) {
    REQUIRE_DRIVER();
    REQUIRE(params_out, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params;
    CUresult result = node_get(hNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC, &params);
    if (result == CUDA_SUCCESS)
        *params_out = (CUDA_MEM_ALLOC_NODE_PARAMS){.poolProps = params.alloc.poolProps,
                                                   .bytesize = params.alloc.bytesize,
                                                   .dptr = params.alloc.dptr};
    return result;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                               const CUgraphNode *dependencies, size_t numDependencies,
                               CUdeviceptr dptr) {
    REQUIRE_DRIVER();
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free = {.dptr = dptr}};
    return node_add(hGraph, dependencies, numDependencies, &params, phGraphNode);
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr *dptr_out) {
    REQUIRE_DRIVER();
    REQUIRE(dptr_out, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params;
    CUresult result = node_get(hNode, CU_GRAPH_NODE_TYPE_MEM_FREE, &params);
    if (result == CUDA_SUCCESS)
        *dptr_out = params.free.dptr;
    return result;
}

CUresult cuGraphAddNode_v3(CUgraphNode *phGraphNode, CUgraph hGraph,
                           const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData,
                           size_t numDependencies, CUgraphNodeParams *nodeParams) {
    REQUIRE_DRIVER();
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    if (!edges_are_plain(dependencyData, numDependencies))
        return emulator_unsupported("cuGraphAddNode with programmatic edges");
    return node_add(hGraph, dependencies, numDependencies, nodeParams, phGraphNode);
}

/* Version 3 knows newer host nodes, whose parameters begin like the older ones. */
CUresult cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
                           const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData,
                           size_t numDependencies, CUgraphNodeParams *nodeParams) {
    return cuGraphAddNode_v3(phGraphNode, hGraph, dependencies, dependencyData, numDependencies,
                             nodeParams);
}

CUresult cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                        size_t numDependencies, CUgraphNodeParams *nodeParams) {
    return cuGraphAddNode_v3(phGraphNode, hGraph, dependencies, NULL, numDependencies, nodeParams);
}

CUresult cuGraphNodeSetParams_v2(CUgraphNode hNode, CUgraphNodeParams *nodeParams) {
    REQUIRE_DRIVER();
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    return node_set(hNode, nodeParams);
}

CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams) {
    return cuGraphNodeSetParams_v2(hNode, nodeParams);
}

CUresult cuGraphNodeGetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams) {
    REQUIRE_DRIVER();
    REQUIRE(nodeParams && node_of(hNode), CUDA_ERROR_INVALID_VALUE);
    return node_get(hNode, hNode->type, nodeParams);
}
