/* Graphs: nodes, each with the task it stands for and the nodes it comes after.
 *
 * The API says that two threads must not use a graph at once, so nothing here is locked. Captures
 * lock the data that they share between threads. Identifiers are never reused. */
#ifndef NVSHARE_EMULATOR_GRAPH_H
#define NVSHARE_EMULATOR_GRAPH_H

#include "../process/task.h"

#define GRAPH_MAGIC 0x47726131u
#define NODE_MAGIC  0x4e6f6431u

struct node_list {
    struct CUgraphNode_st **items;
    size_t count, capacity;
};

struct node_attribute {
    CUkernelNodeAttrID id;
    CUkernelNodeAttrValue value;
    struct node_attribute *next;
};

struct CUgraphNode_st {
    uint32_t magic;
    CUgraphNodeType type;
    struct CUgraph_st *graph;
    uint64_t id;
    uint64_t origin; /* the id of the node that this one is a clone of; 0: of none */
    struct node_list dependencies;
    struct task task;
    struct CUgraph_st *child; /* of a child graph node, owned by it */
    void **arguments;         /* of a kernel: one pointer per parameter, into the task */
    CUDA_MEMCPY3D copy;       /* of a copy: its description; a captured one is described anew */
    CUcontext context;        /* as given by the program, which may ask for it back */
    struct node_attribute *attributes;
    bool enabled;    /* in an executable graph */
    size_t position; /* used within one function only, like the next */
    bool reached;
};

struct user_reference;

struct CUgraph_st {
    uint32_t magic;
    uint64_t id;
    struct node_list nodes; /* in the order of their creation */
    struct node_list order; /* of the launch, for an executable graph */
    struct user_reference *objects;
    bool embedded;       /* belongs to a node: the program cannot destroy it */
    bool being_captured; /* cannot be instantiated or destroyed yet */
};

static inline struct CUgraph_st *graph_of(CUgraph handle) {
    return handle && handle->magic == GRAPH_MAGIC ? handle : NULL;
}

static inline struct CUgraphNode_st *node_of(CUgraphNode handle) {
    return handle && handle->magic == NODE_MAGIC ? handle : NULL;
}

uint64_t graph_next_id(void);

/* Lists of nodes. Adding fails only if memory runs out. */
bool node_list_add(struct node_list *list, CUgraphNode node);
bool node_list_add_new(struct node_list *list, CUgraphNode node); /* unless it is in there */
bool node_list_contains(const struct node_list *list, const struct CUgraphNode_st *node);
bool node_list_remove(struct node_list *list, const struct CUgraphNode_st *node);
void node_list_clear(struct node_list *list);

CUresult graph_create(CUgraph *out);
void graph_destroy(CUgraph graph); /* takes the driver's lock */

/* The clone of a whole graph, child graphs and user objects included. */
CUresult graph_clone(const struct CUgraph_st *graph, CUgraph *out);

/* Adds a node without a task after `dependencies`, which must be distinct nodes of this graph. */
CUresult graph_add(CUgraph graph, CUgraphNodeType type, const CUgraphNode *dependencies,
                   size_t count, CUgraphNode *out);

/* The same, with a copy of a task; memory that it allocates becomes the graph's. Takes the lock. */
CUresult graph_add_task(CUgraph graph, CUgraphNodeType type, const CUgraphNode *dependencies,
                        size_t count, const struct task *task, CUgraphNode *out);

/* Removes a node and all edges from and to it. Takes the driver's lock. */
void graph_remove(CUgraphNode node);

/* Gives a node a copy of another task of the same kind. */
CUresult node_set_task(CUgraphNode node, const struct task *task);

/* Gives a child graph node another graph, which it owns from then on. */
void node_set_child(CUgraphNode node, CUgraph child);

/* All nodes, each after its dependencies, otherwise in the order of creation.
 * CUDA_ERROR_INVALID_VALUE if there is a cycle; `stuck`, if given, is then a node of it. */
CUresult graph_sort(CUgraph graph, struct node_list *out, CUgraphNode *stuck);

/* Sets `reached` for the given nodes and all that they come after, and clears it for all others. */
CUresult graph_reach(CUgraph graph, const struct node_list *from);

/* Is there a node of this type, in child graphs too? */
bool graph_has(const struct CUgraph_st *graph, CUgraphNodeType type);

/* The node of a graph, or of its child graphs, that is the clone of another. */
CUgraphNode graph_find_clone(const struct CUgraph_st *graph, const struct CUgraphNode_st *original);

/* Does this edge carry anything but order? That is for programmatic launches only. */
bool edge_is_plain(const CUgraphEdgeData *edge);
bool edges_are_plain(const CUgraphEdgeData *edges, size_t count);

#endif
