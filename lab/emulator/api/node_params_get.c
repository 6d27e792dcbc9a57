/* Nodes described by their parameters. */
#include "node_params.h"

#include <string.h>

#include "../process/memory.h"
#include "../unsupported.h"

static void get_kernel(const struct CUgraphNode_st *node, CUDA_KERNEL_NODE_PARAMS_v3 *out) {
    const struct kernel_task *kernel = &node->task.kernel;
    *out = (CUDA_KERNEL_NODE_PARAMS_v3){.func = (CUfunction)kernel->function,
                                        .gridDimX = kernel->grid[0],
                                        .gridDimY = kernel->grid[1],
                                        .gridDimZ = kernel->grid[2],
                                        .blockDimX = kernel->block[0],
                                        .blockDimY = kernel->block[1],
                                        .blockDimZ = kernel->block[2],
                                        .sharedMemBytes = kernel->shared_bytes,
                                        .kernelParams = node->arguments,
                                        .ctx = node->context};
}

static bool is_host(uint64_t address) {
    driver_lock();
    const struct allocation *allocation = memory_find(address);
    bool host =
        !allocation || allocation->kind == MEMORY_HOST || allocation->kind == MEMORY_REGISTERED;
    driver_unlock();
    return host;
}

/* A captured copy was never described as a box, so this is its first description. */
static CUDA_MEMCPY3D describe_copy(const struct copy_task *copy) {
    CUDA_MEMCPY3D box = {.WidthInBytes = copy->width, .Height = copy->rows, .Depth = copy->layers};
    box.srcPitch = copy->from.pitch;
    box.srcHeight = copy->from.height;
    box.srcMemoryType = is_host(copy->from.address) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    if (box.srcMemoryType == CU_MEMORYTYPE_HOST)
        box.srcHost = (const void *)(uintptr_t)copy->from.address;
    else
        box.srcDevice = copy->from.address;
    box.dstPitch = copy->to.pitch;
    box.dstHeight = copy->to.height;
    box.dstMemoryType = is_host(copy->to.address) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    if (box.dstMemoryType == CU_MEMORYTYPE_HOST)
        box.dstHost = (void *)(uintptr_t)copy->to.address;
    else
        box.dstDevice = copy->to.address;
    return box;
}

static void get_copy(const struct CUgraphNode_st *node, CUDA_MEMCPY_NODE_PARAMS *out) {
    *out = (CUDA_MEMCPY_NODE_PARAMS){.copyCtx = node->context};
    out->copyParams = node->copy.WidthInBytes ? node->copy : describe_copy(&node->task.copy);
}

static void get_fill(const struct CUgraphNode_st *node, CUDA_MEMSET_NODE_PARAMS_v2 *out) {
    const struct fill_task *fill = &node->task.fill;
    *out = (CUDA_MEMSET_NODE_PARAMS_v2){.dst = fill->address,
                                        .pitch = fill->pitch,
                                        .value = fill->value,
                                        .elementSize = fill->element_bytes,
                                        .width = fill->width,
                                        .height = fill->rows,
                                        .ctx = node->context};
}

static void get_allocation(const struct CUgraphNode_st *node, CUDA_MEM_ALLOC_NODE_PARAMS_v2 *out) {
    *out = (CUDA_MEM_ALLOC_NODE_PARAMS_v2){.dptr = node->task.memory.address};
    out->poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    out->poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    driver_lock();
    const struct allocation *allocation = memory_find(out->dptr);
    if (allocation) {
        out->bytesize = allocation->bytes;
        out->poolProps.location.id = device_of_gpu(allocation->gpu);
    }
    driver_unlock();
}

CUresult node_get(CUgraphNode node, CUgraphNodeType type, CUgraphNodeParams *out) {
    REQUIRE(node_of(node) && node->type == type, CUDA_ERROR_INVALID_VALUE);
    memset(out, 0, sizeof *out);
    out->type = type;
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: get_kernel(node, &out->kernel); return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEMCPY: get_copy(node, &out->memcpy); return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEMSET: get_fill(node, &out->memset); return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_HOST:
        out->host.fn = node->task.host.function;
        out->host.userData = node->task.host.data;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_GRAPH: out->graph.graph = node->child; return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        out->eventRecord.event = node->task.event.event;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        out->eventWait.event = node->task.event.event;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: get_allocation(node, &out->alloc); return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        out->free.dptr = node->task.memory.address;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EMPTY: return CUDA_SUCCESS;
    default: return emulator_unsupported("reading the parameters of a batch memory operation node");
    }
}
