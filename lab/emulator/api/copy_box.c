/* Copies of boxes: two and three dimensions, host, device and array in all combinations. */
#include <limits.h>

#include "array.h"
#include "copy.h"

/* One side of a box as the program describes it. */
struct box_side {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x, y, z, level, pitch, height;
};

static CUresult read_linear(const struct box_side *side, uint64_t base, const struct copy_task *box,
                            struct copy_side *out) {
    bool one_row = box->rows <= 1 && box->layers <= 1 && side->y == 0 && side->z == 0;
    bool one_layer = box->layers <= 1 && side->z == 0;
    REQUIRE(side->pitch <= INT_MAX, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(side->pitch >= box->width + side->x || (one_row && !side->pitch),
            CUDA_ERROR_INVALID_VALUE);
    REQUIRE(side->height >= box->rows + side->y || (one_layer && !side->height),
            CUDA_ERROR_INVALID_VALUE);
    out->pitch = side->pitch;
    out->height = side->height ? side->height : box->rows;
    out->address = base ? base + (side->z * out->height + side->y) * out->pitch + side->x : 0;
    return CUDA_SUCCESS;
}

static CUresult read_side(const struct box_side *side, const struct copy_task *box,
                          struct copy_side *out, enum side_claim *claim) {
    REQUIRE(side->level == 0, CUDA_ERROR_INVALID_VALUE);
    switch (side->type) {
    case CU_MEMORYTYPE_HOST:
        *claim = SIDE_IS_HOST;
        return read_linear(side, (uint64_t)(uintptr_t)side->host, box, out);
    case CU_MEMORYTYPE_DEVICE:
        *claim = SIDE_IS_DEVICE;
        return read_linear(side, side->device, box, out);
    case CU_MEMORYTYPE_UNIFIED:
        *claim = SIDE_IS_ANY;
        return read_linear(side, side->device, box, out);
    case CU_MEMORYTYPE_ARRAY:
        *claim = SIDE_IS_DEVICE;
        return array_side(side->array, side->x, side->y, side->z, box, out);
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult copy_read_box(const CUDA_MEMCPY3D *box, struct copy_task *out,
                       struct copy_claims *claims) {
    struct box_side from = {box->srcMemoryType, box->srcHost,  box->srcDevice, box->srcArray,
                            box->srcXInBytes,   box->srcY,     box->srcZ,      box->srcLOD,
                            box->srcPitch,      box->srcHeight};
    struct box_side to = {box->dstMemoryType, box->dstHost,  box->dstDevice, box->dstArray,
                          box->dstXInBytes,   box->dstY,     box->dstZ,      box->dstLOD,
                          box->dstPitch,      box->dstHeight};
    *out =
        (struct copy_task){.width = box->WidthInBytes, .rows = box->Height, .layers = box->Depth};
    CUresult result = read_side(&from, out, &out->from, &claims->from);
    if (result == CUDA_SUCCESS)
        result = read_side(&to, out, &out->to, &claims->to);
    return result;
}

CUresult copy_from_box(const CUDA_MEMCPY3D *box, struct copy_task *out) {
    struct copy_claims claims;
    struct copy_nature nature;
    REQUIRE(box, CUDA_ERROR_INVALID_VALUE);
    CUresult result = copy_read_box(box, out, &claims);
    return result == CUDA_SUCCESS ? copy_check(out, claims, &nature) : result;
}

static CUresult copy_box(CUstream stream, enum copy_mode mode, const CUDA_MEMCPY3D *box) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(box, CUDA_ERROR_INVALID_VALUE);
    struct copy_task copy;
    struct copy_claims claims;
    CUresult result = copy_read_box(box, &copy, &claims);
    return result == CUDA_SUCCESS ? copy_do(stream, mode, &copy, claims) : result;
}

/* A plane is a box of one layer. */
static CUresult copy_plane(CUstream stream, enum copy_mode mode, const CUDA_MEMCPY2D *plane) {
    REQUIRE(plane, CUDA_ERROR_INVALID_VALUE);
    CUDA_MEMCPY3D box = {.srcXInBytes = plane->srcXInBytes,
                         .srcY = plane->srcY,
                         .srcMemoryType = plane->srcMemoryType,
                         .srcHost = plane->srcHost,
                         .srcDevice = plane->srcDevice,
                         .srcArray = plane->srcArray,
                         .srcPitch = plane->srcPitch,
                         .dstXInBytes = plane->dstXInBytes,
                         .dstY = plane->dstY,
                         .dstMemoryType = plane->dstMemoryType,
                         .dstHost = plane->dstHost,
                         .dstDevice = plane->dstDevice,
                         .dstArray = plane->dstArray,
                         .dstPitch = plane->dstPitch,
                         .WidthInBytes = plane->WidthInBytes,
                         .Height = plane->Height,
                         .Depth = 1};
    return copy_box(stream, mode, &box);
}

/* The peer form has contexts in place of reserved fields, and is otherwise the same. */
static CUresult copy_peer_box(CUstream stream, enum copy_mode mode,
                              const CUDA_MEMCPY3D_PEER *peer) {
    REQUIRE_DRIVER();
    REQUIRE(peer, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(peer->srcMemoryType == CU_MEMORYTYPE_ARRAY || !peer->srcContext ||
                context_exists(peer->srcContext),
            CUDA_ERROR_INVALID_CONTEXT);
    REQUIRE(peer->dstMemoryType == CU_MEMORYTYPE_ARRAY || !peer->dstContext ||
                context_exists(peer->dstContext),
            CUDA_ERROR_INVALID_CONTEXT);
    CUDA_MEMCPY3D box = {.srcXInBytes = peer->srcXInBytes,
                         .srcY = peer->srcY,
                         .srcZ = peer->srcZ,
                         .srcLOD = peer->srcLOD,
                         .srcMemoryType = peer->srcMemoryType,
                         .srcHost = peer->srcHost,
                         .srcDevice = peer->srcDevice,
                         .srcArray = peer->srcArray,
                         .srcPitch = peer->srcPitch,
                         .srcHeight = peer->srcHeight,
                         .dstXInBytes = peer->dstXInBytes,
                         .dstY = peer->dstY,
                         .dstZ = peer->dstZ,
                         .dstLOD = peer->dstLOD,
                         .dstMemoryType = peer->dstMemoryType,
                         .dstHost = peer->dstHost,
                         .dstDevice = peer->dstDevice,
                         .dstArray = peer->dstArray,
                         .dstPitch = peer->dstPitch,
                         .dstHeight = peer->dstHeight,
                         .WidthInBytes = peer->WidthInBytes,
                         .Height = peer->Height,
                         .Depth = peer->Depth};
    return copy_box(stream, mode, &box);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy) {
    return copy_plane(NULL, COPY_SYNC, pCopy);
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy) {
    return copy_plane(NULL, COPY_SYNC, pCopy);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream) {
    return copy_plane(hStream, COPY_ASYNC, pCopy);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy) {
    return copy_box(NULL, COPY_SYNC, pCopy);
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream) {
    return copy_box(hStream, COPY_ASYNC, pCopy);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy) {
    return copy_peer_box(NULL, COPY_SYNC, pCopy);
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream) {
    return copy_peer_box(hStream, COPY_ASYNC, pCopy);
}
