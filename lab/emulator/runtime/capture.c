/* Capturing the work of a stream as a graph. */
#include "runtime.h"

FORWARD(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
        cuStreamBeginCapture, (stream, (CUstreamCaptureMode)mode))
FORWARD(cudaStreamBeginCaptureToGraph,
        (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
         const cudaGraphEdgeData *dependencyData, size_t numDependencies,
         enum cudaStreamCaptureMode mode),
        cuStreamBeginCaptureToGraph,
        (stream, graph, dependencies, (const CUgraphEdgeData *)dependencyData, numDependencies,
         (CUstreamCaptureMode)mode))
FORWARD(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *pGraph), cuStreamEndCapture,
        (stream, pGraph))
FORWARD(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus),
        cuStreamIsCapturing, (stream, (CUstreamCaptureStatus *)pCaptureStatus))
FORWARD(NEWEST(cudaStreamGetCaptureInfo, _v3),
        (cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
         unsigned long long *id_out, cudaGraph_t *graph_out,
         const cudaGraphNode_t **dependencies_out, const cudaGraphEdgeData **edgeData_out,
         size_t *numDependencies_out),
        cuStreamGetCaptureInfo,
        (stream, (CUstreamCaptureStatus *)captureStatus_out, (cuuint64_t *)id_out, graph_out,
         dependencies_out, (const CUgraphEdgeData **)edgeData_out, numDependencies_out))
FORWARD(NEWEST(cudaStreamUpdateCaptureDependencies, _v2),
        (cudaStream_t stream, cudaGraphNode_t *dependencies,
         const cudaGraphEdgeData *dependencyData, size_t numDependencies, unsigned int flags),
        cuStreamUpdateCaptureDependencies,
        (stream, dependencies, (const CUgraphEdgeData *)dependencyData, numDependencies, flags))
FORWARD(cudaThreadExchangeStreamCaptureMode, (enum cudaStreamCaptureMode * mode),
        cuThreadExchangeStreamCaptureMode, ((CUstreamCaptureMode *)mode))
