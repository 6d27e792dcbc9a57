/* Graphs and their nodes: made, changed, cloned and destroyed. Order is in graph_order.c. */
#include "graph.h"

#include <stdlib.h>

#include "../process/function.h"
#include "graph_memory.h"
#include "user_object.h"

uint64_t graph_next_id(void) {
    static uint64_t last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

CUresult graph_create(CUgraph *out) {
    CUgraph graph = calloc(1, sizeof *graph);
    REQUIRE(graph, CUDA_ERROR_OUT_OF_MEMORY);
    graph->magic = GRAPH_MAGIC;
    graph->id = graph_next_id();
    *out = graph;
    return CUDA_SUCCESS;
}

static bool allocates(const struct CUgraphNode_st *node) {
    return node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && node->task.kind == TASK_ALLOCATE;
}

static void free_attributes(CUgraphNode node) {
    while (node->attributes) {
        struct node_attribute *attribute = node->attributes;
        node->attributes = attribute->next;
        free(attribute);
    }
}

static void free_node(CUgraphNode node) {
    if (allocates(node)) {
        driver_lock();
        graph_memory_drop(node->task.memory.address);
        driver_unlock();
    }
    node_set_child(node, NULL);
    task_drop(&node->task);
    free(node->arguments);
    free_attributes(node);
    node_list_clear(&node->dependencies);
    node->magic = 0;
    free(node);
}

void graph_destroy(CUgraph graph) {
    if (!graph)
        return;
    for (size_t i = 0; i < graph->nodes.count; i++)
        free_node(graph->nodes.items[i]);
    node_list_clear(&graph->nodes);
    node_list_clear(&graph->order);
    user_references_drop(graph);
    graph->magic = 0;
    free(graph);
}

static bool are_dependencies(const struct CUgraph_st *graph, const CUgraphNode *nodes,
                             size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!node_of(nodes[i]) || nodes[i]->graph != graph)
            return false;
        for (size_t other = 0; other < i; other++)
            if (nodes[other] == nodes[i])
                return false;
    }
    return true;
}

