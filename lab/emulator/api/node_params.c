/* Nodes from their parameters. */
#include "node_params.h"

#include "../process/event.h"
#include "../process/memory.h"
#include "../unsupported.h"
#include "copy.h"
#include "fill.h"
#include "launch.h"

/* A task under construction, with room for the parameters of a kernel. */
struct draft {
    struct task task;
    unsigned char bytes[PARAMETER_BYTES];
};

static CUresult draft_kernel(const CUDA_KERNEL_NODE_PARAMS_v3 *params, struct draft *draft) {
    struct CUctx_st *context = params->ctx ? params->ctx : context_current();
    REQUIRE(context, CUDA_ERROR_INVALID_CONTEXT);
    /* A CUkernel and a CUfunction are the same thing here; a program gives one of them. */
    struct function *function = function_of(params->func ? params->func : (CUfunction)params->kern);
    REQUIRE(function, CUDA_ERROR_INVALID_HANDLE);
    struct launch launch = {.function = function,
                            .grid = {params->gridDimX, params->gridDimY, params->gridDimZ},
                            .block = {params->blockDimX, params->blockDimY, params->blockDimZ},
                            .shared_bytes = params->sharedMemBytes,
                            .parameters = params->kernelParams,
                            .extra = params->extra};
    CUresult result = launch_check(&launch, context->gpu);
    return result == CUDA_SUCCESS ? launch_describe(&launch, draft->bytes, &draft->task) : result;
}

static CUresult draft_copy(const CUDA_MEMCPY_NODE_PARAMS *params, struct draft *draft) {
    struct copy_claims claims;
    struct copy_nature nature;
    draft->task.kind = TASK_COPY;
    CUresult result = copy_read_box(&params->copyParams, &draft->task.copy, &claims);
    return result == CUDA_SUCCESS ? copy_check(&draft->task.copy, claims, &nature) : result;
}

