/* Addresses for physical memory: reserved, mapped, made accessible. */
#include <stdlib.h>
#include <unistd.h>

#include "../process/context.h"
#include "../process/inject.h"
#include "../process/reservation.h"
#include "../process/resources.h"
#include "../process/toll.h"
#include "../process/worker.h"
#include "capture.h"
#include "vmm.h"

CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags) {
    REQUIRE_HANDLES();
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    REQUIRE(ptr && size && size % page == 0 && addr % page == 0 && !flags,
            CUDA_ERROR_INVALID_VALUE);
    REQUIRE((alignment & (alignment - 1)) == 0, CUDA_ERROR_INVALID_VALUE);
    CUresult result = inject(INJECT_RESERVE);
    REQUIRE(result == CUDA_SUCCESS, result);
    struct reservation *reservation;
    driver_lock();
    result = reservation_create(size, alignment > BLOCK_BYTES ? alignment : BLOCK_BYTES, addr,
                                &reservation);
    if (result == CUDA_SUCCESS) {
        *ptr = reservation->address;
        resources_add(RESOURCE_RESERVATIONS);
    }
    driver_unlock();
    toll_of_node(gpu_profile(driver->visible[0])->handle_reserve_ns);
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
    REQUIRE_HANDLES();
    CUresult injected = inject(INJECT_UNRESERVE);
    REQUIRE(injected == CUDA_SUCCESS, injected);
    mappings_begin_change();
    struct reservation *reservation = reservation_find(ptr);
    bool whole = reservation && reservation->address == ptr && reservation->bytes == size;
    bool freed = whole && is_unmapped(ptr, size);
    if (freed) {
        reservation_release(reservation);
        resources_remove(RESOURCE_RESERVATIONS);
    }
    mappings_end_change();
    if (freed)
        toll_of_node(gpu_profile(driver->visible[0])->handle_reserve_ns);
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

static CUresult map(uint64_t address, uint64_t bytes, struct physical *physical) {
    struct mapping *mapping = calloc(1, sizeof *mapping);
    if (!mapping)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mapping->magic = MAPPING_MAGIC;
    mapping->physical = physical;
    struct allocation *allocation;
    struct allocation wanted = {.address = address,
                                .bytes = bytes,
                                .kind = MEMORY_MAPPED,
                                .guarded = true, /* no access until a GPU is given it */
                                .gpu = physical->gpu,
                                .data = physical->data,
                                .owner = mapping};
    if (memory_register(wanted, &allocation) != CUDA_SUCCESS) {
        free(mapping);
        return CUDA_ERROR_INVALID_VALUE; /* there is a mapping at that address */
    }
    allocation->finish = unmap;
    physical->mappings++;
    return CUDA_SUCCESS;
}

/* Documented: the offset "currently must be zero". */
CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
    REQUIRE_HANDLES();
    REQUIRE(size && !offset && !flags, CUDA_ERROR_INVALID_VALUE);
    REQUIRE((ptr | size) % BLOCK_BYTES == 0, CUDA_ERROR_INVALID_VALUE);
    CUresult result = inject(INJECT_MAP);
    REQUIRE(result == CUDA_SUCCESS, result);
    result = CUDA_ERROR_INVALID_VALUE;
    uint64_t toll = 0;
    mappings_begin_change();
    struct physical *physical = physical_find(handle);
    if (physical && physical->handles && size <= physical->bytes && reservation_covers(ptr, size))
        result = map(ptr, size, physical);
    if (result == CUDA_SUCCESS)
        toll = gpu_profile(physical->gpu)->handle_map_ns;
    mappings_end_change();
    toll_of_node(toll);
    return result;
}

/* Are these whole mappings without gaps? Then `sum` adds up the `toll` of each. */
static bool are_mappings(uint64_t address, uint64_t bytes,
                         uint64_t (*toll)(const struct allocation *), uint64_t *sum) {
    for (uint64_t at = 0; at < bytes;) {
        const struct allocation *piece = memory_find(address + at);
        if (!piece || !mapping_of(piece) || piece->address != address + at ||
            piece->bytes > bytes - at)
            return false;
        at += piece->bytes;
        *sum += toll(piece);
    }
    return true;
}

static void for_each_mapping(uint64_t address, uint64_t bytes,
                             void (*visit)(struct allocation *, const void *), const void *data) {
    for (uint64_t at = 0; at < bytes;) {
        struct allocation *piece = memory_find(address + at);
        at += piece->bytes;
        visit(piece, data);
    }
}

