/* Graphs: instantiated, launched, queried. They are usually captured from streams. Of the functions
 * that build one by hand, those are here whose parameters are the driver's own. */
#include "runtime.h"

FORWARD(cudaGraphCreate, (cudaGraph_t * pGraph, unsigned int flags), cuGraphCreate, (pGraph, flags))
FORWARD(cudaGraphClone, (cudaGraph_t * pGraphClone, cudaGraph_t originalGraph), cuGraphClone,
        (pGraphClone, originalGraph))
FORWARD(cudaGraphDestroy, (cudaGraph_t graph), cuGraphDestroy, (graph))
FORWARD(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes),
        cuGraphGetNodes, (graph, nodes, numNodes))
FORWARD(cudaGraphGetRootNodes,
        (cudaGraph_t graph, cudaGraphNode_t *pRootNodes, size_t *pNumRootNodes),
        cuGraphGetRootNodes, (graph, pRootNodes, pNumRootNodes))
FORWARD(NEWEST(cudaGraphGetEdges, _v2),
        (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edgeData,
         size_t *numEdges),
        cuGraphGetEdges, (graph, from, to, (CUgraphEdgeData *)edgeData, numEdges))
FORWARD(NEWEST(cudaGraphNodeGetDependencies, _v2),
        (cudaGraphNode_t node, cudaGraphNode_t *pDependencies, cudaGraphEdgeData *edgeData,
         size_t *pNumDependencies),
        cuGraphNodeGetDependencies,
        (node, pDependencies, (CUgraphEdgeData *)edgeData, pNumDependencies))
FORWARD(cudaGraphNodeGetType, (cudaGraphNode_t node, enum cudaGraphNodeType *pType),
        cuGraphNodeGetType, (node, (CUgraphNodeType *)pType))
FORWARD(cudaGraphDebugDotPrint, (cudaGraph_t graph, const char *path, unsigned int flags),
        cuGraphDebugDotPrint, (graph, path, flags))

FORWARD(cudaGraphAddEmptyNode,
        (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
         size_t numDependencies),
        cuGraphAddEmptyNode, (pGraphNode, graph, pDependencies, numDependencies))
FORWARD(cudaGraphAddHostNode,
        (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
         size_t numDependencies, const struct cudaHostNodeParams *pNodeParams),
        cuGraphAddHostNode,
        (pGraphNode, graph, pDependencies, numDependencies,
         (const CUDA_HOST_NODE_PARAMS *)pNodeParams))
FORWARD(cudaGraphAddChildGraphNode,
        (cudaGraphNode_t * pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
         size_t numDependencies, cudaGraph_t childGraph),
        cuGraphAddChildGraphNode, (pGraphNode, graph, pDependencies, numDependencies, childGraph))
FORWARD(cudaGraphConditionalHandleCreate,
        (cudaGraphConditionalHandle * pHandle_out, cudaGraph_t graph,
         unsigned int defaultLaunchValue, unsigned int flags),
        cuGraphConditionalHandleCreate,
        ((CUgraphConditionalHandle *)pHandle_out, graph, NULL, defaultLaunchValue, flags))

FORWARD(cudaGraphInstantiate,
        (cudaGraphExec_t * pGraphExec, cudaGraph_t graph, unsigned long long flags),
        cuGraphInstantiateWithFlags, (pGraphExec, graph, flags))
FORWARD(cudaGraphInstantiateWithFlags,
        (cudaGraphExec_t * pGraphExec, cudaGraph_t graph, unsigned long long flags),
        cuGraphInstantiateWithFlags, (pGraphExec, graph, flags))
FORWARD(cudaGraphExecDestroy, (cudaGraphExec_t graphExec), cuGraphExecDestroy, (graphExec))
FORWARD(cudaGraphExecUpdate,
        (cudaGraphExec_t hGraphExec, cudaGraph_t hGraph, cudaGraphExecUpdateResultInfo *resultInfo),
        cuGraphExecUpdate, (hGraphExec, hGraph, (CUgraphExecUpdateResultInfo *)resultInfo))
FORWARD(cudaGraphUpload, (cudaGraphExec_t graphExec, cudaStream_t stream), cuGraphUpload,
        (graphExec, stream))
FORWARD(cudaGraphLaunch, (cudaGraphExec_t graphExec, cudaStream_t stream), cuGraphLaunch,
        (graphExec, stream))

FORWARD(cudaUserObjectCreate,
        (cudaUserObject_t * object_out, void *ptr, cudaHostFn_t destroy,
         unsigned int initialRefcount, unsigned int flags),
        cuUserObjectCreate, (object_out, ptr, destroy, initialRefcount, flags))
FORWARD(cudaUserObjectRetain, (cudaUserObject_t object, unsigned int count), cuUserObjectRetain,
        (object, count))
FORWARD(cudaUserObjectRelease, (cudaUserObject_t object, unsigned int count), cuUserObjectRelease,
        (object, count))
FORWARD(cudaGraphRetainUserObject,
        (cudaGraph_t graph, cudaUserObject_t object, unsigned int count, unsigned int flags),
        cuGraphRetainUserObject, (graph, object, count, flags))
FORWARD(cudaGraphReleaseUserObject,
        (cudaGraph_t graph, cudaUserObject_t object, unsigned int count), cuGraphReleaseUserObject,
        (graph, object, count))
