/* Streams: which exist, and which are being captured. */
#include "process/config.h"
#include "process/streams.h"

static CUresult made(const CUstream *stream, unsigned flags, CUresult result) {
    if (result == CUDA_SUCCESS && !config()->disable)
        stream_made(*stream, !(flags & CU_STREAM_NON_BLOCKING));
    return result;
}

CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags) {
    driver_need();
    return made(phStream, Flags, real.cuStreamCreate(phStream, Flags));
}

CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority) {
    driver_need();
    return made(phStream, flags, real.cuStreamCreateWithPriority(phStream, flags, priority));
}

CUresult cuGreenCtxStreamCreate(CUstream *phStream, CUgreenCtx greenCtx, unsigned int flags,
                                int priority) {
    driver_need();
    return made(phStream, flags, real.cuGreenCtxStreamCreate(phStream, greenCtx, flags, priority));
}

CUresult cuStreamDestroy(CUstream hStream) {
    driver_need();
    stream_gone(hStream);
    return real.cuStreamDestroy(hStream);
}

CUresult cuStreamDestroy_v2(CUstream hStream) {
    driver_need();
    stream_gone(hStream);
    return real.cuStreamDestroy_v2(hStream);
}

/* Each call in both flavours: they differ in the meaning of stream 0. */
#define CAPTURE_BEGINS(name, flavour, parameters, arguments)                                       \
    CUresult name parameters {                                                                     \
        driver_need();                                                                             \
        uint64_t context = stream_capture_begins();                                                \
        CUresult result = real.name arguments;                                                     \
        stream_capture_begun(flavour(hStream), context, result);                                   \
        return result;                                                                             \
    }

#define CAPTURE_ENDS(name, flavour, parameters, arguments)                                         \
    CUresult name parameters {                                                                     \
        driver_need();                                                                             \
        CUresult result = real.name arguments;                                                     \
        stream_capture_ended(flavour(hStream));                                                    \
        return result;                                                                             \
    }

#define BOTH(what, name, parameters, arguments)                                                    \
    what(name, stream_legacy, parameters, arguments)                                               \
        what(name##_ptsz, stream_per_thread, parameters, arguments)

BOTH(CAPTURE_BEGINS, cuStreamBeginCapture, (CUstream hStream), (hStream))
BOTH(CAPTURE_BEGINS, cuStreamBeginCapture_v2, (CUstream hStream, CUstreamCaptureMode mode),
     (hStream, mode))
BOTH(CAPTURE_BEGINS, cuStreamBeginCaptureToGraph,
     (CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies,
      const CUgraphEdgeData *dependencyData, size_t numDependencies, CUstreamCaptureMode mode),
     (hStream, hGraph, dependencies, dependencyData, numDependencies, mode))
BOTH(CAPTURE_BEGINS, cuStreamBeginRecaptureToGraph,
     (CUstream hStream, CUstreamCaptureMode mode, CUgraph hGraph,
      CUgraphRecaptureCallback callbackFunc, void *userData),
     (hStream, mode, hGraph, callbackFunc, userData))
BOTH(CAPTURE_BEGINS, cuStreamBeginCaptureToCig,
     (CUstream hStream, CUstreamCigCaptureParams *streamCigCaptureParams),
     (hStream, streamCigCaptureParams))
BOTH(CAPTURE_ENDS, cuStreamEndCapture, (CUstream hStream, CUgraph *phGraph), (hStream, phGraph))
BOTH(CAPTURE_ENDS, cuStreamEndCaptureToCig, (CUstream hStream), (hStream))
