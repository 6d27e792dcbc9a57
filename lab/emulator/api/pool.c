/* Memory pools: made, chosen, set up. Allocating from them is in pool_allocate.c. Pools hold pinned
 * memory of a device; pools of managed or host memory are not emulated. A pool can be exported, but
 * not imported. */
#include <string.h>
#include <sys/mman.h>

#include "../../../native/common/old_calls.h"
#include "../process/pool.h"

#include "../unsupported.h"

/* Is this a location that a pool can have here? */
static CUresult check_location(const CUmemLocation *location, CUmemAllocationType type) {
    REQUIRE(location, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(type == CU_MEM_ALLOCATION_TYPE_PINNED || type == CU_MEM_ALLOCATION_TYPE_MANAGED,
            CUDA_ERROR_INVALID_VALUE);
    if (type == CU_MEM_ALLOCATION_TYPE_MANAGED || location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return emulator_unsupported("a memory pool of managed or host memory");
    REQUIRE(device_exists(location->id), CUDA_ERROR_INVALID_DEVICE);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps) {
    REQUIRE_DRIVER();
    REQUIRE(pool && poolProps, CUDA_ERROR_INVALID_VALUE);
    if (poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE &&
        poolProps->handleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return emulator_unsupported(
            "a memory pool that is exported by a handle other than a file descriptor");
    CUresult result = check_location(&poolProps->location, poolProps->allocType);
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    result = pool_create(gpu_of_device(poolProps->location.id), poolProps, pool);
    driver_unlock();
    return result;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    REQUIRE_DRIVER();
    driver_lock();
    bool known = pool_exists(pool) && !pool->is_default;
    if (known)
        pool_destroy(pool);
    driver_unlock();
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Only pools made for it (documented: a pool has to be created with the handle type). */
CUresult cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool,
                                          CUmemAllocationHandleType handleType,
                                          unsigned long long flags) {
    REQUIRE_DRIVER();
    REQUIRE(handle_out && !flags && handleType != CU_MEM_HANDLE_TYPE_NONE,
            CUDA_ERROR_INVALID_VALUE);
    driver_lock();
    bool can_be = pool_exists(pool) && pool->properties.handleTypes == handleType;
    driver_unlock();
    REQUIRE(can_be, CUDA_ERROR_INVALID_VALUE);
    int file = old_memfd_create("nvshare-emulator-pool", MFD_CLOEXEC);
    REQUIRE(file >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    memcpy(handle_out, &file, sizeof file);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev) {
    REQUIRE_DEVICE(dev);
    REQUIRE(pool_out, CUDA_ERROR_INVALID_VALUE);
    driver_lock();
    *pool_out = pool_default(gpu_of_device(dev));
    driver_unlock();
    return *pool_out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev) {
    REQUIRE_DEVICE(dev);
    REQUIRE(pool, CUDA_ERROR_INVALID_VALUE);
    driver_lock();
    *pool = pool_current(gpu_of_device(dev));
    driver_unlock();
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool) {
    REQUIRE_DEVICE(dev);
    uint32_t gpu = gpu_of_device(dev);
    driver_lock();
    bool fits = pool_exists(pool) && pool->gpu == gpu;
    struct CUmemPoolHandle_st *before = fits ? pool_current(gpu) : NULL;
    if (before)
        before->is_current = false;
    if (fits)
        pool->is_current = true;
    driver_unlock();
    return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location,
                                CUmemAllocationType type) {
    REQUIRE_DRIVER();
    CUresult result = check_location(location, type);
    return result == CUDA_SUCCESS ? cuDeviceGetDefaultMemPool(pool_out, location->id) : result;
}

CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type) {
    REQUIRE_DRIVER();
    CUresult result = check_location(location, type);
    return result == CUDA_SUCCESS ? cuDeviceGetMemPool(pool, location->id) : result;
}

CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool) {
    REQUIRE_DRIVER();
    CUresult result = check_location(location, type);
    return result == CUDA_SUCCESS ? cuDeviceSetMemPool(location->id, pool) : result;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep) {
    REQUIRE_DRIVER();
    driver_lock();
    bool known = pool_exists(pool);
    if (known)
        pool_trim(pool, minBytesToKeep);
    driver_unlock();
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static bool is_access(const CUmemAccessDesc *wanted, uint32_t home) {
    if (wanted->location.type != CU_MEM_LOCATION_TYPE_DEVICE || !device_exists(wanted->location.id))
        return false;
    /* The GPU that has the memory cannot be shut out of it. */
    return gpu_of_device(wanted->location.id) != home ||
           wanted->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count) {
    REQUIRE_DRIVER();
    REQUIRE(map || !count, CUDA_ERROR_INVALID_VALUE);
    driver_lock();
    bool valid = pool_exists(pool);
    for (size_t i = 0; valid && i < count; i++)
        valid = is_access(&map[i], pool->gpu);
    for (size_t i = 0; valid && i < count; i++)
        pool->access[gpu_of_device(map[i].location.id)] = map[i].flags;
    driver_unlock();
    return valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool,
                            CUmemLocation *location) {
    REQUIRE_DRIVER();
    REQUIRE(flags && location && location->type == CU_MEM_LOCATION_TYPE_DEVICE,
            CUDA_ERROR_INVALID_VALUE);
    REQUIRE_DEVICE(location->id);
    driver_lock();
    bool known = pool_exists(memPool);
    if (known)
        *flags = memPool->access[gpu_of_device(location->id)];
    driver_unlock();
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
