#include "error.h"

#include <stdbool.h>

#include "error_table.h"
#include "runtime.h"
#include "say_unsupported.h"

static _Thread_local cudaError_t last_error;

cudaError_t answer(cudaError_t error) {
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

/* These mean that the context is lost: only a new process is free of them. */
static bool is_sticky(cudaError_t error) {
    switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert: return true;
    default: return false;
    }
}

cudaError_t cudaPeekAtLastError(void) {
    return last_error;
}

cudaError_t cudaGetLastError(void) {
    cudaError_t error = last_error;
    if (!is_sticky(error))
        last_error = cudaSuccess;
    return error;
}

static const struct runtime_error *find(cudaError_t error) {
    for (size_t i = 0; i < runtime_errors_size; i++)
        if (runtime_errors[i].value == error)
            return &runtime_errors[i];
    return NULL;
}

const char *cudaGetErrorName(cudaError_t error) {
    const struct runtime_error *known = find(error);
    return known ? known->name : "unrecognized error code";
}

/* The driver has words for nearly all of them, and programs know those. */
const char *cudaGetErrorString(cudaError_t error) {
    const struct driver *driver;
    const char *words;
    if (driver_enter(&driver) == cudaSuccess &&
        driver->cuGetErrorString((CUresult)error, &words) == CUDA_SUCCESS)
        return words;
    const struct runtime_error *known = find(error);
    return known ? known->words : "unrecognized error code";
}

cudaError_t runtime_unsupported(const char *name) {
    emulator_say_unsupported(name, "cudaErrorNotSupported");
    return answer(cudaErrorNotSupported);
}
