/* Batches of copies, and copies with attributes: hints that change nothing here, and when the
 * source may be read. Copies of a batch may run in any order; here they run in the order given. */
#include "../process/memory.h"
#include "array.h"
#include "copy.h"

#define ANY_TO_ANY ((struct copy_claims){SIDE_IS_ANY, SIDE_IS_ANY})

/* A source that must not be read after the call: a copy in stream order ensures that anyway for
 * pageable memory. For other memory the call has to wait. */
static CUresult mode_of(CUmemcpySrcAccessOrder order, enum copy_mode *mode) {
    REQUIRE(order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY,
            CUDA_ERROR_INVALID_VALUE);
    *mode = order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ? COPY_SYNC : COPY_ASYNC;
    return CUDA_SUCCESS;
}

static CUresult copy_one(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                         const CUmemcpyAttributes *attributes, CUstream stream) {
    enum copy_mode mode;
    CUresult result = mode_of(attributes->srcAccessOrder, &mode);
    struct copy_task copy = copy_line(to, from, bytes);
    return result == CUDA_SUCCESS ? copy_do(stream, mode, &copy, ANY_TO_ANY) : result;
}

CUresult cuMemcpyWithAttributesAsync(CUdeviceptr dst, CUdeviceptr src, size_t size,
                                     CUmemcpyAttributes *attr, CUstream hStream) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(attr, CUDA_ERROR_INVALID_VALUE);
    return copy_one(dst, src, size, attr, hStream);
}

/* Entry k of the attributes applies from copy firsts[k] on. */
static bool are_in_order(const size_t *firsts, size_t entries, size_t count) {
    if (!firsts || !entries || entries > count || firsts[0] != 0)
        return false;
    for (size_t k = 1; k < entries; k++)
        if (firsts[k] <= firsts[k - 1] || firsts[k] >= count)
            return false;
    return true;
}

/* Wrong addresses are found before anything is queued. */
static CUresult check_batch(const CUdeviceptr *to, const CUdeviceptr *from, const size_t *sizes,
                            size_t count, size_t *failed) {
    struct copy_nature nature;
    for (*failed = 0; *failed < count; (*failed)++) {
        struct copy_task copy = copy_line(to[*failed], from[*failed], sizes[*failed]);
        REQUIRE(copy_check(&copy, ANY_TO_ANY, &nature) == CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE);
    }
    *failed = SIZE_MAX; /* as documented: an error is one of the batch as a whole */
    return CUDA_SUCCESS;
}

CUresult cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                            CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                            size_t *failIdx, CUstream hStream) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(hStream && hStream != CU_STREAM_LEGACY, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(dsts && srcs && sizes && attrs && count, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(are_in_order(attrsIdxs, numAttrs, count), CUDA_ERROR_INVALID_VALUE);
    size_t failed, entry = 0;
    CUresult result = check_batch(dsts, srcs, sizes, count, &failed);
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        if (entry + 1 < numAttrs && attrsIdxs[entry + 1] == i)
            entry++;
        result = copy_one(dsts[i], srcs[i], sizes[i], &attrs[entry], hStream);
    }
    if (result != CUDA_SUCCESS && failIdx)
        *failIdx = failed;
    return result;
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                               CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                               CUstream hStream) {
    return cuMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, NULL, hStream);
}

/* Operands count in elements of the array; without an array, in bytes. */
static size_t element_bytes(const CUDA_MEMCPY3D_BATCH_OP *op) {
    const CUmemcpy3DOperand *sides[] = {&op->src, &op->dst};
    for (int i = 0; i < 2; i++)
        if (sides[i]->type == CU_MEMCPY_OPERAND_TYPE_ARRAY && sides[i]->op.array.array)
            return sides[i]->op.array.array->element_bytes;
    return 1;
}

static CUresult read_operand(const CUmemcpy3DOperand *operand, size_t element,
                             const struct copy_task *box, struct copy_side *out) {
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY)
        return array_side(operand->op.array.array, operand->op.array.offset.x * element,
                          operand->op.array.offset.y, operand->op.array.offset.z, box, out);
    REQUIRE(operand->type == CU_MEMCPY_OPERAND_TYPE_POINTER, CUDA_ERROR_INVALID_VALUE);
    size_t row = operand->op.ptr.rowLength * element;
    out->address = operand->op.ptr.ptr;
    out->pitch = row ? row : box->width;
    out->height = operand->op.ptr.layerHeight ? operand->op.ptr.layerHeight : box->rows;
    return out->pitch >= box->width && out->height >= box->rows ? CUDA_SUCCESS
                                                                : CUDA_ERROR_INVALID_VALUE;
}

static CUresult read_op(const CUDA_MEMCPY3D_BATCH_OP *op, struct copy_task *out,
                        enum copy_mode *mode) {
    REQUIRE(op->extent.width && op->extent.height && op->extent.depth, CUDA_ERROR_INVALID_VALUE);
    size_t element = element_bytes(op);
    *out = (struct copy_task){
        .width = op->extent.width * element, .rows = op->extent.height, .layers = op->extent.depth};
    CUresult result = mode_of(op->srcAccessOrder, mode);
    if (result == CUDA_SUCCESS)
        result = read_operand(&op->src, element, out, &out->from);
    if (result == CUDA_SUCCESS)
        result = read_operand(&op->dst, element, out, &out->to);
    return result;
}

CUresult cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags,
                                       CUstream hStream) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(op && !flags, CUDA_ERROR_INVALID_VALUE);
    struct copy_task copy;
    enum copy_mode mode;
    CUresult result = read_op(op, &copy, &mode);
    return result == CUDA_SUCCESS ? copy_do(hStream, mode, &copy, ANY_TO_ANY) : result;
}

CUresult cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
                              unsigned long long flags, CUstream hStream) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(hStream && hStream != CU_STREAM_LEGACY, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(opList && numOps && !flags, CUDA_ERROR_INVALID_VALUE);
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < numOps && result == CUDA_SUCCESS; i++) {
        result = cuMemcpy3DWithAttributesAsync(&opList[i], 0, hStream);
        if (result != CUDA_SUCCESS && failIdx)
            *failIdx = i;
    }
    return result;
}

CUresult cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList,
                                 unsigned long long flags, CUstream hStream) {
    return cuMemcpy3DBatchAsync(numOps, opList, NULL, flags, hStream);
}