static uint64_t unmap_toll(const struct allocation *piece) {
    const struct gpu_profile *profile = gpu_profile(piece->gpu);
    const struct physical *physical = mapping_of(piece)->physical;
    bool last = physical->mappings == 1 && !physical->handles;
    return toll_for(profile->handle_unmap_ns, profile->handle_unmap_block_ns, piece->bytes) +
           toll_for(0, profile->handle_release_block_ns, last ? physical->bytes : 0);
}

static uint64_t access_toll(const struct allocation *piece) {
    const struct gpu_profile *profile = gpu_profile(piece->gpu);
    return toll_for(profile->handle_access_ns, profile->handle_access_block_ns, piece->bytes);
}

/* One after the other. If one fails, the mappings before it are gone, and those after it remain.
 * Assumed: the published driver takes them apart one by one as well (uvm_unmap_external_in_range);
 * how its closed part handles an error is not known. */
static CUresult unmap_pieces(uint64_t address, uint64_t bytes, uint64_t *toll) {
    for (uint64_t at = 0; at < bytes;) {
        struct allocation *piece = memory_find(address + at);
        CUresult result = inject(INJECT_UNMAP);
        if (result != CUDA_SUCCESS)
            return result;
        at += piece->bytes;
        *toll += unmap_toll(piece);
        memory_unregister(piece);
    }
    return CUDA_SUCCESS;
}

static uint64_t no_toll(const struct allocation *piece) {
    (void)piece;
    return 0;
}

/* Does not wait: work that reaches the memory afterwards kills its context. Published driver: an
 * unmapping waits for the writes to the page tables, and not for the program's work
 * (uvm_map_external.c); and programs have seen it (vllm-project/vllm, issue 43020). */
CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) {
    REQUIRE_HANDLES();
    REQUIRE(size, CUDA_ERROR_INVALID_VALUE);
    CUresult result = capture_forbids_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    uint64_t toll = 0;
    mappings_begin_change();
    bool is_right = are_mappings(ptr, size, no_toll, &toll);
    result = is_right ? unmap_pieces(ptr, size, &toll) : CUDA_ERROR_INVALID_VALUE;
    mappings_end_change();
    toll_of_node(toll);
    return result;
}

static bool is_access(CUmemAccess_flags flags) {
    return flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
           flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

struct wanted_access {
    const CUmemAccessDesc *list;
    size_t count;
};

static void set_access(struct allocation *piece, const void *data) {
    const struct wanted_access *wanted = data;
    for (size_t i = 0; i < wanted->count; i++) {
        uint16_t bit = (uint16_t)(1u << gpu_of_device(wanted->list[i].location.id));
        unsigned flags = wanted->list[i].flags;
        piece->readers &= (uint16_t)~bit;
        piece->writers &= (uint16_t)~bit;
        if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE)
            piece->readers |= bit;
        if (flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            piece->writers |= bit;
    }
}

CUmemAccess_flags mapping_access(const struct allocation *piece, uint32_t gpu) {
    if (piece->writers >> gpu & 1)
        return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return piece->readers >> gpu & 1 ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                     : CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count) {
    REQUIRE_HANDLES();
    REQUIRE(size && desc && count, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; i++) {
        REQUIRE(desc[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE);
        REQUIRE_DEVICE(desc[i].location.id);
        REQUIRE(gpu_profile(gpu_of_device(desc[i].location.id))->handles_supported,
                CUDA_ERROR_NOT_SUPPORTED);
        REQUIRE(is_access(desc[i].flags), CUDA_ERROR_INVALID_VALUE);
    }
    CUresult injected = inject(INJECT_ACCESS);
    REQUIRE(injected == CUDA_SUCCESS, injected);
    struct wanted_access wanted = {desc, count};
    uint64_t toll = 0;
    mappings_begin_change();
    bool done = are_mappings(ptr, size, access_toll, &toll);
    if (done)
        for_each_mapping(ptr, size, set_access, &wanted);
    mappings_end_change();
    if (done)
        toll_of_node(toll * count);
    return done ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr) {
    REQUIRE_HANDLES();
    REQUIRE(flags && location && location->type == CU_MEM_LOCATION_TYPE_DEVICE,
            CUDA_ERROR_INVALID_VALUE);
    REQUIRE_DEVICE(location->id);
    driver_lock();
    const struct allocation *allocation = memory_find(ptr);
    const struct mapping *mapping = allocation ? mapping_of(allocation) : NULL;
    if (mapping)
        *flags = mapping_access(allocation, gpu_of_device(location->id));
    driver_unlock();
    return mapping ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
