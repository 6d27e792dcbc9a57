/* Copies of a run of bytes, in a direction that the program may leave to the driver. */
#ifndef NVSHARE_RUNTIME_COPY_H
#define NVSHARE_RUNTIME_COPY_H

#include "runtime.h"

/* Both need a current context. They record their result as the last error, like any call. */
cudaError_t copy_now(const struct driver *driver, void *dst, const void *src, size_t count,
                     enum cudaMemcpyKind kind);
cudaError_t copy_on(const struct driver *driver, void *dst, const void *src, size_t count,
                    enum cudaMemcpyKind kind, cudaStream_t stream);

#endif
