/* Captures under way: the streams in them, and the marks that events keep of them. */
#include "capture_state.h"

#include <stdlib.h>

static struct {
    pthread_mutex_t lock;
    struct sequence *first;
} captures = {.lock = PTHREAD_MUTEX_INITIALIZER};

unsigned capture_streams;

void captures_lock(void) {
    pthread_mutex_lock(&captures.lock);
}
void captures_unlock(void) {
    pthread_mutex_unlock(&captures.lock);
}
struct sequence *captures_first(void) {
    return captures.first;
}

bool dependencies_add(struct node_list *set, const struct node_list *more) {
    for (size_t i = 0; i < more->count; i++)
        if (!node_list_add_new(set, more->items[i]))
            return false;
    return true;
}

bool dependencies_set(struct node_list *set, CUgraphNode node) {
    set->count = 0;
    return node_list_add(set, node);
}

CUresult sequence_fail(struct sequence *sequence, CUresult error) {
    sequence->invalidated = true;
    return error;
}

CUresult sequence_join(struct sequence *sequence, struct CUstream_st *stream) {
    struct capture *capture = calloc(1, sizeof *capture);
    REQUIRE(capture, CUDA_ERROR_OUT_OF_MEMORY);
    capture->stream = stream;
    capture->sequence = sequence;
    capture->next = sequence->streams;
    sequence->streams = capture;
    stream->capture = capture;
    capture_streams++;
    return CUDA_SUCCESS;
}

static void free_capture(struct capture *capture) {
    capture->stream->capture = NULL;
    capture_streams--;
    node_list_clear(&capture->dependencies);
    free(capture->edges);
    free(capture);
}

CUresult sequence_begin(struct CUstream_st *stream, CUstreamCaptureMode mode, CUgraph graph,
                        bool owns_graph, const CUgraphNode *dependencies, size_t count) {
    struct sequence *sequence = calloc(1, sizeof *sequence);
    REQUIRE(sequence, CUDA_ERROR_OUT_OF_MEMORY);
    bool complete = sequence_join(sequence, stream) == CUDA_SUCCESS;
    for (size_t i = 0; i < count && complete; i++)
        complete = node_list_add_new(&stream->capture->dependencies, dependencies[i]);
    if (!complete) {
        if (sequence->streams)
            free_capture(sequence->streams);
        free(sequence);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sequence->id = graph_next_id();
    sequence->mode = mode;
    sequence->thread = pthread_self();
    sequence->origin = stream;
    sequence->graph = graph;
    sequence->owns_graph = owns_graph;
    graph->being_captured = true;
    sequence->next = captures.first;
    captures.first = sequence;
    return CUDA_SUCCESS;
}

static void unlink_sequence(struct sequence *sequence) {
    struct sequence **at = &captures.first;
    while (*at && *at != sequence)
        at = &(*at)->next;
    if (*at)
        *at = sequence->next;
}

void sequence_end(struct sequence *sequence) {
    while (sequence->streams) {
        struct capture *capture = sequence->streams;
        sequence->streams = capture->next;
        free_capture(capture);
    }
    unlink_sequence(sequence);
    sequence->graph->being_captured = false;
    sequence->graph = NULL;
    sequence->ended = true;
    if (!sequence->marks)
        free(sequence);
}

/* A capture that loses a stream cannot be completed; one that loses the stream it began in cannot
 * even be ended by the program. */
void capture_abandon(struct CUstream_st *stream) {
    CUgraph orphan = NULL;
    captures_lock();
    struct capture *capture = stream->capture;
    if (capture) {
        struct sequence *sequence = capture->sequence;
        sequence->invalidated = true;
        if (sequence->origin == stream) {
            orphan = sequence->owns_graph ? sequence->graph : NULL;
            sequence_end(sequence);
        } else {
            struct capture **at = &sequence->streams;
            while (*at != capture)
                at = &(*at)->next;
            *at = capture->next;
            free_capture(capture);
        }
    }
    captures_unlock();
    graph_destroy(orphan);
}

struct capture_mark *mark_create(struct capture *capture) {
    struct capture_mark *mark = calloc(1, sizeof *mark);
    if (!mark)
        return NULL;
    if (!dependencies_add(&mark->dependencies, &capture->dependencies)) {
        node_list_clear(&mark->dependencies);
        free(mark);
        return NULL;
    }
    mark->sequence = capture->sequence;
    mark->sequence->marks++;
    return mark;
}

void mark_drop(struct capture_mark *mark) {
    struct sequence *sequence = mark->sequence;
    if (--sequence->marks == 0 && sequence->ended)
        free(sequence);
    node_list_clear(&mark->dependencies);
    free(mark);
}

void capture_mark_drop(struct capture_mark *mark) {
    captures_lock();
    mark_drop(mark);
    captures_unlock();
}

void capture_forget(CUevent event) {
    if (!event->captured)
        return;
    captures_lock();
    struct capture_mark *mark = event->captured;
    event->captured = NULL;
    if (mark)
        mark_drop(mark);
    captures_unlock();
}
