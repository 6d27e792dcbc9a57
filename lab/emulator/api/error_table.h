/* Names of the driver's results, generated from the enumeration in cuda.h. */
#ifndef NVSHARE_EMULATOR_ERROR_TABLE_H
#define NVSHARE_EMULATOR_ERROR_TABLE_H

#include <cuda.h>
#include <stddef.h>

struct error_entry {
    CUresult value;
    const char *name;  /* CUDA_ERROR_OUT_OF_MEMORY */
    const char *words; /* out of memory */
};

extern const struct error_entry emulator_error_table[];
extern const size_t emulator_error_table_size;

#endif
