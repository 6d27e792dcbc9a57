/* Results of calls, and the last error of every thread. */
#ifndef NVSHARE_RUNTIME_ERROR_H
#define NVSHARE_RUNTIME_ERROR_H

#include <cuda.h>
#include <cuda_runtime_api.h>

/* Remembers an error as the thread's last one, and returns it. Success is not remembered. */
cudaError_t answer(cudaError_t error);

/* The same for a result of the driver. Both enumerations give the same number to the same thing; a
 * test compares them. */
static inline cudaError_t answer_driver(CUresult result) {
    return result == CUDA_SUCCESS ? cudaSuccess : answer((cudaError_t)result);
}

#endif
