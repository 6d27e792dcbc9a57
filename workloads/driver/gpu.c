#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

void gpu_open(const struct driver_functions *driver, int ordinal) {
    CUdevice device;
    CUcontext context;
    CHECK(driver, cuInit, 0);
    CHECK(driver, cuDeviceGet, &device, ordinal);
    CHECK(driver, cuDevicePrimaryCtxRetain, &context, device);
    CHECK(driver, cuCtxSetCurrent, context);
}

CUfunction gpu_load(const struct driver_functions *driver, const char *ptx, const char *kernel) {
    CUmodule module;
    CUfunction function;
    CHECK(driver, cuModuleLoadData, &module, ptx);
    CHECK(driver, cuModuleGetFunction, &function, module, kernel);
    return function;
}

CUdeviceptr gpu_allocate(const struct driver_functions *driver, size_t bytes, bool managed) {
    CUdeviceptr address;
    if (managed)
        CHECK(driver, cuMemAllocManaged, &address, bytes, CU_MEM_ATTACH_GLOBAL);
    else
        CHECK(driver, cuMemAlloc, &address, bytes);
    return address;
}

void gpu_copy_in(const struct driver_functions *driver, CUdeviceptr to, size_t bytes) {
    void *source = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (source == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    CHECK(driver, cuMemcpyHtoD, to, source, bytes);
    munmap(source, bytes);
}
