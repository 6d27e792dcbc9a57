/* Streams. */
#include "runtime.h"

FORWARD(cudaStreamCreate, (cudaStream_t * pStream), cuStreamCreate, (pStream, CU_STREAM_DEFAULT))
FORWARD(cudaStreamCreateWithFlags, (cudaStream_t * pStream, unsigned int flags), cuStreamCreate,
        (pStream, flags))
FORWARD(cudaStreamCreateWithPriority, (cudaStream_t * pStream, unsigned int flags, int priority),
        cuStreamCreateWithPriority, (pStream, flags, priority))
FORWARD(cudaStreamDestroy, (cudaStream_t stream), cuStreamDestroy, (stream))
FORWARD(cudaStreamQuery, (cudaStream_t stream), cuStreamQuery, (stream))
FORWARD(cudaStreamSynchronize, (cudaStream_t stream), cuStreamSynchronize, (stream))
FORWARD(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
        cuStreamWaitEvent, (stream, event, flags))
FORWARD(cudaStreamGetPriority, (cudaStream_t hStream, int *priority), cuStreamGetPriority,
        (hStream, priority))
FORWARD(cudaStreamGetFlags, (cudaStream_t hStream, unsigned int *flags), cuStreamGetFlags,
        (hStream, flags))
FORWARD(cudaStreamGetId, (cudaStream_t hStream, unsigned long long *streamId), cuStreamGetId,
        (hStream, streamId))
FORWARD(cudaStreamAddCallback,
        (cudaStream_t stream, cudaStreamCallback_t callback, void *userData, unsigned int flags),
        cuStreamAddCallback, (stream, (CUstreamCallback)callback, userData, flags))
FORWARD(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t fn, void *userData),
        cuLaunchHostFunc, (stream, fn, userData))
FORWARD(cudaStreamAttachMemAsync,
        (cudaStream_t stream, void *devPtr, size_t length, unsigned int flags),
        cuStreamAttachMemAsync, (stream, (CUdeviceptr)devPtr, length, flags))
