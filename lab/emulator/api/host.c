/* Page-locked memory of the host: the driver's own, and the program's once it is registered. The
 * device reaches it at the same address. */
#include <sys/mman.h>
#include <unistd.h>

#include "../process/context.h"
#include "../process/inject.h"
#include "../process/memory.h"
#include "../process/toll.h"
#include "capture.h"

enum {
    ALLOCATION_FLAGS =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED,
    REGISTRATION_FLAGS = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                         CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY,
};

static void unmap(struct allocation *allocation) {
    munmap(allocation->data, allocation->bytes);
}

static CUresult add_region(struct CUctx_st *context, enum memory_kind kind, void *data,
                           size_t bytes, unsigned flags, struct allocation **out) {
    struct allocation wanted = {.address = (uint64_t)(uintptr_t)data,
                                .bytes = bytes,
                                .kind = kind,
                                .gpu = context->gpu,
                                .context = context,
                                .flags = flags,
                                .data = data};
    return memory_register(wanted, out);
}

static void pay_for_locking(uint32_t gpu, size_t bytes) {
    const struct gpu_profile *profile = gpu_profile(gpu);
    toll_of_own(toll_for(0, profile->host_lock_block_ns, bytes));
    toll_of_node(profile->host_register_ns);
}

static CUresult allocate(void **out, size_t bytes, unsigned flags) {
    REQUIRE_CONTEXT(context);
    REQUIRE(out && bytes, CUDA_ERROR_INVALID_VALUE);
    CUresult result = capture_forbids_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    result = inject(INJECT_REGISTER);
    REQUIRE(result == CUDA_SUCCESS, result);
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct allocation *allocation;
    driver_lock();
    result = add_region(context, MEMORY_HOST, data, bytes, flags, &allocation);
    if (result == CUDA_SUCCESS)
        allocation->finish = unmap;
    driver_unlock();
    if (result == CUDA_SUCCESS) {
        *out = data;
        pay_for_locking(context->gpu, bytes);
    } else {
        munmap(data, bytes);
    }
    return result;
}

/* With unified addresses all host memory is portable and mapped, and the flags say so. */
CUresult cuMemAllocHost_v2(void **pp, size_t bytesize) {
    return allocate(pp, bytesize, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
}

CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags) {
    REQUIRE(!(Flags & ~(unsigned)ALLOCATION_FLAGS), CUDA_ERROR_INVALID_VALUE);
    return allocate(pp, bytesize, Flags | CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
}

/* The region of one kind that begins at an address, or NULL. */
static struct allocation *region_at(const void *address, enum memory_kind kind) {
    struct allocation *found = memory_find((uint64_t)(uintptr_t)address);
    bool begins = found && found->kind == kind && found->address == (uint64_t)(uintptr_t)address;
    return begins && !found->freeing ? found : NULL;
}

/* Waits for work under way before it removes the memory, which that work may use. As with
 * cuMemFree, no context need be current. */
static CUresult remove_region(void *address, enum memory_kind kind, CUresult unknown) {
    REQUIRE_LIVE_CONTEXT();
    struct CUctx_st *context = context_current();
    CUresult result = capture_forbids_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    struct allocation *region = region_at(address, kind);
    struct CUctx_st *of = region && region->context ? region->context : context;
    if (region)
        region->freeing = true;
    driver_unlock();
    REQUIRE(region, unknown);
    if (of)
        context_synchronize(of);
    const struct gpu_profile *profile = gpu_profile(region->gpu);
    uint64_t toll = toll_for(0, profile->host_unlock_block_ns, region->bytes);
    driver_lock();
    memory_unregister(region);
    driver_unlock();
    toll_of_node(profile->host_register_ns);
    toll_of_own(toll);
    return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *p) {
    if (!p) {
        REQUIRE_CONTEXT(context);
        (void)context;
        return CUDA_SUCCESS;
    }
    return remove_region(p, MEMORY_HOST, CUDA_ERROR_INVALID_VALUE);
}

/* Is there memory at all, from the first page to the last? */
static bool is_mapped(const void *address, size_t bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)address / page * page;
    return msync((void *)first, (uintptr_t)address + bytes - first, MS_ASYNC) == 0;
}

/* A driver locks pages, so all of them exist from then on (published driver: os_lock_user_pages).
 * The process that touches a page first is charged for it. A kernel before 5.14 has no way to do
 * that without writing. */
static void fault_in(void *address, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)address / page * page;
    if (driver->pages)
        madvise((void *)first, (uintptr_t)address + bytes - first, MADV_POPULATE_WRITE);
#else
    (void)address, (void)bytes;
#endif
}

CUresult cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags) {
    REQUIRE_CONTEXT(context);
    REQUIRE(p && bytesize && (uintptr_t)p + bytesize > (uintptr_t)p, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!(Flags & ~(unsigned)REGISTRATION_FLAGS), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(is_mapped(p, bytesize), CUDA_ERROR_INVALID_VALUE);
    Flags |= CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
    struct allocation *ignored;
    CUresult result = inject(INJECT_REGISTER);
    REQUIRE(result == CUDA_SUCCESS, result);
    result = CUDA_ERROR_INVALID_VALUE;
    driver_lock();
    if (!memory_is_device_address((uint64_t)(uintptr_t)p)) {
        result = add_region(context, MEMORY_REGISTERED, p, bytesize, Flags, &ignored);
        if (result != CUDA_SUCCESS) /* fails only if it overlaps another region */
            result = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    }
    driver_unlock();
    if (result == CUDA_SUCCESS) {
        fault_in(p, bytesize);
        pay_for_locking(context->gpu, bytesize);
    }
    return result;
}

CUresult cuMemHostUnregister(void *p) {
    return remove_region(p, MEMORY_REGISTERED, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

static bool is_host(const struct allocation *allocation) {
    return allocation && (allocation->kind == MEMORY_HOST || allocation->kind == MEMORY_REGISTERED);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(pdptr && !Flags, CUDA_ERROR_INVALID_VALUE);
    driver_lock();
    bool known = is_host(memory_find((uint64_t)(uintptr_t)p));
    driver_unlock();
    REQUIRE(known, CUDA_ERROR_INVALID_VALUE);
    *pdptr = (CUdeviceptr)(uintptr_t)p;
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned int *pFlags, void *p) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(pFlags, CUDA_ERROR_INVALID_VALUE);
    driver_lock();
    const struct allocation *allocation = memory_find((uint64_t)(uintptr_t)p);
    bool known = allocation && allocation->kind == MEMORY_HOST;
    if (known)
        *pFlags = allocation->flags;
    driver_unlock();
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
