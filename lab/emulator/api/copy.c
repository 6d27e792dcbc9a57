/* Copies of one piece of memory between host, device and arrays. Boxes are in copy_box.c. */
#include "copy.h"

#include "array.h"

#define HOST_TO_DEVICE   ((struct copy_claims){SIDE_IS_HOST, SIDE_IS_DEVICE})
#define DEVICE_TO_HOST   ((struct copy_claims){SIDE_IS_DEVICE, SIDE_IS_HOST})
#define DEVICE_TO_DEVICE ((struct copy_claims){SIDE_IS_DEVICE, SIDE_IS_DEVICE})
#define ANY_TO_ANY       ((struct copy_claims){SIDE_IS_ANY, SIDE_IS_ANY})

static uint64_t address_of(const void *host) {
    return (uint64_t)(uintptr_t)host;
}

static CUresult copy_piece(CUstream stream, enum copy_mode mode, uint64_t to, uint64_t from,
                           size_t bytes, struct copy_claims claims) {
    REQUIRE_CONTEXT(context);
    (void)context;
    struct copy_task copy = copy_line(to, from, bytes);
    return copy_do(stream, mode, &copy, claims);
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount) {
    return copy_piece(NULL, COPY_SYNC, dst, src, ByteCount, ANY_TO_ANY);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream) {
    return copy_piece(hStream, COPY_ASYNC, dst, src, ByteCount, ANY_TO_ANY);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount) {
    return copy_piece(NULL, COPY_SYNC, dstDevice, address_of(srcHost), ByteCount, HOST_TO_DEVICE);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
                              CUstream hStream) {
    return copy_piece(hStream, COPY_ASYNC, dstDevice, address_of(srcHost), ByteCount,
                      HOST_TO_DEVICE);
}

CUresult cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    return copy_piece(NULL, COPY_SYNC, address_of(dstHost), srcDevice, ByteCount, DEVICE_TO_HOST);
}

CUresult cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                              CUstream hStream) {
    return copy_piece(hStream, COPY_ASYNC, address_of(dstHost), srcDevice, ByteCount,
                      DEVICE_TO_HOST);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount) {
    return copy_piece(NULL, COPY_SYNC, dstDevice, srcDevice, ByteCount, DEVICE_TO_DEVICE);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                              CUstream hStream) {
    return copy_piece(hStream, COPY_ASYNC, dstDevice, srcDevice, ByteCount, DEVICE_TO_DEVICE);
}

/* Addresses are the same in all contexts. Assumed: each side is reached by the GPU of its own context, as
 * such copies work without peer access. */
static CUresult copy_between_peers(CUstream stream, enum copy_mode mode, CUdeviceptr to,
                                   CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                                   size_t bytes) {
    REQUIRE_DRIVER();
    REQUIRE(context_exists(to_context) && context_exists(from_context), CUDA_ERROR_INVALID_CONTEXT);
    REQUIRE_CONTEXT(context);
    (void)context;
    struct copy_task copy = copy_line(to, from, bytes);
    copy.to.reacher = to_context->gpu + 1;
    copy.from.reacher = from_context->gpu + 1;
    return copy_do(stream, mode, &copy, DEVICE_TO_DEVICE);
}

CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                      CUcontext srcContext, size_t ByteCount) {
    return copy_between_peers(NULL, COPY_SYNC, dstDevice, dstContext, srcDevice, srcContext,
                              ByteCount);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                           CUcontext srcContext, size_t ByteCount, CUstream hStream) {
    return copy_between_peers(hStream, COPY_ASYNC, dstDevice, dstContext, srcDevice, srcContext,
                              ByteCount);
}

CUresult cuMemcpyAtoH_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
    return copy_piece(NULL, COPY_SYNC, address_of(dstHost),
                      array_address(srcArray, srcOffset, ByteCount), ByteCount, DEVICE_TO_HOST);
}

CUresult cuMemcpyAtoHAsync_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount,
                              CUstream hStream) {
    return copy_piece(hStream, COPY_ASYNC, address_of(dstHost),
                      array_address(srcArray, srcOffset, ByteCount), ByteCount, DEVICE_TO_HOST);
}

CUresult cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void *srcHost,
                         size_t ByteCount) {
    return copy_piece(NULL, COPY_SYNC, array_address(dstArray, dstOffset, ByteCount),
                      address_of(srcHost), ByteCount, HOST_TO_DEVICE);
}

CUresult cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void *srcHost,
                              size_t ByteCount, CUstream hStream) {
    return copy_piece(hStream, COPY_ASYNC, array_address(dstArray, dstOffset, ByteCount),
                      address_of(srcHost), ByteCount, HOST_TO_DEVICE);
}

CUresult cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice,
                         size_t ByteCount) {
    return copy_piece(NULL, COPY_SYNC, array_address(dstArray, dstOffset, ByteCount), srcDevice,
                      ByteCount, DEVICE_TO_DEVICE);
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset,
                         size_t ByteCount) {
    return copy_piece(NULL, COPY_SYNC, dstDevice, array_address(srcArray, srcOffset, ByteCount),
                      ByteCount, DEVICE_TO_DEVICE);
}

CUresult cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
                         size_t ByteCount) {
    return copy_piece(NULL, COPY_SYNC, array_address(dstArray, dstOffset, ByteCount),
                      array_address(srcArray, srcOffset, ByteCount), ByteCount, DEVICE_TO_DEVICE);
}
