#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

enum gpu_memory gpu_memory_named(const char *name) {
    static const char *const NAMES[] = {"plain", "managed", "handles", "pool"};
    for (int i = GPU_PLAIN; i <= GPU_POOL; i++)
        if (strcmp(NAMES[i], name) == 0)
            return (enum gpu_memory)i;
    fprintf(stderr, "--allocate must be plain, managed, handles or pool, and not %s\n", name);
    exit(2);
}

/* In pieces, like an allocator that grows. */
static CUdeviceptr allocate_handles(const struct driver_functions *driver, size_t bytes) {
    const size_t piece = (size_t)256 << 20, page = (size_t)2 << 20;
    size_t whole = (bytes + page - 1) / page * page;
    CUdevice device;
    CUdeviceptr address;
    CHECK(driver, cuCtxGetDevice, &device);
    CHECK(driver, cuMemAddressReserve, &address, whole, 0, 0, 0);
    CUmemAllocationProp properties = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
    CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    for (size_t at = 0; at < whole; at += piece) {
        size_t size = whole - at < piece ? whole - at : piece;
        CUmemGenericAllocationHandle handle;
        CHECK(driver, cuMemCreate, &handle, size, &properties, 0);
        CHECK(driver, cuMemMap, address + at, size, 0, handle, 0);
        CHECK(driver, cuMemSetAccess, address + at, size, &access, 1);
        CHECK(driver, cuMemRelease, handle); /* the memory lives as long as it is mapped */
    }
    return address;
}

CUdeviceptr gpu_allocate(const struct driver_functions *driver, size_t bytes,
                         enum gpu_memory memory) {
    CUdeviceptr address = 0;
    switch (memory) {
    case GPU_PLAIN: CHECK(driver, cuMemAlloc, &address, bytes); break;
    case GPU_MANAGED:
        CHECK(driver, cuMemAllocManaged, &address, bytes, CU_MEM_ATTACH_GLOBAL);
        break;
    case GPU_HANDLES: address = allocate_handles(driver, bytes); break;
    case GPU_POOL:
        CHECK(driver, cuMemAllocAsync, &address, bytes, CU_STREAM_LEGACY);
        CHECK(driver, cuStreamSynchronize, CU_STREAM_LEGACY);
        break;
    }
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
