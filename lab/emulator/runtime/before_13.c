/* Functions of CUDA 12 in the form that CUDA 13 has removed, based on the newer ones. */
#include "runtime.h"

#if CUDART_VERSION < 13000

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
                                        enum cudaStreamCaptureStatus *captureStatus_out,
                                        unsigned long long *id_out, cudaGraph_t *graph_out,
                                        const cudaGraphNode_t **dependencies_out,
                                        size_t *numDependencies_out) {
    return cudaStreamGetCaptureInfo_v3(stream, captureStatus_out, id_out, graph_out,
                                       dependencies_out, NULL, numDependencies_out);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                     enum cudaStreamCaptureStatus *captureStatus_out,
                                     unsigned long long *id_out) {
    return cudaStreamGetCaptureInfo_v3(stream, captureStatus_out, id_out, NULL, NULL, NULL, NULL);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                size_t numDependencies, unsigned int flags) {
    return cudaStreamUpdateCaptureDependencies_v2(stream, dependencies, NULL, numDependencies,
                                                  flags);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              size_t *numEdges) {
    return cudaGraphGetEdges_v2(graph, from, to, NULL, numEdges);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies,
                                         size_t *pNumDependencies) {
    return cudaGraphNodeGetDependencies_v2(node, pDependencies, NULL, pNumDependencies);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) {
    return cudaEventElapsedTime_v2(ms, start, end);
}

static struct cudaMemLocation location_of(int device) {
    return (struct cudaMemLocation){.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost
                                                                      : cudaMemLocationTypeDevice,
                                    .id = device == cudaCpuDeviceId ? 0 : device};
}

cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, int dstDevice,
                                 cudaStream_t stream) {
    return cudaMemPrefetchAsync_v2(devPtr, count, location_of(dstDevice), 0, stream);
}

cudaError_t cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                          int device) {
    return cudaMemAdvise_v2(devPtr, count, advice, location_of(device));
}

#endif
