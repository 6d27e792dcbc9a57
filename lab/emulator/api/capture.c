/* Beginning and ending captures, and asking about them. */
#include "capture_state.h"

#include <stdlib.h>

#include "../unsupported.h"

static CUresult begin(CUstream handle, CUgraph graph, bool owns_graph,
                      const CUgraphNode *dependencies, size_t count, CUstreamCaptureMode mode) {
    struct CUstream_st *stream;
    CUresult result = stream_resolve(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    REQUIRE((unsigned)mode <= CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!stream->is_legacy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    captures_lock();
    if (stream->capture || graph->being_captured)
        result = CUDA_ERROR_ILLEGAL_STATE;
    else
        result = sequence_begin(stream, mode, graph, owns_graph, dependencies, count);
    captures_unlock();
    return result;
}

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) {
    REQUIRE_CONTEXT(context);
    (void)context;
    CUgraph graph;
    CUresult result = graph_create(&graph);
    if (result != CUDA_SUCCESS)
        return result;
    result = begin(hStream, graph, true, NULL, 0, mode);
    if (result != CUDA_SUCCESS)
        graph_destroy(graph);
    return result;
}

/* The first version knew no modes. */
CUresult cuStreamBeginCapture(CUstream hStream) {
    return cuStreamBeginCapture_v2(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static bool all_in(const struct CUgraph_st *graph, const CUgraphNode *nodes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!node_of(nodes[i]) || nodes[i]->graph != graph)
            return false;
    return true;
}

CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
                                     const CUgraphNode *dependencies,
                                     const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                     CUstreamCaptureMode mode) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(graph_of(hGraph) && (dependencies || !numDependencies), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(all_in(hGraph, dependencies, numDependencies), CUDA_ERROR_INVALID_VALUE);
    if (!edges_are_plain(dependencyData, numDependencies))
        return emulator_unsupported("cuStreamBeginCaptureToGraph with programmatic edges");
    return begin(hStream, hGraph, false, dependencies, numDependencies, mode);
}

/* The first stream must have waited for the last nodes of every other stream. */
static CUresult check_joined(struct sequence *sequence) {
    CUresult result = graph_reach(sequence->graph, &sequence->origin->capture->dependencies);
    for (struct capture *c = sequence->streams; c && result == CUDA_SUCCESS; c = c->next)
        for (size_t i = 0; i < c->dependencies.count; i++)
            if (!c->dependencies.items[i]->reached)
                result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    return result;
}

static CUresult check_end(const struct CUstream_st *stream) {
    REQUIRE(stream->capture, CUDA_ERROR_ILLEGAL_STATE);
    const struct sequence *sequence = stream->capture->sequence;
    REQUIRE(sequence->origin == stream, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    REQUIRE(sequence->mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
                pthread_equal(sequence->thread, pthread_self()),
            CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    return CUDA_SUCCESS;
}

/* `leftover` gets a graph that the program must not see. */
static CUresult end(struct CUstream_st *stream, CUgraph *graph, CUgraph *leftover) {
    CUresult result = check_end(stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct sequence *sequence = stream->capture->sequence;
    result = sequence->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : check_joined(sequence);
    if (result == CUDA_SUCCESS)
        *graph = sequence->graph;
    else
        *leftover = sequence->owns_graph ? sequence->graph : NULL;
    sequence_end(sequence);
    return result;
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph *phGraph) {
    REQUIRE_DRIVER();
    struct CUstream_st *stream;
    CUresult result = stream_resolve(hStream, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    CUgraph graph = NULL, leftover = NULL;
    captures_lock();
    result = end(stream, &graph, &leftover);
    captures_unlock();
    graph_destroy(leftover);
    if (phGraph)
        *phGraph = graph;
    return result;
}

static CUstreamCaptureStatus status_of(const struct CUstream_st *stream) {
    if (!stream->capture)
        return CU_STREAM_CAPTURE_STATUS_NONE;
    return stream->capture->sequence->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                                  : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

/* Where the answers go. Any place may be NULL. */
struct capture_info {
    cuuint64_t *id;
    CUgraph *graph;
    const CUgraphNode **dependencies;
    const CUgraphEdgeData **edges;
    size_t *count;
};

/* Edges carry no data here, but programs that ask for the data read it without checking. */
static CUresult answer(struct capture *capture, const struct capture_info *info) {
    if (info->edges) {
        size_t count = capture->dependencies.count;
        CUgraphEdgeData *edges = calloc(count ? count : 1, sizeof *edges);
        REQUIRE(edges, CUDA_ERROR_OUT_OF_MEMORY);
        free(capture->edges);
        *info->edges = capture->edges = edges;
    }
    if (info->id)
        *info->id = capture->sequence->id;
    if (info->graph)
        *info->graph = capture->sequence->graph;
    if (info->dependencies)
        *info->dependencies = capture->dependencies.items;
    if (info->count)
        *info->count = capture->dependencies.count;
    return CUDA_SUCCESS;
}

static CUresult get_info(CUstream handle, CUstreamCaptureStatus *status,
                         const struct capture_info *info) {
    REQUIRE_DRIVER();
    REQUIRE(status, CUDA_ERROR_INVALID_VALUE);
    struct CUstream_st *stream;
    CUresult result = stream_resolve(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    REQUIRE(!stream->is_legacy || !capture_streams || !capture_blocks_legacy(stream),
            CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    captures_lock();
    *status = status_of(stream);
    if (*status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
        result = answer(stream->capture, info);
    captures_unlock();
    return result;
}

CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                   cuuint64_t *id_out, CUgraph *graph_out,
                                   const CUgraphNode **dependencies_out,
                                   const CUgraphEdgeData **edgeData_out,
                                   size_t *numDependencies_out) {
    REQUIRE(!edgeData_out || dependencies_out, CUDA_ERROR_INVALID_VALUE);
    struct capture_info info = {id_out, graph_out, dependencies_out, edgeData_out,
                                numDependencies_out};
    return get_info(hStream, captureStatus_out, &info);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                   cuuint64_t *id_out, CUgraph *graph_out,
                                   const CUgraphNode **dependencies_out,
                                   size_t *numDependencies_out) {
    struct capture_info info = {id_out, graph_out, dependencies_out, NULL, numDependencies_out};
    return get_info(hStream, captureStatus_out, &info);
}

CUresult cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                cuuint64_t *id_out) {
    return get_info(hStream, captureStatus_out, &(struct capture_info){.id = id_out});
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus) {
    return get_info(hStream, captureStatus, &(struct capture_info){0});
}

static CUresult update(struct capture *capture, const CUgraphNode *nodes, size_t count, bool set) {
    REQUIRE(capture, CUDA_ERROR_ILLEGAL_STATE);
    REQUIRE(!capture->sequence->invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    REQUIRE(all_in(capture->sequence->graph, nodes, count), CUDA_ERROR_INVALID_VALUE);
    struct node_list result = {0};
    bool complete = set || dependencies_add(&result, &capture->dependencies);
    for (size_t i = 0; i < count && complete; i++)
        complete = node_list_add_new(&result, nodes[i]);
    if (!complete) {
        node_list_clear(&result);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    node_list_clear(&capture->dependencies);
    capture->dependencies = result;
    return CUDA_SUCCESS;
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode *dependencies,
                                              const CUgraphEdgeData *dependencyData,
                                              size_t numDependencies, unsigned int flags) {
    REQUIRE_DRIVER();
    struct CUstream_st *stream;
    CUresult result = stream_resolve(hStream, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    REQUIRE(flags <= CU_STREAM_SET_CAPTURE_DEPENDENCIES, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(dependencies || !numDependencies, CUDA_ERROR_INVALID_VALUE);
    if (!edges_are_plain(dependencyData, numDependencies))
        return emulator_unsupported("cuStreamUpdateCaptureDependencies with programmatic edges");
    captures_lock();
    result = update(stream->capture, dependencies, numDependencies,
                    flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    captures_unlock();
    return result;
}

CUresult cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode *dependencies,
                                           size_t numDependencies, unsigned int flags) {
    return cuStreamUpdateCaptureDependencies_v2(hStream, dependencies, NULL, numDependencies,
                                                flags);
}
