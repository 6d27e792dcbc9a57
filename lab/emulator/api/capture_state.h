/* The inside of captures, for the files that implement them. The captures' own lock guards all of
 * it. Callers of these functions hold it, unless a comment says otherwise. */
#ifndef NVSHARE_EMULATOR_CAPTURE_STATE_H
#define NVSHARE_EMULATOR_CAPTURE_STATE_H

#include "capture.h"
#include "graph.h"

/* A capture as a whole. */
struct sequence {
    uint64_t id;
    CUstreamCaptureMode mode;
    pthread_t thread;
    struct CUstream_st *origin;
    CUgraph graph;
    bool owns_graph;         /* false: the program gave it, and keeps it in any case */
    bool ended, invalidated; /* marks may outlive the capture */
    unsigned marks;
    struct capture *streams;
    struct sequence *next;
};

/* One stream's part in it. */
struct capture {
    struct CUstream_st *stream;
    struct sequence *sequence;
    struct node_list dependencies;
    CUgraphEdgeData *edges; /* zeros, for a program that asks for the data of its dependencies */
    struct capture *next;   /* of the same sequence */
};

struct capture_mark {
    struct sequence *sequence;
    struct node_list dependencies;
};

void captures_lock(void);
void captures_unlock(void);

/* The captures under way. */
struct sequence *captures_first(void);

/* Begins a capture into a graph, its first node after `dependencies`. */
CUresult sequence_begin(struct CUstream_st *stream, CUstreamCaptureMode mode, CUgraph graph,
                        bool owns_graph, const CUgraphNode *dependencies, size_t count);

/* Takes all streams out of it. The caller frees the graph, unless it has another owner. */
void sequence_end(struct sequence *sequence);

/* Makes a stream part of a capture. */
CUresult sequence_join(struct sequence *sequence, struct CUstream_st *stream);

/* Returns the error, so that `return sequence_fail(...)` reads well. */
CUresult sequence_fail(struct sequence *sequence, CUresult error);

/* If this is the legacy stream and a stream that would have to wait for it is being captured:
 * returns CUDA_ERROR_STREAM_CAPTURE_IMPLICIT and invalidates those captures. */
CUresult legacy_check(const struct CUstream_st *stream);

struct capture_mark *mark_create(struct capture *capture);
void mark_drop(struct capture_mark *mark);

/* Adds nodes to a set, each once; false when memory is out. */
bool dependencies_add(struct node_list *set, const struct node_list *more);
/* The stream's next node comes after this one alone. */
bool dependencies_set(struct node_list *set, CUgraphNode node);

#endif
