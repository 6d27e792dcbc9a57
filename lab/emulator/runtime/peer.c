/* Pairs of GPUs: access, and copies between them. */
#include "context.h"

FORWARD_DRIVER(cudaDeviceCanAccessPeer, (int *canAccessPeer, int device, int peerDevice),
               cuDeviceCanAccessPeer, (canAccessPeer, device, peerDevice))
FORWARD_DRIVER(cudaDeviceGetP2PAttribute,
               (int *value, enum cudaDeviceP2PAttr attr, int srcDevice, int dstDevice),
               cuDeviceGetP2PAttribute, (value, (CUdevice_P2PAttribute)attr, srcDevice, dstDevice))

cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags) {
    ENTER(driver);
    CUcontext peer;
    CUresult result = context_primary(driver, peerDevice, &peer);
    if (result == CUDA_SUCCESS)
        result = driver->cuCtxEnablePeerAccess(peer, flags);
    return answer_driver(result);
}

cudaError_t cudaDeviceDisablePeerAccess(int peerDevice) {
    ENTER(driver);
    CUcontext peer;
    CUresult result = context_primary(driver, peerDevice, &peer);
    if (result == CUDA_SUCCESS)
        result = driver->cuCtxDisablePeerAccess(peer);
    return answer_driver(result);
}

static CUresult both(const struct driver *driver, int one, CUcontext *first, int other,
                     CUcontext *second) {
    CUresult result = context_primary(driver, one, first);
    return result == CUDA_SUCCESS ? context_primary(driver, other, second) : result;
}

cudaError_t cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count) {
    ENTER(driver);
    CUcontext to, from;
    CUresult result = both(driver, dstDevice, &to, srcDevice, &from);
    if (result == CUDA_SUCCESS)
        result = driver->cuMemcpyPeer((CUdeviceptr)dst, to, (CUdeviceptr)src, from, count);
    return answer_driver(result);
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice,
                                size_t count, cudaStream_t stream) {
    ENTER(driver);
    CUcontext to, from;
    CUresult result = both(driver, dstDevice, &to, srcDevice, &from);
    if (result == CUDA_SUCCESS)
        result =
            driver->cuMemcpyPeerAsync((CUdeviceptr)dst, to, (CUdeviceptr)src, from, count, stream);
    return answer_driver(result);
}
