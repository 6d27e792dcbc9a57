/* The driver's functions, found as a runtime finds them: dlopen, cuGetProcAddress_v2, names with
 * the version that brought the parameters we pass. */
#ifndef NVSHARE_RUNTIME_DRIVER_H
#define NVSHARE_RUNTIME_DRIVER_H

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include "profiler.h"

#if CUDA_VERSION < 13000
/* The headers of CUDA 12 refer to these types, and define them without their version. */
#undef PFN_cuLibraryGetKernelCount
#undef PFN_cuLibraryEnumerateKernels
typedef CUresult (*PFN_cuLibraryGetKernelCount_v12040)(unsigned int *count, CUlibrary lib);
typedef CUresult (*PFN_cuLibraryEnumerateKernels_v12040)(CUkernel *kernels, unsigned int count,
                                                         CUlibrary lib);
#endif

struct driver {
#define DRIVER_CALL(name, version) PFN_##name##_v##version name;
#include "driver.def"
#undef DRIVER_CALL
};

/* The functions in the flavour of this thread. The first call loads and initialises the driver; if
 * that fails, all later calls fail too. */
cudaError_t driver_enter(const struct driver **out);

#endif
