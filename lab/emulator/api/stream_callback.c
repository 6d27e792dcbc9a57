/* The older form of a host function, and words of memory written and awaited in stream order. */
#include <stdlib.h>

#include "../process/memory.h"
#include "../process/task.h"

struct callback {
    CUstreamCallback function;
    CUstream stream;
    void *data;
};

static void call_back(void *data) {
    struct callback call = *(struct callback *)data;
    free(data);
    call.function(call.stream, CUDA_SUCCESS, call.data);
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback function, void *data,
                             unsigned int flags) {
    REQUIRE_DRIVER();
    REQUIRE(function && flags == 0, CUDA_ERROR_INVALID_VALUE);
    struct CUstream_st *stream;
    CUresult result = stream_resolve(handle, &stream);
    REQUIRE(result == CUDA_SUCCESS, result);
    REQUIRE(!stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    struct callback *call = malloc(sizeof *call);
    REQUIRE(call, CUDA_ERROR_OUT_OF_MEMORY);
    *call = (struct callback){function, handle, data};
    struct task task = {.kind = TASK_HOST, .host = {call_back, call}};
    return stream_do(stream, &task, NULL);
}

static CUresult do_value(CUstream handle, enum task_kind kind, CUdeviceptr address, uint64_t value,
                         unsigned bytes, unsigned flags) {
    REQUIRE_DRIVER();
    struct CUstream_st *stream;
    CUresult result = stream_resolve(handle, &stream);
    REQUIRE(result == CUDA_SUCCESS, result);
    REQUIRE(address % bytes == 0, CUDA_ERROR_INVALID_VALUE);
    struct task task = {.kind = kind, .value = {address, value, bytes, flags}};
    return stream_do(stream, &task, NULL);
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned int flags) {
    return do_value(stream, TASK_WRITE_VALUE, address, value, 4, flags);
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned int flags) {
    return do_value(stream, TASK_WRITE_VALUE, address, value, 8, flags);
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned int flags) {
    return do_value(stream, TASK_WAIT_VALUE, address, value, 4, flags);
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                unsigned int flags) {
    return do_value(stream, TASK_WAIT_VALUE, address, value, 8, flags);
}

static CUresult do_one(CUstream stream, const CUstreamBatchMemOpParams *operation) {
    switch (operation->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: {
        bool wide = operation->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
        return do_value(stream, TASK_WAIT_VALUE, operation->waitValue.address,
                        wide ? operation->waitValue.value64 : operation->waitValue.value,
                        wide ? 8 : 4, operation->waitValue.flags);
    }
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: {
        bool wide = operation->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
        return do_value(stream, TASK_WRITE_VALUE, operation->writeValue.address,
                        wide ? operation->writeValue.value64 : operation->writeValue.value,
                        wide ? 8 : 4, operation->writeValue.flags);
    }
    default: /* barriers: every operation here is seen in order anyway */ return CUDA_SUCCESS;
    }
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count,
                               CUstreamBatchMemOpParams *operations, unsigned int flags) {
    REQUIRE(operations && count <= 256 && flags == 0, CUDA_ERROR_INVALID_VALUE);
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = do_one(stream, &operations[i]);
    return result;
}
