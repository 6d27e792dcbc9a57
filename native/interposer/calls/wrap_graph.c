/* Memory nodes of graphs: it is enough to know that there are any. wrap_pooled.c notices those of a
 * capture. */
#include "lookup/driver.h"
#include "memory/graphs.h"

static CUresult made(CUresult result, bool is_memory) {
    if (result == CUDA_SUCCESS && is_memory)
        atomic_store_explicit(&graphs_have_memory, true, memory_order_relaxed);
    return result;
}

static bool is_memory(const CUgraphNodeParams *parameters) {
    return parameters && parameters->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                const CUgraphNode *dependencies, size_t numDependencies,
                                CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams) {
    driver_need();
    return made(
        real.cuGraphAddMemAllocNode(phGraphNode, hGraph, dependencies, numDependencies, nodeParams),
        true);
}

CUresult cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                        size_t numDependencies, CUgraphNodeParams *nodeParams) {
    driver_need();
    return made(real.cuGraphAddNode(phGraphNode, hGraph, dependencies, numDependencies, nodeParams),
                is_memory(nodeParams));
}

CUresult cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
                           const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData,
                           size_t numDependencies, CUgraphNodeParams *nodeParams) {
    driver_need();
    return made(real.cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, dependencyData,
                                       numDependencies, nodeParams),
                is_memory(nodeParams));
}