CUresult graph_add(CUgraph graph, CUgraphNodeType type, const CUgraphNode *dependencies,
                   size_t count, CUgraphNode *out) {
    REQUIRE(graph_of(graph) && out && (dependencies || !count), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(are_dependencies(graph, dependencies, count), CUDA_ERROR_INVALID_VALUE);
    CUgraphNode node = calloc(1, sizeof *node);
    REQUIRE(node, CUDA_ERROR_OUT_OF_MEMORY);
    *node = (struct CUgraphNode_st){
        .magic = NODE_MAGIC, .type = type, .graph = graph, .id = graph_next_id(), .enabled = true};
    bool complete = true;
    for (size_t i = 0; i < count && complete; i++)
        complete = node_list_add(&node->dependencies, dependencies[i]);
    if (!complete || !node_list_add(&graph->nodes, node)) {
        free_node(node);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = node;
    return CUDA_SUCCESS;
}

CUresult graph_add_task(CUgraph graph, CUgraphNodeType type, const CUgraphNode *dependencies,
                        size_t count, const struct task *task, CUgraphNode *out) {
    CUgraphNode node;
    CUresult result = graph_add(graph, type, dependencies, count, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (task->kind == TASK_ALLOCATE) {
        driver_lock();
        result = graph_memory_retain(task->memory.address);
        driver_unlock();
    }
    if (result == CUDA_SUCCESS)
        result = node_set_task(node, task);
    if (result == CUDA_SUCCESS)
        *out = node;
    else
        graph_remove(node);
    return result;
}

void graph_remove(CUgraphNode node) {
    CUgraph graph = node->graph;
    node_list_remove(&graph->nodes, node);
    for (size_t i = 0; i < graph->nodes.count; i++)
        node_list_remove(&graph->nodes.items[i]->dependencies, node);
    free_node(node);
}

/* cuGraphKernelNodeGetParams returns this pointer: it must be valid as long as the node exists. */
static CUresult point_at_arguments(const struct kernel_task *kernel, void ***out) {
    const struct image_kernel *image = kernel->function->image;
    void **arguments = calloc(image->parameter_count + 1, sizeof *arguments);
    REQUIRE(arguments, CUDA_ERROR_OUT_OF_MEMORY);
    for (uint32_t i = 0; i < image->parameter_count; i++) {
        const struct image_parameter *parameter = &image->parameters[i];
        if (parameter->offset + parameter->size <= kernel->parameter_bytes)
            arguments[i] = kernel->parameters + parameter->offset;
    }
    *out = arguments;
    return CUDA_SUCCESS;
}

CUresult node_set_task(CUgraphNode node, const struct task *task) {
    struct task copy;
    void **arguments = NULL;
    CUresult result = task_copy(task, &copy);
    if (result != CUDA_SUCCESS)
        return result;
    if (copy.kind == TASK_KERNEL)
        result = point_at_arguments(&copy.kernel, &arguments);
    if (result != CUDA_SUCCESS) {
        task_drop(&copy);
        return result;
    }
    task_drop(&node->task);
    free(node->arguments);
    node->task = copy;
    node->arguments = arguments;
    return CUDA_SUCCESS;
}

void node_set_child(CUgraphNode node, CUgraph child) {
    graph_destroy(node->child);
    node->child = child;
    if (child)
        child->embedded = true;
}

static CUresult copy_attributes(const struct CUgraphNode_st *from, CUgraphNode to) {
    struct node_attribute **end = &to->attributes;
    for (const struct node_attribute *a = from->attributes; a; a = a->next) {
        *end = malloc(sizeof **end);
        REQUIRE(*end, CUDA_ERROR_OUT_OF_MEMORY);
        **end = (struct node_attribute){a->id, a->value, NULL};
        end = &(*end)->next;
    }
    return CUDA_SUCCESS;
}

/* Everything but the edges, which need all nodes to exist. */
static CUresult clone_node(const struct CUgraphNode_st *node, CUgraph into) {
    CUgraphNode clone;
    CUresult result = graph_add_task(into, node->type, NULL, 0, &node->task, &clone);
    if (result != CUDA_SUCCESS)
        return result;
    clone->origin = node->id;
    clone->copy = node->copy;
    clone->context = node->context;
    clone->enabled = node->enabled;
    CUgraph child = NULL;
    if (node->child)
        result = graph_clone(node->child, &child);
    node_set_child(clone, child);
    return result == CUDA_SUCCESS ? copy_attributes(node, clone) : result;
}

static CUresult clone_edges(const struct CUgraph_st *graph, CUgraph into) {
    for (size_t i = 0; i < graph->nodes.count; i++)
        graph->nodes.items[i]->position = i;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct node_list *dependencies = &graph->nodes.items[i]->dependencies;
        for (size_t d = 0; d < dependencies->count; d++) {
            CUgraphNode dependency = into->nodes.items[dependencies->items[d]->position];
            REQUIRE(node_list_add(&into->nodes.items[i]->dependencies, dependency),
                    CUDA_ERROR_OUT_OF_MEMORY);
        }
    }
    return CUDA_SUCCESS;
}

CUresult graph_clone(const struct CUgraph_st *graph, CUgraph *out) {
    CUgraph clone;
    CUresult result = graph_create(&clone);
    if (result != CUDA_SUCCESS)
        return result;
    for (size_t i = 0; i < graph->nodes.count && result == CUDA_SUCCESS; i++)
        result = clone_node(graph->nodes.items[i], clone);
    if (result == CUDA_SUCCESS)
        result = clone_edges(graph, clone);
    if (result == CUDA_SUCCESS && !user_references_copy(graph, clone))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        *out = clone;
    else
        graph_destroy(clone);
    return result;
}