static CUresult draft_fill(const CUDA_MEMSET_NODE_PARAMS_v2 *params, struct draft *draft) {
    unsigned element = params->elementSize;
    REQUIRE(element == 1 || element == 2 || element == 4, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(params->width && params->height, CUDA_ERROR_INVALID_VALUE);
    draft->task.kind = TASK_FILL;
    /* One row has no use for a pitch, and programs leave it unset. */
    draft->task.fill =
        (struct fill_task){.address = params->dst,
                           .pitch = params->height > 1 ? params->pitch : params->width * element,
                           .width = params->width,
                           .rows = params->height,
                           .element_bytes = element,
                           .value = params->value};
    return fill_check(&draft->task.fill, NULL);
}

static CUresult draft_host(const CUDA_HOST_NODE_PARAMS_v2 *params, struct draft *draft) {
    REQUIRE(params->fn, CUDA_ERROR_INVALID_VALUE);
    draft->task.kind = TASK_HOST;
    draft->task.host.function = params->fn;
    draft->task.host.data = params->userData;
    return CUDA_SUCCESS;
}

static CUresult draft_event(CUevent event, enum task_kind kind, struct draft *draft) {
    REQUIRE(event_exists(event), CUDA_ERROR_INVALID_HANDLE);
    draft->task.kind = kind;
    draft->task.event.event = event;
    return CUDA_SUCCESS;
}

static CUresult draft_memory(CUdeviceptr address, enum task_kind kind, struct draft *draft) {
    driver_lock();
    const struct allocation *allocation = memory_find(address);
    bool known = allocation && allocation->address == address;
    driver_unlock();
    REQUIRE(known, CUDA_ERROR_INVALID_VALUE);
    draft->task.kind = kind;
    draft->task.memory.address = address;
    return CUDA_SUCCESS;
}

static CUresult draft_task(const CUgraphNodeParams *params, struct draft *draft) {
    draft->task = (struct task){.kind = TASK_NOTHING};
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return draft_kernel(&params->kernel, draft);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return draft_copy(&params->memcpy, draft);
    case CU_GRAPH_NODE_TYPE_MEMSET: return draft_fill(&params->memset, draft);
    case CU_GRAPH_NODE_TYPE_HOST: return draft_host(&params->host, draft);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return draft_event(params->eventRecord.event, TASK_EVENT_RECORD, draft);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return draft_event(params->eventWait.event, TASK_EVENT_WAIT, draft);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return draft_memory(params->alloc.dptr, TASK_ALLOCATE, draft);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return draft_memory(params->free.dptr, TASK_FREE, draft);
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_EMPTY: return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return emulator_unsupported("a conditional node in a graph");
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return emulator_unsupported("an external semaphore node in a graph");
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return emulator_unsupported("a batch memory operation node in a graph");
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

/* Keeps the parts of the description that a later query returns. */
static void note_description(CUgraphNode node, const CUgraphNodeParams *params) {
    if (params->type == CU_GRAPH_NODE_TYPE_KERNEL)
        node->context = params->kernel.ctx;
    if (params->type == CU_GRAPH_NODE_TYPE_MEMSET)
        node->context = params->memset.ctx;
    if (params->type == CU_GRAPH_NODE_TYPE_MEMCPY) {
        node->context = params->memcpy.copyCtx;
        node->copy = params->memcpy.copyParams;
    }
    if (!node->context)
        node->context = context_current();
}

static bool contains(const struct CUgraph_st *graph, const struct CUgraph_st *other) {
    if (graph == other)
        return true;
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.items[i]->child && contains(graph->nodes.items[i]->child, other))
            return true;
    return false;
}

/* The graph that a child graph node is to have: a clone of the given one, or that one itself. */
static CUresult adopt_child(const CUDA_CHILD_GRAPH_NODE_PARAMS *params,
                            const struct CUgraph_st *into, CUgraph *out) {
    CUgraph child = graph_of(params->graph);
    REQUIRE(child && child != into && !child->being_captured, CUDA_ERROR_INVALID_VALUE);
    if (params->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
        REQUIRE(!child->embedded && !contains(child, into), CUDA_ERROR_INVALID_VALUE);
        *out = child;
        return CUDA_SUCCESS;
    }
    REQUIRE(params->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!graph_has(child, CU_GRAPH_NODE_TYPE_MEM_ALLOC) &&
                !graph_has(child, CU_GRAPH_NODE_TYPE_MEM_FREE),
            CUDA_ERROR_NOT_SUPPORTED);
    return graph_clone(child, out);
}

static CUresult set_child(CUgraphNode node, const CUgraphNodeParams *params) {
    CUgraph child;
    CUresult result = adopt_child(&params->graph, node->graph, &child);
    if (result == CUDA_SUCCESS)
        node_set_child(node, child);
    return result;
}

/* Memory that a graph allocates exists as soon as its node does: see graph_memory.h. */
static CUresult allocate(CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params, struct allocation **out) {
    const CUmemLocation *location = &params->poolProps.location;
    REQUIRE(params->bytesize && location->type == CU_MEM_LOCATION_TYPE_DEVICE,
            CUDA_ERROR_INVALID_VALUE);
    REQUIRE(device_exists(location->id), CUDA_ERROR_INVALID_DEVICE);
    driver_lock();
    CUresult result =
        memory_allocate_plain(NULL, gpu_of_device(location->id), params->bytesize, out);
    driver_unlock();
    if (result == CUDA_SUCCESS)
        params->dptr = (*out)->address;
    return result;
}

static void release(struct allocation *allocation) {
    driver_lock();
    memory_release(allocation);
    driver_unlock();
}

static CUresult add_drafted(CUgraph graph, const CUgraphNode *dependencies, size_t count,
                            const CUgraphNodeParams *params, CUgraphNode *out) {
    struct draft draft;
    CUgraphNode node;
    CUresult result = draft_task(params, &draft);
    if (result == CUDA_SUCCESS)
        result = graph_add_task(graph, params->type, dependencies, count, &draft.task, &node);
    if (result != CUDA_SUCCESS)
        return result;
    note_description(node, params);
    if (params->type == CU_GRAPH_NODE_TYPE_GRAPH)
        result = set_child(node, params);
    if (result == CUDA_SUCCESS)
        *out = node;
    else
        graph_remove(node);
    return result;
}

CUresult node_add(CUgraph graph, const CUgraphNode *dependencies, size_t count,
                  CUgraphNodeParams *params, CUgraphNode *out) {
    REQUIRE(graph_of(graph) && out, CUDA_ERROR_INVALID_VALUE);
    struct allocation *allocation = NULL;
    CUresult result = CUDA_SUCCESS;
    if (params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        result = allocate(&params->alloc, &allocation);
    if (result == CUDA_SUCCESS)
        result = add_drafted(graph, dependencies, count, params, out);
    if (result != CUDA_SUCCESS && allocation)
        release(allocation);
    return result;
}

CUresult node_set(CUgraphNode node, const CUgraphNodeParams *params) {
    REQUIRE(node_of(node) && node->type == params->type, CUDA_ERROR_INVALID_VALUE);
    /* Addresses in other nodes depend on these parameters. */
    REQUIRE(node->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC && node->type != CU_GRAPH_NODE_TYPE_MEM_FREE,
            CUDA_ERROR_INVALID_VALUE);
    if (node->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return set_child(node, params);
    struct draft draft;
    CUresult result = draft_task(params, &draft);
    if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) /* an attribute, and no part of the parameters */
        draft.task.kernel.cooperative = node->task.kernel.cooperative;
    if (result == CUDA_SUCCESS)
        result = node_set_task(node, &draft.task);
    if (result == CUDA_SUCCESS)
        note_description(node, params);
    return result;
}
