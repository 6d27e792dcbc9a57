/* Versions, the driver's own functions, and switches. */
#include "runtime.h"
#include "undeclared.h"

/* Without a driver, its version is 0, and that is no error. */
cudaError_t cudaDriverGetVersion(int *driverVersion) {
    REQUIRE(driverVersion, cudaErrorInvalidValue);
    const struct driver *driver;
    int version = 0;
    if (driver_enter(&driver) == cudaSuccess)
        driver->cuDriverGetVersion(&version);
    *driverVersion = version;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *runtimeVersion) {
    REQUIRE(runtimeVersion, cudaErrorInvalidValue);
    *runtimeVersion = CUDART_VERSION;
    return cudaSuccess;
}

/* By default a program gets the flavour in which it calls. */
static cuuint64_t flavour_of(unsigned long long flags) {
    if (flags != cudaEnableDefault)
        return flags;
    return runtime_per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                              : CU_GET_PROC_ADDRESS_DEFAULT;
}

FORWARD_DRIVER(cudaGetDriverEntryPointByVersion,
               (const char *symbol, void **funcPtr, unsigned int cudaVersion,
                unsigned long long flags, enum cudaDriverEntryPointQueryResult *driverStatus),
               cuGetProcAddress,
               (symbol, funcPtr, (int)cudaVersion, flavour_of(flags),
                (CUdriverProcAddressQueryResult *)driverStatus))

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *driverStatus) {
    return cudaGetDriverEntryPointByVersion(symbol, funcPtr, CUDART_VERSION, flags, driverStatus);
}

/* There are no undocumented tables. Their absence is an ordinary answer, so nothing is printed. */
cudaError_t cudaGetExportTable(const void **ppExportTable, const cudaUUID_t *pExportTableId) {
    REQUIRE(ppExportTable && pExportTableId, cudaErrorInvalidValue);
    *ppExportTable = NULL;
    return answer(cudaErrorSymbolNotFound);
}

FORWARD(cudaProfilerStart, (void), cuProfilerStart, ())
FORWARD(cudaProfilerStop, (void), cuProfilerStop, ())

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   enum cudaChannelFormatKind f) {
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}
