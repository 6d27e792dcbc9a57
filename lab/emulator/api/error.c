/* Results as text. */
#include "api/error_table.h"

static const struct error_entry *find(CUresult error) {
    for (size_t i = 0; i < emulator_error_table_size; i++) {
        if (emulator_error_table[i].value == error)
            return &emulator_error_table[i];
    }
    return NULL;
}

CUresult cuGetErrorName(CUresult error, const char **pStr) {
    if (pStr == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const struct error_entry *entry = find(error);
    *pStr = entry != NULL ? entry->name : NULL;
    return entry != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **pStr) {
    if (pStr == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const struct error_entry *entry = find(error);
    *pStr = entry != NULL ? entry->words : NULL;
    return entry != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
