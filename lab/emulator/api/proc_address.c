/* cuGetProcAddress, the way by which bindings and the CUDA runtime find the driver's functions. */
#include "api/proc_table.h"

#include <cuda.h>

#include <stdbool.h>
#include <string.h>

static const cuuint64_t FLAVOURS =
    CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

/* The number of rows up to (name, version). The last of them is the newest revision no newer than
 * the version, if it has the name at all. */
static size_t rows_up_to(const char *name, int version) {
    size_t low = 0;
    size_t high = emulator_proc_table_size;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct proc_entry *row = &emulator_proc_table[middle];
        int order = strcmp(row->name, name);
        if (order < 0 || (order == 0 && row->version <= version))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool row_is(size_t row, const char *name) {
    return row < emulator_proc_table_size && strcmp(emulator_proc_table[row].name, name) == 0;
}

static CUdriverProcAddressQueryResult find(const char *name, int version, bool per_thread,
                                           emulator_entry *found) {
    size_t count = rows_up_to(name, version);
    if (count == 0 || !row_is(count - 1, name))
        return row_is(count, name) ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                   : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const struct proc_entry *row = &emulator_proc_table[count - 1];
    bool flavoured = per_thread && row->per_thread != NULL && row->per_thread_version <= version;
    *found = flavoured ? row->per_thread : row->symbol;
    return CU_GET_PROC_ADDRESS_SUCCESS;
}

static int driver_version(void) {
    int version = 0;
    return cuDriverGetVersion(&version) == CUDA_SUCCESS ? version : CUDA_VERSION;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *symbolStatus) {
    if (symbol == NULL || pfn == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *pfn = NULL;
    if ((flags & ~FLAVOURS) != 0 || flags == FLAVOURS || cudaVersion > driver_version())
        return CUDA_ERROR_INVALID_VALUE;

    emulator_entry found = NULL;
    bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    CUdriverProcAddressQueryResult status = find(symbol, cudaVersion, per_thread, &found);
    /* ISO C has no conversion from a function to void *, POSIX demands that the bytes agree. */
    memcpy(pfn, &found, sizeof found);

    /* Since CUDA 12 the status tells why there is no function, and the call itself succeeds. A
     * caller that takes no status would see only a NULL, so it gets the error of CUDA 11. */
    if (symbolStatus != NULL) {
        *symbolStatus = status;
        return CUDA_SUCCESS;
    }
    return found != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags) {
    return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, NULL);
}

/* The vendor's undocumented tables. Their absence is an ordinary answer, so nothing is printed. */
CUresult cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId) {
    if (ppExportTable == NULL || pExportTableId == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *ppExportTable = NULL;
    return CUDA_ERROR_NOT_FOUND;
}
