/* Executable graphs: made, launched and destroyed. Changes to them are in graph_update.c. */
#include "graph_exec.h"

#include <stdio.h>
#include <stdlib.h>

#include "../unsupported.h"
#include "capture.h"
#include "graph_memory.h"

CUresult exec_order(CUgraph graph, CUgraphNode *stuck) {
    node_list_clear(&graph->order);
    CUresult result = graph_sort(graph, &graph->order, stuck);
    for (size_t i = 0; i < graph->nodes.count && result == CUDA_SUCCESS; i++)
        if (graph->nodes.items[i]->child)
            result = exec_order(graph->nodes.items[i]->child, stuck);
    return result;
}

CUgraphNode exec_node(CUgraphExec exec, CUgraphNode original) {
    return graph_find_clone(exec->graph, original);
}

static CUgraphNode find_by_id(const struct CUgraph_st *graph, uint64_t id) {
    for (size_t i = 0; i < graph->nodes.count; i++) {
        CUgraphNode node = graph->nodes.items[i];
        if (node->id == id)
            return node;
        CUgraphNode inside = node->child ? find_by_id(node->child, id) : NULL;
        if (inside)
            return inside;
    }
    return NULL;
}

/* If there is a cycle, `stuck` gets the program's own node in it. */
static CUresult instantiate(CUgraph graph, unsigned long long flags, CUgraphExec *out,
                            CUgraphNode *stuck) {
    REQUIRE_DRIVER();
    REQUIRE(out && graph_of(graph) && !graph->being_captured, CUDA_ERROR_INVALID_VALUE);
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        return emulator_unsupported("a graph that the device launches");
    REQUIRE(flags < 2 * CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY, CUDA_ERROR_INVALID_VALUE);
    CUgraphExec exec = calloc(1, sizeof *exec);
    REQUIRE(exec, CUDA_ERROR_OUT_OF_MEMORY);
    *exec = (struct CUgraphExec_st){.magic = EXEC_MAGIC,
                                    .id = graph_next_id(),
                                    .flags = flags,
                                    .users = 1,
                                    .last_queue = NO_INDEX};
    CUgraphNode culprit = NULL;
    CUresult result = graph_clone(graph, &exec->graph);
    if (result == CUDA_SUCCESS)
        result = exec_order(exec->graph, &culprit);
    if (result == CUDA_SUCCESS) {
        *out = exec;
        return CUDA_SUCCESS;
    }
    *stuck = culprit ? find_by_id(graph, culprit->origin) : NULL;
    graph_destroy(exec->graph);
    free(exec);
    return result;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
                                     unsigned long long flags) {
    CUgraphNode stuck;
    return instantiate(hGraph, flags, phGraphExec, &stuck);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,
                               char *logBuffer, size_t bufferSize) {
    CUgraphNode stuck = NULL;
    CUresult result = instantiate(hGraph, 0, phGraphExec, &stuck);
    if (phErrorNode)
        *phErrorNode = stuck;
    if (logBuffer && bufferSize)
        snprintf(logBuffer, bufferSize, "%s", stuck ? "the graph has a cycle" : "");
    return result;
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams) {
    REQUIRE(instantiateParams, CUDA_ERROR_INVALID_VALUE);
    CUgraphNode stuck = NULL;
    CUresult result = instantiate(hGraph, instantiateParams->flags, phGraphExec, &stuck);
    instantiateParams->hErrNode_out = stuck;
    if (result == CUDA_SUCCESS)
        instantiateParams->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    else if (stuck)
        instantiateParams->result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
    else
        instantiateParams->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}

/* The destructors of user objects run when the last launch that could use them is over. */
static void release(void *data) {
    CUgraphExec exec = data;
    if (__atomic_sub_fetch(&exec->users, 1, __ATOMIC_ACQ_REL))
        return;
    graph_destroy(exec->graph);
    free(exec);
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
    REQUIRE_DRIVER();
    REQUIRE(exec_of(hGraphExec), CUDA_ERROR_INVALID_VALUE);
    hGraphExec->magic = 0;
    release(hGraphExec);
    return CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags) {
    REQUIRE_DRIVER();
    REQUIRE(exec_of(hGraphExec) && flags, CUDA_ERROR_INVALID_VALUE);
    *flags = hGraphExec->flags;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecGetId(CUgraphExec hGraphExec, unsigned int *graphId) {
    REQUIRE_DRIVER();
    REQUIRE(exec_of(hGraphExec) && graphId, CUDA_ERROR_INVALID_VALUE);
    *graphId = (unsigned)hGraphExec->id;
    return CUDA_SUCCESS;
}

/* Memory of the last launch that has not been freed may not be allocated again, unless the program
 * asked launches to free it. */
static CUresult take_memory(const struct CUgraph_st *graph, bool automatic) {
    bool fresh = true;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < graph->nodes.count && result == CUDA_SUCCESS; i++) {
        const struct CUgraphNode_st *node = graph->nodes.items[i];
        if (node->child)
            result = take_memory(node->child, automatic);
        if (node->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            continue;
        driver_lock();
        result = graph_memory_use(node->task.memory.address, &fresh);
        driver_unlock();
    }
    if (result != CUDA_SUCCESS)
        return result;
    return fresh || automatic ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* One node after the other in the launch stream: a serial order that keeps every edge. Branches of
 * the graph therefore do not overlap, although they may on hardware. The engine is shared by time
 * anyway, so only the overlap of copies with kernels is lost. */
static CUresult launch(const struct CUgraph_st *graph, struct CUstream_st *stream,
                       uint64_t *ticket) {
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < graph->order.count && result == CUDA_SUCCESS; i++) {
        const struct CUgraphNode_st *node = graph->order.items[i];
        if (!node->enabled)
            continue;
        if (node->child)
            result = launch(node->child, stream, ticket);
        else
            result = task_queue(stream, &node->task, ticket);
    }
    return result;
}

static CUresult launch_in(CUgraphExec exec, struct CUstream_st *stream) {
    bool automatic = exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    CUresult result = take_memory(exec->graph, automatic);
    REQUIRE(result == CUDA_SUCCESS, result);
    if (exec->last_queue != NO_INDEX && exec->last_queue != stream->queue)
        stream_push_wait(stream, exec->last_queue, exec->last_ticket);
    uint64_t ticket = 0;
    result = launch(exec->graph, stream, &ticket);
    exec->last_queue = stream->queue;
    exec->last_ticket = ticket;
    if (!exec->graph->objects || result != CUDA_SUCCESS)
        return result;
    __atomic_add_fetch(&exec->users, 1, __ATOMIC_ACQ_REL);
    struct task task = {.kind = TASK_HOST, .host = {release, exec}};
    return task_queue(stream, &task, &ticket);
}

CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) {
    REQUIRE_DRIVER();
    REQUIRE(exec_of(hGraphExec), CUDA_ERROR_INVALID_VALUE);
    struct CUstream_st *stream;
    CUresult result = stream_resolve(hStream, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (stream->capture)
        return capture_add_graph(stream, hGraphExec->graph);
    result = capture_forbids(stream);
    return result == CUDA_SUCCESS ? launch_in(hGraphExec, stream) : result;
}

/* There is nothing to send to the GPU ahead of a launch. */
CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) {
    REQUIRE_DRIVER();
    REQUIRE(exec_of(hGraphExec), CUDA_ERROR_INVALID_VALUE);
    struct CUstream_st *stream;
    return stream_resolve(hStream, &stream);
}
