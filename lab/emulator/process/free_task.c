/* A stream-ordered free: the memory is freed when the stream reaches the task. */
#include <stdlib.h>

#include "../api/graph_memory.h"
#include "pool.h"
#include "task.h"

struct free_task {
    uint64_t address;
    uint64_t id; /* of the allocation: the address may have a new owner by then */
};

static void free_now(void *data, uint64_t finished_at) {
    (void)finished_at;
    struct free_task *own = data;
    driver_lock();
    struct allocation *allocation = memory_find(own->address);
    if (allocation && allocation->id == own->id)
        memory_give_back(allocation);
    driver_unlock();
    free(own);
}

/* Notes which queue will free it, and returns its id; 0 if there is nothing to free. */
static uint64_t announce(uint64_t address, uint32_t queue) {
    uint64_t id = 0;
    driver_lock();
    struct allocation *allocation = memory_find(address);
    bool of_graph = graph_memory_free(address); /* then it stays, for the next launch */
    if (!of_graph && allocation && allocation->address == address) {
        struct pool_block *block = pool_block_of(allocation);
        allocation->freeing = true;
        id = allocation->id;
        if (block)
            block->queue = queue;
    }
    driver_unlock();
    return id;
}

CUresult queue_free(struct CUstream_st *stream, uint64_t address, uint64_t *ticket) {
    struct free_task *own = malloc(sizeof *own);
    if (!own)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *own = (struct free_task){address, announce(address, stream->queue)};
    *ticket = stream_push(stream, (struct operation){.kind = OPERATION_MARKER}, NULL,
                          (struct effect){.run = free_now, .data = own, .eager = true});
    return CUDA_SUCCESS;
}
