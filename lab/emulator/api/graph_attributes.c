/* Attributes of kernel nodes. They are kept and given back. The emulator uses only one of them:
 * whether a launch is cooperative. */
#include "graph.h"

#include <stdlib.h>

static bool is_kernel(CUgraphNode node) {
    return node_of(node) && node->type == CU_GRAPH_NODE_TYPE_KERNEL;
}

static struct node_attribute *find(CUgraphNode node, CUkernelNodeAttrID id) {
    struct node_attribute *attribute = node->attributes;
    while (attribute && attribute->id != id)
        attribute = attribute->next;
    return attribute;
}

static CUresult set(CUgraphNode node, CUkernelNodeAttrID id, const CUkernelNodeAttrValue *value) {
    struct node_attribute *attribute = find(node, id);
    if (!attribute) {
        attribute = malloc(sizeof *attribute);
        REQUIRE(attribute, CUDA_ERROR_OUT_OF_MEMORY);
        attribute->id = id;
        attribute->next = node->attributes;
        node->attributes = attribute;
    }
    attribute->value = *value;
    if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        node->task.kernel.cooperative = value->cooperative != 0;
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       const CUkernelNodeAttrValue *value) {
    REQUIRE_DRIVER();
    REQUIRE(is_kernel(hNode) && value, CUDA_ERROR_INVALID_VALUE);
    return set(hNode, attr, value);
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       CUkernelNodeAttrValue *value_out) {
    REQUIRE_DRIVER();
    REQUIRE(is_kernel(hNode) && value_out, CUDA_ERROR_INVALID_VALUE);
    const struct node_attribute *attribute = find(hNode, attr);
    *value_out = attribute ? attribute->value : (CUkernelNodeAttrValue){0};
    if (attr == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        value_out->cooperative = hNode->task.kernel.cooperative;
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src) {
    REQUIRE_DRIVER();
    REQUIRE(is_kernel(dst) && is_kernel(src), CUDA_ERROR_INVALID_VALUE);
    CUresult result = CUDA_SUCCESS;
    for (const struct node_attribute *a = src->attributes; a && result == CUDA_SUCCESS; a = a->next)
        result = set(dst, a->id, &a->value);
    return result;
}
