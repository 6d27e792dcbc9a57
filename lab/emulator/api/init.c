/* cuInit and the version. */
#include "../process/driver.h"

CUresult cuInit(unsigned int flags) {
    REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
    return driver_init();
}

CUresult cuDriverGetVersion(int *version) {
    REQUIRE(version, CUDA_ERROR_INVALID_VALUE);
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
}
