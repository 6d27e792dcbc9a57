/* A graph as a drawing for Graphviz: nodes by type, and for kernels by name. */
#include "graph.h"

#include <stdio.h>

#include "../process/function.h"

static const char *const TYPES[] = {
    [CU_GRAPH_NODE_TYPE_KERNEL] = "kernel",
    [CU_GRAPH_NODE_TYPE_MEMCPY] = "memcpy",
    [CU_GRAPH_NODE_TYPE_MEMSET] = "memset",
    [CU_GRAPH_NODE_TYPE_HOST] = "host",
    [CU_GRAPH_NODE_TYPE_GRAPH] = "graph",
    [CU_GRAPH_NODE_TYPE_EMPTY] = "empty",
    [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = "event wait",
    [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = "event record",
    [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = "mem alloc",
    [CU_GRAPH_NODE_TYPE_MEM_FREE] = "mem free",
    [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = "batch mem op",
};

static void print_node(FILE *file, const struct CUgraphNode_st *node) {
    const char *type = (size_t)node->type < sizeof TYPES / sizeof TYPES[0] ? TYPES[node->type] : "";
    fprintf(file, "    node_%llu [label=\"%s", (unsigned long long)node->id, type);
    if (node->task.kind == TASK_KERNEL)
        fprintf(file, "\\n%s", node->task.kernel.function->image->name);
    fprintf(file, "\"];\n");
    for (size_t i = 0; i < node->dependencies.count; i++)
        fprintf(file, "    node_%llu -> node_%llu;\n",
                (unsigned long long)node->dependencies.items[i]->id, (unsigned long long)node->id);
}

static void print_graph(FILE *file, const struct CUgraph_st *graph) {
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct CUgraphNode_st *node = graph->nodes.items[i];
        print_node(file, node);
        if (!node->child)
            continue;
        fprintf(file, "    subgraph cluster_%llu {\n", (unsigned long long)node->child->id);
        print_graph(file, node->child);
        fprintf(file, "    }\n");
    }
}

CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags) {
    REQUIRE_DRIVER();
    (void)flags; /* ask for more detail than there is */
    REQUIRE(graph_of(hGraph) && path, CUDA_ERROR_INVALID_VALUE);
    FILE *file = fopen(path, "w");
    REQUIRE(file, CUDA_ERROR_OPERATING_SYSTEM);
    fprintf(file, "digraph graph_%llu {\n", (unsigned long long)hGraph->id);
    print_graph(file, hGraph);
    fprintf(file, "}\n");
    return fclose(file) == 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}
