/* Changes to executable graphs: of one node, or of all nodes to match another graph. */
#include "graph_exec.h"
#include "node_params.h"

#include <string.h>

static CUresult set(CUgraphExec exec, CUgraphNode original, const CUgraphNodeParams *params) {
    REQUIRE_DRIVER();
    REQUIRE(exec_of(exec) && node_of(original), CUDA_ERROR_INVALID_VALUE);
    CUgraphNode node = exec_node(exec, original);
    REQUIRE(node, CUDA_ERROR_INVALID_VALUE);
    return node_set(node, params);
}

CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                  CUgraphNodeParams *nodeParams) {
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return cuGraphExecChildGraphNodeSetParams(hGraphExec, hNode, nodeParams->graph.graph);
    return set(hGraphExec, hNode, nodeParams);
}

static CUresult set_kernel(CUgraphExec exec, CUgraphNode node, const void *given, size_t bytes) {
    REQUIRE(given, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    memset(&params.kernel, 0, sizeof params.kernel);
    memcpy(&params.kernel, given, bytes); /* the first version is the beginning of the second */
    return set(exec, node, &params);
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
    return set_kernel(hGraphExec, hNode, nodeParams, sizeof *nodeParams);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams) {
    return set_kernel(hGraphExec, hNode, nodeParams, sizeof *nodeParams);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMCPY3D *copyParams, CUcontext ctx) {
    REQUIRE(copyParams, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMCPY,
                                .memcpy = {.copyCtx = ctx, .copyParams = *copyParams}};
    return set(hGraphExec, hNode, &params);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS *memsetParams,
                                        CUcontext ctx) {
    REQUIRE(memsetParams, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    memcpy(&params.memset, memsetParams, sizeof *memsetParams);
    params.memset.ctx = ctx;
    return set(hGraphExec, hNode, &params);
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      const CUDA_HOST_NODE_PARAMS *nodeParams) {
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_HOST,
                                .host = {.fn = nodeParams->fn, .userData = nodeParams->userData}};
    return set(hGraphExec, hNode, &params);
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            CUevent event) {
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                .eventRecord = {.event = event}};
    return set(hGraphExec, hNode, &params);
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
                                          CUevent event) {
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                .eventWait = {.event = event}};
    return set(hGraphExec, hNode, &params);
}

/* Only work can be switched off, as with the real driver. */
static bool can_be_disabled(const struct CUgraphNode_st *node) {
    return node->type == CU_GRAPH_NODE_TYPE_KERNEL || node->type == CU_GRAPH_NODE_TYPE_MEMCPY ||
           node->type == CU_GRAPH_NODE_TYPE_MEMSET;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled) {
    REQUIRE_DRIVER();
    REQUIRE(exec_of(hGraphExec) && node_of(hNode), CUDA_ERROR_INVALID_VALUE);
    CUgraphNode node = exec_node(hGraphExec, hNode);
    REQUIRE(node && can_be_disabled(node), CUDA_ERROR_INVALID_VALUE);
    node->enabled = isEnabled != 0;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int *isEnabled) {
    REQUIRE_DRIVER();
    REQUIRE(exec_of(hGraphExec) && node_of(hNode) && isEnabled, CUDA_ERROR_INVALID_VALUE);
    CUgraphNode node = exec_node(hGraphExec, hNode);
    REQUIRE(node && can_be_disabled(node), CUDA_ERROR_INVALID_VALUE);
    *isEnabled = node->enabled;
    return CUDA_SUCCESS;
}

/* Nodes are paired in the order of their creation: a program that builds its graph again, by
 * capture or by hand, builds it in the same order. The real driver can also pair some graphs that
 * were built in another order. */
static CUgraphExecUpdateResultInfo compare(CUgraph mine, CUgraph other);

static CUgraphExecUpdateResult compare_dependencies(const struct CUgraphNode_st *mine,
                                                    const struct CUgraphNode_st *other,
                                                    CUgraphNode *from) {
    if (mine->dependencies.count != other->dependencies.count)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < mine->dependencies.count; i++) {
        CUgraphNode pair = mine->graph->nodes.items[other->dependencies.items[i]->position];
        if (!node_list_contains(&mine->dependencies, pair)) {
            *from = other->dependencies.items[i];
            return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        }
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static CUgraphExecUpdateResultInfo compare_node(const struct CUgraphNode_st *mine,
                                                CUgraphNode other) {
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    if (mine->type != other->type)
        info.result = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    else
        info.result = compare_dependencies(mine, other, &info.errorFromNode);
    bool memory =
        mine->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || mine->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
    if (info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS && memory &&
        mine->task.memory.address != other->task.memory.address)
        info.result = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    if (mine->task.kind == TASK_KERNEL && other->task.kind == TASK_KERNEL &&
        mine->task.kernel.cooperative != other->task.kernel.cooperative)
        info.result = CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
    if (info.result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
        info.errorNode = other;
    else if (mine->child)
        info = compare(mine->child, other->child);
    return info;
}

static CUgraphExecUpdateResultInfo compare(CUgraph mine, CUgraph other) {
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    if (mine->nodes.count != other->nodes.count)
        info.result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < other->nodes.count; i++)
        other->nodes.items[i]->position = i;
    for (size_t i = 0; i < other->nodes.count && info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS; i++)
        info = compare_node(mine->nodes.items[i], other->nodes.items[i]);
    return info;
}

static CUresult apply(CUgraph mine, CUgraph other) {
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < other->nodes.count && result == CUDA_SUCCESS; i++) {
        CUgraphNode to = mine->nodes.items[i], from = other->nodes.items[i];
        if (to->child) {
            result = apply(to->child, from->child);
            continue;
        }
        result = node_set_task(to, &from->task);
        to->copy = from->copy;
        to->context = from->context;
    }
    return result;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                              CUgraphExecUpdateResultInfo *resultInfo) {
    REQUIRE_DRIVER();
    REQUIRE(exec_of(hGraphExec) && graph_of(hGraph) && resultInfo, CUDA_ERROR_INVALID_VALUE);
    *resultInfo = compare(hGraphExec->graph, hGraph);
    REQUIRE(resultInfo->result == CU_GRAPH_EXEC_UPDATE_SUCCESS,
            CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    return apply(hGraphExec->graph, hGraph);
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                           CUgraphExecUpdateResult *updateResult_out) {
    REQUIRE(updateResult_out, CUDA_ERROR_INVALID_VALUE);
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    CUresult result = cuGraphExecUpdate_v2(hGraphExec, hGraph, &info);
    *updateResult_out = info.result;
    if (hErrorNode_out)
        *hErrorNode_out = info.errorNode;
    return result;
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            CUgraph childGraph) {
    REQUIRE_DRIVER();
    REQUIRE(exec_of(hGraphExec) && node_of(hNode) && graph_of(childGraph),
            CUDA_ERROR_INVALID_VALUE);
    CUgraphNode node = exec_node(hGraphExec, hNode);
    REQUIRE(node && node->child, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(compare(node->child, childGraph).result == CU_GRAPH_EXEC_UPDATE_SUCCESS,
            CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    return apply(node->child, childGraph);
}
