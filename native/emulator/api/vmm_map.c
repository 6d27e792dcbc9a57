/* Addresses for physical memory: reserved, mapped, made accessible. */
#include <stdlib.h>
#include <unistd.h>

#include "../process/context.h"
#include "../process/reservation.h"
#include "capture.h"
#include "vmm.h"

CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags) {
    REQUIRE_DRIVER();
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    REQUIRE(ptr && size && size % page == 0 && addr % page == 0 && !flags,
            CUDA_ERROR_INVALID_VALUE);
    REQUIRE((alignment & (alignment - 1)) == 0, CUDA_ERROR_INVALID_VALUE);
    struct reservation *reservation;
    driver_lock();
    CUresult result = reservation_create(size, alignment > BLOCK_BYTES ? alignment : BLOCK_BYTES,
                                         addr, &reservation);
    if (result == CUDA_SUCCESS)
        *ptr = reservation->address;
    driver_unlock();
    return result;
}

/* Mappings begin and end at the edges of blocks, so looking at one address per block is enough. */
static bool is_unmapped(uint64_t address, uint64_t bytes) {
    for (uint64_t at = 0; at < bytes; at += BLOCK_BYTES)
        if (memory_find(address + at))
            return false;
    return true;
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size) {
    REQUIRE_DRIVER();
    driver_lock();
    struct reservation *reservation = reservation_find(ptr);
    bool whole = reservation && reservation->address == ptr && reservation->bytes == size;
    bool freed = whole && is_unmapped(ptr, size);
    if (freed)
        reservation_release(reservation);
    driver_unlock();
    return freed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

struct mapping *mapping_of(const struct allocation *allocation) {
    return memory_is_owned_by(allocation, MAPPING_MAGIC) ? allocation->owner : NULL;
}

static void unmap(struct allocation *allocation) {
    struct mapping *mapping = allocation->owner;
    mapping->physical->mappings--;
    physical_drop(mapping->physical);
    free(mapping);
}

static bool is_reserved(uint64_t address, uint64_t bytes) {
    const struct reservation *reservation = reservation_find(address);
    return reservation && bytes <= reservation->bytes - (address - reservation->address);
}

static CUresult map(uint64_t address, uint64_t bytes, uint64_t offset, struct physical *physical) {
    struct mapping *mapping = calloc(1, sizeof *mapping);
    if (!mapping)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mapping->magic = MAPPING_MAGIC;
    mapping->physical = physical;
    struct allocation *allocation;
    struct allocation wanted = {.address = address,
                                .bytes = bytes,
                                .kind = MEMORY_MAPPED,
                                .gpu = physical->gpu,
                                .data = physical->data ? (char *)physical->data + offset : NULL,
                                .owner = mapping};
    if (memory_register(wanted, &allocation) != CUDA_SUCCESS) {
        free(mapping);
        return CUDA_ERROR_INVALID_VALUE; /* there is a mapping at that address */
    }
    allocation->finish = unmap;
    physical->mappings++;
    return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
    REQUIRE_DRIVER();
    REQUIRE(size && !flags, CUDA_ERROR_INVALID_VALUE);
    REQUIRE((ptr | size | offset) % BLOCK_BYTES == 0, CUDA_ERROR_INVALID_VALUE);
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    driver_lock();
    struct physical *physical = physical_find(handle);
    if (physical && physical->handles && offset <= physical->bytes &&
        size <= physical->bytes - offset && is_reserved(ptr, size))
        result = map(ptr, size, offset, physical);
    driver_unlock();
    return result;
}

/* Are these whole mappings, with nothing between them? Calls `visit` for each when they are. */
static bool for_each_mapping(uint64_t address, uint64_t bytes,
                             void (*visit)(struct allocation *, const void *), const void *data) {
    for (uint64_t at = 0; at < bytes;) {
        const struct allocation *piece = memory_find(address + at);
        if (!piece || !mapping_of(piece) || piece->address != address + at ||
            piece->bytes > bytes - at)
            return false;
        at += piece->bytes;
    }
    for (uint64_t at = 0; at < bytes;) {
        struct allocation *piece = memory_find(address + at);
        at += piece->bytes;
        visit(piece, data);
    }
    return true;
}

static void unmap_piece(struct allocation *piece, const void *data) {
    (void)data;
    memory_unregister(piece);
}

/* Work under way may be using the memory. Without a current context there is nothing to wait for
 * that the caller could mean. */
static void wait_for_work(void) {
    struct CUctx_st *context = context_current();
    if (context)
        context_synchronize(context);
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) {
    REQUIRE_DRIVER();
    REQUIRE(size, CUDA_ERROR_INVALID_VALUE);
    CUresult result = capture_forbids_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    wait_for_work();
    driver_lock();
    bool done = for_each_mapping(ptr, size, unmap_piece, NULL);
    driver_unlock();
    return done ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

struct wanted_access {
    const CUmemAccessDesc *list;
    size_t count;
};

static void set_access(struct allocation *piece, const void *data) {
    const struct wanted_access *wanted = data;
    for (size_t i = 0; i < wanted->count; i++)
        mapping_of(piece)->access[gpu_of_device(wanted->list[i].location.id)] =
            wanted->list[i].flags;
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count) {
    REQUIRE_DRIVER();
    REQUIRE(size && desc && count, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; i++) {
        REQUIRE(desc[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE);
        REQUIRE_DEVICE(desc[i].location.id);
    }
    struct wanted_access wanted = {desc, count};
    driver_lock();
    bool done = for_each_mapping(ptr, size, set_access, &wanted);
    driver_unlock();
    return done ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr) {
    REQUIRE_DRIVER();
    REQUIRE(flags && location && location->type == CU_MEM_LOCATION_TYPE_DEVICE,
            CUDA_ERROR_INVALID_VALUE);
    REQUIRE_DEVICE(location->id);
    driver_lock();
    const struct allocation *allocation = memory_find(ptr);
    const struct mapping *mapping = allocation ? mapping_of(allocation) : NULL;
    if (mapping)
        *flags = mapping->access[gpu_of_device(location->id)];
    driver_unlock();
    return mapping ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
