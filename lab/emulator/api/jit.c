/* Logs of a compiler that does not exist. */
#include "jit.h"

#include <stdio.h>
#include <string.h>

/* Sizes are passed in the pointer itself. */
static size_t size_option(unsigned count, const CUjit_option *options, void *const *values,
                          CUjit_option wanted) {
    for (unsigned i = 0; i < count; i++)
        if (options[i] == wanted)
            return (size_t)(uintptr_t)values[i];
    return 0;
}

static size_t put(char *buffer, size_t size, const char *text) {
    if (!buffer || !size)
        return 0;
    snprintf(buffer, size, "%s", text);
    return strlen(buffer);
}

void jit_answer(unsigned count, CUjit_option *options, void **values, const char *error) {
    if (!options || !values)
        return;
    size_t info_size = size_option(count, options, values, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
    size_t error_size = size_option(count, options, values, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
    size_t written = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CU_JIT_INFO_LOG_BUFFER)
            put(values[i], info_size, "");
        else if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            written = put(values[i], error_size, error);
    }
    for (unsigned i = 0; i < count; i++) {
        /* A size comes back as the bytes written, the time as a float in place of a pointer. */
        if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES)
            values[i] = NULL;
        else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            values[i] = (void *)(uintptr_t)written;
        else if (options[i] == CU_JIT_WALL_TIME)
            memset(&values[i], 0, sizeof(float));
    }
}
