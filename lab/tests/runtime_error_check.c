/* The last error of the emulated CUDA runtime, with no driver behind it: errors that are
 * remembered, that are forgotten, and that stay. Prints nothing when all is well. */
#include "error.h"

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "error_table.h"
#include "runtime.h"
#include "say_unsupported.h"

const struct runtime_error runtime_errors[] = {{cudaErrorInvalidValue, "the name", "the words"}};
const size_t runtime_errors_size = 1;

cudaError_t driver_enter(const struct driver **out) {
    (void)out;
    return cudaErrorInsufficientDriver;
}

void emulator_say_unsupported(const char *name, const char *answered) {
    assert(strcmp(name, "cudaNothing") == 0 && strcmp(answered, "cudaErrorNotSupported") == 0);
}

static void *other_thread(void *unused) {
    assert(cudaGetLastError() == cudaSuccess);
    answer(cudaErrorNoDevice);
    return unused;
}

static void one_per_thread(void) {
    pthread_t thread;
    answer(cudaErrorInvalidValue);
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_join(thread, NULL);
    assert(cudaGetLastError() == cudaErrorInvalidValue);
}

int main(void) {
    assert(cudaGetLastError() == cudaSuccess);

    assert(answer(cudaErrorInvalidValue) == cudaErrorInvalidValue);
    assert(answer_driver(CUDA_SUCCESS) == cudaSuccess);
    assert(cudaPeekAtLastError() == cudaErrorInvalidValue);
    assert(cudaGetLastError() == cudaErrorInvalidValue);
    assert(cudaGetLastError() == cudaSuccess);

    answer(cudaErrorInvalidValue);
    assert(answer_driver(CUDA_ERROR_NOT_READY) == cudaErrorNotReady);
    assert(cudaGetLastError() == cudaErrorNotReady);
    one_per_thread();

    assert(runtime_unsupported("cudaNothing") == cudaErrorNotSupported);
    assert(cudaGetLastError() == cudaErrorNotSupported);

    /* After this one a context is of no use, and the error cannot be cleared. */
    answer_driver(CUDA_ERROR_ILLEGAL_ADDRESS);
    assert(cudaGetLastError() == cudaErrorIllegalAddress);
    assert(cudaGetLastError() == cudaErrorIllegalAddress);

    assert(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "the name") == 0);
    assert(strcmp(cudaGetErrorString(cudaErrorInvalidValue), "the words") == 0);
    return 0;
}
