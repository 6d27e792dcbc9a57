/* The names of errors, generated from driver_types.h. */
#ifndef NVSHARE_RUNTIME_ERROR_TABLE_H
#define NVSHARE_RUNTIME_ERROR_TABLE_H

#include <cuda_runtime_api.h>
#include <stddef.h>

struct runtime_error {
    cudaError_t value;
    const char *name;
    const char *words;
};

extern const struct runtime_error runtime_errors[];
extern const size_t runtime_errors_size;

#endif
