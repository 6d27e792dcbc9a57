#include "unsupported.h"

#include "say_unsupported.h"

CUresult emulator_unsupported(const char *name) {
    emulator_say_unsupported(name, "CUDA_ERROR_NOT_SUPPORTED");
    return CUDA_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t emulator_nvml_unsupported(const char *name) {
    emulator_say_unsupported(name, "NVML_ERROR_NOT_SUPPORTED");
    return NVML_ERROR_NOT_SUPPORTED;
}
