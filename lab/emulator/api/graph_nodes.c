/* Nodes that do work: kernels, copies, fills, host functions. Nodes that order it, and memory, are
 * in graph_nodes_order.c. */
#include <string.h>

#include "../process/function.h"
#include "node_params.h"

/* The first version of the parameters is the beginning of the second, which is the same as the
 * third under another name. */
_Static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS_v3) == sizeof(CUDA_KERNEL_NODE_PARAMS),
               "kernel node parameters");
_Static_assert(offsetof(CUDA_KERNEL_NODE_PARAMS, kern) == sizeof(CUDA_KERNEL_NODE_PARAMS_v1),
               "kernel node parameters");

static CUgraphNodeParams kernel_params(const void *params, size_t bytes) {
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    memset(&all.kernel, 0, sizeof all.kernel);
    memcpy(&all.kernel, params, bytes);
    return all;
}

static CUresult get_kernel(CUgraphNode node, void *out, size_t bytes) {
    REQUIRE_DRIVER();
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params;
    CUresult result = node_get(node, CU_GRAPH_NODE_TYPE_KERNEL, &params);
    if (result == CUDA_SUCCESS)
        memcpy(out, &params.kernel, bytes);
    return result;
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
                                 const CUgraphNode *dependencies, size_t numDependencies,
                                 const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
    REQUIRE_DRIVER();
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params = kernel_params(nodeParams, sizeof *nodeParams);
    return node_add(hGraph, dependencies, numDependencies, &params, phGraphNode);
}

CUresult cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                              const CUgraphNode *dependencies, size_t numDependencies,
                              const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams) {
    REQUIRE_DRIVER();
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params = kernel_params(nodeParams, sizeof *nodeParams);
    return node_add(hGraph, dependencies, numDependencies, &params, phGraphNode);
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams) {
    return get_kernel(hNode, nodeParams, sizeof *nodeParams);
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams) {
    return get_kernel(hNode, nodeParams, sizeof *nodeParams);
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode,
                                       const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
    REQUIRE_DRIVER();
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params = kernel_params(nodeParams, sizeof *nodeParams);
    return node_set(hNode, &params);
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode hNode,
                                    const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams) {
    REQUIRE_DRIVER();
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params = kernel_params(nodeParams, sizeof *nodeParams);
    return node_set(hNode, &params);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                              const CUgraphNode *dependencies, size_t numDependencies,
                              const CUDA_MEMCPY3D *copyParams, CUcontext ctx) {
    REQUIRE_DRIVER();
    REQUIRE(copyParams, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMCPY,
                                .memcpy = {.copyCtx = ctx, .copyParams = *copyParams}};
    return node_add(hGraph, dependencies, numDependencies, &params, phGraphNode);
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams) {
    REQUIRE_DRIVER();
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params;
    CUresult result = node_get(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, &params);
    if (result == CUDA_SUCCESS)
        *nodeParams = params.memcpy.copyParams;
    return result;
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams) {
    REQUIRE_DRIVER();
    REQUIRE(nodeParams && node_of(hNode), CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMCPY,
                                .memcpy = {.copyCtx = hNode->context, .copyParams = *nodeParams}};
    return node_set(hNode, &params);
}

static CUgraphNodeParams fill_params(const CUDA_MEMSET_NODE_PARAMS *given, CUcontext context) {
    return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEMSET,
                               .memset = {.dst = given->dst,
                                          .pitch = given->pitch,
                                          .value = given->value,
                                          .elementSize = given->elementSize,
                                          .width = given->width,
                                          .height = given->height,
                                          .ctx = context}};
}

CUresult cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                              const CUgraphNode *dependencies, size_t numDependencies,
                              const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx) {
    REQUIRE_DRIVER();
    REQUIRE(memsetParams, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params = fill_params(memsetParams, ctx);
    return node_add(hGraph, dependencies, numDependencies, &params, phGraphNode);
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams) {
    REQUIRE_DRIVER();
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params;
    CUresult result = node_get(hNode, CU_GRAPH_NODE_TYPE_MEMSET, &params);
    if (result == CUDA_SUCCESS)
        memcpy(nodeParams, &params.memset, sizeof *nodeParams); /* lacks the context at the end */
    return result;
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *nodeParams) {
    REQUIRE_DRIVER();
    REQUIRE(nodeParams && node_of(hNode), CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params = fill_params(nodeParams, hNode->context);
    return node_set(hNode, &params);
}

static CUgraphNodeParams host_params(const CUDA_HOST_NODE_PARAMS *given) {
    return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_HOST,
                               .host = {.fn = given->fn, .userData = given->userData}};
}

CUresult cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                            const CUgraphNode *dependencies, size_t numDependencies,
                            const CUDA_HOST_NODE_PARAMS *nodeParams) {
    REQUIRE_DRIVER();
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params = host_params(nodeParams);
    return node_add(hGraph, dependencies, numDependencies, &params, phGraphNode);
}

CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *nodeParams) {
    REQUIRE_DRIVER();
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params;
    CUresult result = node_get(hNode, CU_GRAPH_NODE_TYPE_HOST, &params);
    if (result == CUDA_SUCCESS)
        *nodeParams = (CUDA_HOST_NODE_PARAMS){params.host.fn, params.host.userData};
    return result;
}

CUresult cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams) {
    REQUIRE_DRIVER();
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams params = host_params(nodeParams);
    return node_set(hNode, &params);
}
