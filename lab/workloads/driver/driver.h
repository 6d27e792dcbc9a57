/* The few driver functions the workloads use, found as programs find them: dlopen, then dlsym of
 * cuGetProcAddress, then everything else through that. */
#ifndef NVSHARE_WORKLOAD_DRIVER_H
#define NVSHARE_WORKLOAD_DRIVER_H

#include <cuda.h>
#include <cudaTypedefs.h>

#define WORKLOAD_FUNCTIONS(X)                                                                      \
    X(cuInit, 2000)                                                                                \
    X(cuDeviceGet, 2000)                                                                           \
    X(cuDevicePrimaryCtxRetain, 7000)                                                              \
    X(cuCtxSetCurrent, 4000)                                                                       \
    X(cuCtxGetDevice, 2000)                                                                        \
    X(cuCtxSynchronize, 2000)                                                                      \
    X(cuStreamCreate, 2000)                                                                        \
    X(cuStreamSynchronize, 2000)                                                                   \
    X(cuStreamBeginCapture, 10010)                                                                 \
    X(cuStreamEndCapture, 10000)                                                                   \
    X(cuGraphInstantiateWithFlags, 11040)                                                          \
    X(cuGraphLaunch, 10000)                                                                        \
    X(cuGraphDestroy, 10000)                                                                       \
    X(cuGraphExecDestroy, 10000)                                                                   \
    X(cuMemAlloc, 3020)                                                                            \
    X(cuMemAllocManaged, 6000)                                                                     \
    X(cuMemAllocAsync, 11020)                                                                      \
    X(cuMemAddressReserve, 10020)                                                                  \
    X(cuMemCreate, 10020)                                                                          \
    X(cuMemMap, 10020)                                                                             \
    X(cuMemSetAccess, 10020)                                                                       \
    X(cuMemRelease, 10020)                                                                         \
    X(cuMemFree, 3020)                                                                             \
    X(cuMemGetInfo, 3020)                                                                          \
    X(cuMemHostRegister, 6050)                                                                     \
    X(cuMemHostGetDevicePointer, 3020)                                                             \
    X(cuMemcpyHtoD, 3020)                                                                          \
    X(cuMemcpyDtoH, 3020)                                                                          \
    X(cuMemsetD8, 3020)                                                                            \
    X(cuModuleLoadData, 2000)                                                                      \
    X(cuModuleGetFunction, 2000)                                                                   \
    X(cuLaunchKernel, 4000)                                                                        \
    X(cuGetErrorName, 6000)

struct driver_functions {
#define DECLARE(name, version) PFN_##name##_v##version name;
    WORKLOAD_FUNCTIONS(DECLARE)
#undef DECLARE
};

/* Ends the program with a message if there is no driver. */
struct driver_functions driver_load(void);

/* Ends the program, naming the call, unless it succeeded. */
void driver_check(const struct driver_functions *driver, CUresult result, const char *call);
#define CHECK(driver, call, ...) driver_check((driver), (driver)->call(__VA_ARGS__), #call)

#endif
