/* Captures, and graphs made of them. */
#include <unistd.h>

#include "fuzzer.h"

void drop_graph(struct item *item) {
    if (item->graph)
        DO(cuGraphExecDestroy(item->graph));
    item->graph = NULL;
}

static void capture(struct fuzzer *f, struct item *item) {
    CUstream stream = any_stream(f);
    CUgraph graph;
    drop_graph(item);
    item->graph_seed = next_random(f);
    DO(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch_pattern(f, item->at, item->words, item->graph_seed, stream);
    launch_count(f, item->at, item->words, item->graph_seed, stream);
    if (chance(f, 4))
        usleep((useconds_t)(next_random(f) % 20000)); /* a turn may end meanwhile */
    DO(cuStreamEndCapture(stream, &graph));
    DO(cuGraphInstantiateWithFlags(&item->graph, graph, 0));
    DO(cuGraphDestroy(graph));
}

/* An existing graph is used more often than a new one is made. */
void use_graph(struct fuzzer *f, struct item *item) {
    if (!item->graph || chance(f, 4)) {
        DO(cuEventSynchronize(item->used));
        capture(f, item);
        return;
    }
    CUstream stream = begin(f, item);
    DO(cuGraphLaunch(item->graph, stream));
    item->seed = item->graph_seed;
    end(item, stream);
}
