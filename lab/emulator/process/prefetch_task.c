/* A prefetch of managed memory as work for the model. No byte moves in the process: managed memory
 * has one address, and only the model knows where its blocks are. */
#include "memory.h"
#include "task.h"

CUresult queue_prefetch(struct CUstream_st *stream, const struct task *task, uint64_t *ticket) {
    struct touch touch = {0};
    uint64_t address = task->prefetch.address, bytes = task->prefetch.bytes;
    driver_lock();
    while (bytes) { /* one call may span several adjacent allocations */
        const struct allocation *allocation = memory_find(address);
        if (!allocation)
            break;
        uint64_t rest = allocation->bytes - (address - allocation->address);
        uint64_t piece = rest < bytes ? rest : bytes;
        memory_touch(&touch, address, piece);
        address += piece;
        bytes -= piece;
    }
    driver_unlock();
    struct operation operation = {
        .kind = OPERATION_PREFETCH, .engine = ENGINE_NONE, .target = task->prefetch.target};
    *ticket = stream_push(stream, operation, &touch, (struct effect){0});
    return CUDA_SUCCESS;
}
