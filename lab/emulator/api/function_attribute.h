/* The resources that a kernel needs, and the preferences that a program may set. */
#ifndef NVSHARE_EMULATOR_FUNCTION_ATTRIBUTE_H
#define NVSHARE_EMULATOR_FUNCTION_ATTRIBUTE_H

#include "../process/function.h"

enum {
    WARP_THREADS = 32,
    BLOCK_THREADS = 1024,                 /* the most of any GPU */
    MULTIPROCESSOR_REGISTERS = 64 * 1024, /* of every GPU since Kepler */
};

/* Registers of a thread. A guess if the image does not say: PTX has not been compiled yet. */
int function_registers(const struct function *function);

/* Registers a warp takes, which come in portions. */
int function_warp_registers(const struct function *function);

int function_max_threads(const struct function *function);

CUresult function_get(const struct function *function, uint32_t gpu, CUfunction_attribute attribute,
                      int *value);
CUresult function_set(struct function *function, uint32_t gpu, CUfunction_attribute attribute,
                      int value);

/* One parameter. CUDA_ERROR_INVALID_VALUE past the last one. */
CUresult function_parameter(const struct function *function, size_t index, size_t *offset,
                            size_t *size);

#endif
