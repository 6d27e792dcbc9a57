/* NVML results as text. */
#include <nvml.h>

/* There is no default, so the compiler warns if a result of the header is missing here. */
const char *nvmlErrorString(nvmlReturn_t result) {
    switch (result) {
    case NVML_SUCCESS: return "success";
    case NVML_ERROR_UNINITIALIZED: return "nvmlInit was not called";
    case NVML_ERROR_INVALID_ARGUMENT: return "invalid argument";
    case NVML_ERROR_NOT_SUPPORTED: return "not supported";
    case NVML_ERROR_NO_PERMISSION: return "permission denied";
    case NVML_ERROR_ALREADY_INITIALIZED: return "already initialized";
    case NVML_ERROR_NOT_FOUND: return "not found";
    case NVML_ERROR_INSUFFICIENT_SIZE: return "the buffer is too small";
    case NVML_ERROR_INSUFFICIENT_POWER: return "a power cable is missing";
    case NVML_ERROR_DRIVER_NOT_LOADED: return "the driver is not loaded";
    case NVML_ERROR_TIMEOUT: return "timed out";
    case NVML_ERROR_IRQ_ISSUE: return "the GPU has an interrupt problem";
    case NVML_ERROR_LIBRARY_NOT_FOUND: return "the NVML library was not found";
    case NVML_ERROR_FUNCTION_NOT_FOUND: return "this NVML library does not have the function";
    case NVML_ERROR_CORRUPTED_INFOROM: return "the GPU's information memory is corrupted";
    case NVML_ERROR_GPU_IS_LOST: return "the GPU is lost";
    case NVML_ERROR_RESET_REQUIRED: return "the GPU needs a reset";
    case NVML_ERROR_OPERATING_SYSTEM: return "the operating system blocks the GPU";
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH: return "driver and library versions differ";
    case NVML_ERROR_IN_USE: return "the GPU is in use";
    case NVML_ERROR_MEMORY: return "out of memory";
    case NVML_ERROR_NO_DATA: return "no data";
    case NVML_ERROR_VGPU_ECC_NOT_SUPPORTED: return "not supported on a virtual GPU with ECC";
    case NVML_ERROR_INSUFFICIENT_RESOURCES: return "out of critical resources";
    case NVML_ERROR_FREQ_NOT_SUPPORTED: return "the frequency is not supported";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH:
        return "the version in the argument is not supported";
    case NVML_ERROR_DEPRECATED: return "this function is no longer offered";
    case NVML_ERROR_NOT_READY: return "not ready";
    case NVML_ERROR_GPU_NOT_FOUND: return "no GPU was found";
    case NVML_ERROR_INVALID_STATE: return "not possible in this state";
    case NVML_ERROR_RESET_TYPE_NOT_SUPPORTED: return "this kind of reset is not supported";
    case NVML_ERROR_UNKNOWN: break;
    }
    return "unknown error";
}
