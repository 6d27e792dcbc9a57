/* Work submitted to streams of a capture: a node for each task, or a dependency for events. */
#include "capture_state.h"

/* The type of the node that a task becomes. Tasks that are missing here have no node and cannot be
 * captured. */
static const struct {
    enum task_kind kind;
    CUgraphNodeType type;
} TYPES[] = {
    {TASK_NOTHING, CU_GRAPH_NODE_TYPE_EMPTY},
    {TASK_KERNEL, CU_GRAPH_NODE_TYPE_KERNEL},
    {TASK_COPY, CU_GRAPH_NODE_TYPE_MEMCPY},
    {TASK_FILL, CU_GRAPH_NODE_TYPE_MEMSET},
    {TASK_HOST, CU_GRAPH_NODE_TYPE_HOST},
    {TASK_EVENT_RECORD, CU_GRAPH_NODE_TYPE_EVENT_RECORD},
    {TASK_EVENT_WAIT, CU_GRAPH_NODE_TYPE_WAIT_EVENT},
    {TASK_ALLOCATE, CU_GRAPH_NODE_TYPE_MEM_ALLOC},
    {TASK_FREE, CU_GRAPH_NODE_TYPE_MEM_FREE},
    {TASK_WRITE_VALUE, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP},
    {TASK_WAIT_VALUE, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP},
};

static bool type_of(enum task_kind kind, CUgraphNodeType *type) {
    for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++) {
        if (TYPES[i].kind == kind) {
            *type = TYPES[i].type;
            return true;
        }
    }
    return false;
}

static CUresult add_node(struct capture *capture, CUgraphNodeType type, const struct task *task,
                         CUgraphNode *out) {
    struct sequence *sequence = capture->sequence;
    CUgraphNode node;
    CUresult result = graph_add_task(sequence->graph, type, capture->dependencies.items,
                                     capture->dependencies.count, task, &node);
    if (result != CUDA_SUCCESS)
        return sequence_fail(sequence, result);
    node->context = capture->stream->context;
    if (!dependencies_set(&capture->dependencies, node))
        return sequence_fail(sequence, CUDA_ERROR_OUT_OF_MEMORY);
    if (out)
        *out = node;
    return CUDA_SUCCESS;
}

static CUresult record(struct capture *capture, CUevent event) {
    struct capture_mark *mark = mark_create(capture);
    if (!mark)
        return sequence_fail(capture->sequence, CUDA_ERROR_OUT_OF_MEMORY);
    if (event->captured)
        mark_drop(event->captured);
    event->captured = mark;
    return CUDA_SUCCESS;
}

/* A captured stream waits for an event that was recorded outside. The graph cannot keep that order,
 * unless there is nothing to wait for. */
static CUresult wait_for_outside(struct capture *capture, CUevent event) {
    if (!event->record)
        return CUDA_SUCCESS;
    return sequence_fail(capture->sequence, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
}

static CUresult wait(struct CUstream_st *stream, CUevent event) {
    struct capture_mark *mark = event->captured;
    if (!mark)
        return wait_for_outside(stream->capture, event);
    if (mark->sequence->ended)
        return CUDA_ERROR_CAPTURED_EVENT;
    if (mark->sequence->invalidated)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream->is_legacy)
        return sequence_fail(mark->sequence, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CUresult result = CUDA_SUCCESS;
    if (!stream->capture)
        result = sequence_join(mark->sequence, stream);
    if (result != CUDA_SUCCESS)
        return sequence_fail(mark->sequence, result);
    if (stream->capture->sequence != mark->sequence) {
        sequence_fail(stream->capture->sequence, CUDA_ERROR_STREAM_CAPTURE_MERGE);
        return sequence_fail(mark->sequence, CUDA_ERROR_STREAM_CAPTURE_MERGE);
    }
    if (!dependencies_add(&stream->capture->dependencies, &mark->dependencies))
        return sequence_fail(mark->sequence, CUDA_ERROR_OUT_OF_MEMORY);
    return CUDA_SUCCESS;
}

/* External events are recorded and waited for by the graph when it runs. */
static bool is_inside_wait(const struct task *task) {
    return task->kind == TASK_EVENT_WAIT && !(task->event.flags & CU_EVENT_WAIT_EXTERNAL);
}

static bool is_inside_record(const struct task *task) {
    return task->kind == TASK_EVENT_RECORD && !(task->event.flags & CU_EVENT_RECORD_EXTERNAL);
}

static CUresult add(struct CUstream_st *stream, const struct task *task) {
    struct capture *capture = stream->capture;
    if (capture && capture->sequence->invalidated)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (is_inside_wait(task))
        return wait(stream, task->event.event);
    if (!capture)
        return CUDA_ERROR_CAPTURED_EVENT;
    if (is_inside_record(task))
        return record(capture, task->event.event);
    CUgraphNodeType type;
    if (!type_of(task->kind, &type))
        return sequence_fail(capture->sequence, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return add_node(capture, type, task, NULL);
}

CUresult capture_add(struct CUstream_st *stream, const struct task *task) {
    captures_lock();
    CUresult result = legacy_check(stream);
    if (result == CUDA_SUCCESS)
        result = add(stream, task);
    captures_unlock();
    return result;
}

static CUresult add_graph(struct capture *capture, CUgraph graph) {
    if (capture->sequence->invalidated)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    CUgraph child;
    CUresult result = graph_clone(graph, &child);
    if (result != CUDA_SUCCESS)
        return sequence_fail(capture->sequence, result);
    CUgraphNode node;
    static const struct task nothing = {.kind = TASK_NOTHING};
    result = add_node(capture, CU_GRAPH_NODE_TYPE_GRAPH, &nothing, &node);
    if (result == CUDA_SUCCESS)
        node_set_child(node, child);
    else
        graph_destroy(child);
    return result;
}

CUresult capture_add_graph(struct CUstream_st *stream, CUgraph graph) {
    captures_lock();
    CUresult result =
        stream->capture ? add_graph(stream->capture, graph) : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    captures_unlock();
    return result;
}
