/* Access from one GPU to the memory of another. All addresses are valid on all GPUs here. Requests
 * for access are recorded only to give programs the answers that they expect. */
#include "../process/context.h"

static bool can_reach(uint32_t from, uint32_t to) {
    return from != to && gpu_profile(from)->peer_bandwidth > 0;
}

CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev) {
    REQUIRE_DEVICE(dev);
    REQUIRE_DEVICE(peerDev);
    REQUIRE(canAccessPeer, CUDA_ERROR_INVALID_VALUE);
    *canAccessPeer = can_reach(gpu_of_device(dev), gpu_of_device(peerDev));
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
                                 CUdevice dstDevice) {
    REQUIRE_DEVICE(srcDevice);
    REQUIRE_DEVICE(dstDevice);
    REQUIRE(srcDevice != dstDevice, CUDA_ERROR_INVALID_DEVICE);
    REQUIRE(value, CUDA_ERROR_INVALID_VALUE);
    bool reachable = can_reach(gpu_of_device(srcDevice), gpu_of_device(dstDevice));
    switch (attrib) {
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED: *value = reachable; break;
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK: /* all links are the same: the best there is */
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED: *value = 0; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult check_peer(const struct CUctx_st *context, CUcontext peer) {
    REQUIRE(peer != context && context_exists(peer), CUDA_ERROR_INVALID_CONTEXT);
    REQUIRE(can_reach(context->gpu, peer->gpu), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags) {
    REQUIRE_CONTEXT(context);
    REQUIRE(!Flags, CUDA_ERROR_INVALID_VALUE);
    CUresult result = check_peer(context, peerContext);
    if (result != CUDA_SUCCESS)
        return result;
    uint32_t bit = 1u << peerContext->gpu;
    driver_lock();
    bool had_it = context->peers & bit;
    context->peers |= bit;
    driver_unlock();
    return had_it ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : CUDA_SUCCESS;
}

CUresult cuCtxDisablePeerAccess(CUcontext peerContext) {
    REQUIRE_CONTEXT(context);
    REQUIRE(peerContext != context && context_exists(peerContext), CUDA_ERROR_INVALID_CONTEXT);
    uint32_t bit = 1u << peerContext->gpu;
    driver_lock();
    bool had_it = context->peers & bit;
    context->peers &= ~bit;
    driver_unlock();
    return had_it ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}
