/* The driver's log, in which it explains its errors. The emulator writes nothing there, so the log
 * is always empty, and callbacks for messages are never called. */
#include <stdio.h>
#include <stdlib.h>

#include "../process/driver.h"

#define LISTENER_MAGIC 0x4c6f6731u

struct CUlogsCallbackEntry_st {
    uint32_t magic;
};

CUresult cuLogsRegisterCallback(CUlogsCallback callbackFunc, void *userData,
                                CUlogsCallbackHandle *callback_out) {
    (void)userData;
    REQUIRE(callbackFunc, CUDA_ERROR_INVALID_VALUE);
    if (!callback_out)
        return CUDA_SUCCESS;
    CUlogsCallbackHandle handle = malloc(sizeof *handle);
    REQUIRE(handle, CUDA_ERROR_OUT_OF_MEMORY);
    handle->magic = LISTENER_MAGIC;
    *callback_out = handle;
    return CUDA_SUCCESS;
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle callback) {
    REQUIRE(callback && callback->magic == LISTENER_MAGIC, CUDA_ERROR_INVALID_VALUE);
    callback->magic = 0;
    free(callback);
    return CUDA_SUCCESS;
}

CUresult cuLogsCurrent(CUlogIterator *iterator_out, unsigned int flags) {
    REQUIRE(iterator_out && !flags, CUDA_ERROR_INVALID_VALUE);
    *iterator_out = 0;
    return CUDA_SUCCESS;
}

CUresult cuLogsDumpToFile(CUlogIterator *iterator, const char *pathToFile, unsigned int flags) {
    (void)iterator;
    REQUIRE(pathToFile && !flags, CUDA_ERROR_INVALID_VALUE);
    FILE *file = fopen(pathToFile, "w");
    REQUIRE(file, CUDA_ERROR_INVALID_VALUE);
    fclose(file);
    return CUDA_SUCCESS;
}

CUresult cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size,
                            unsigned int flags) {
    (void)iterator;
    REQUIRE(buffer && size && *size && !flags, CUDA_ERROR_INVALID_VALUE);
    buffer[0] = '\0';
    *size = 0;
    return CUDA_SUCCESS;
}
