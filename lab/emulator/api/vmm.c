/* Physical memory: created, described, released. vmm_map.c gives it addresses. */
#include "vmm.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../process/context.h"
#include "../process/handle.h"
#include "../process/inject.h"
#include "../process/resources.h"
#include "../process/room.h"
#include "../process/toll.h"
#include "../unsupported.h"

bool handles_are_supported(void) {
    bool any = false;
    for (uint32_t i = 0; i < driver->visible_count && !any; i++)
        any = gpu_profile(driver->visible[i])->handles_supported;
    return any;
}

CUresult physical_create(const struct physical *wanted, struct physical **out) {
    struct physical *physical = malloc(sizeof *physical);
    if (!physical)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *physical = *wanted;
    physical->magic = PHYSICAL_MAGIC;
    physical->handles = 1;
    resources_add(RESOURCE_HANDLES);
    physical->id = driver_next_id();
    if (!handle_note(physical)) {
        resources_remove(RESOURCE_HANDLES);
        free(physical);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (physical->memory)
        physical->memory->owner = physical;
    *out = physical;
    return CUDA_SUCCESS;
}

struct physical *physical_find(CUmemGenericAllocationHandle handle) {
    return handle_find(handle, PHYSICAL_MAGIC);
}

void physical_drop(struct physical *physical) {
    if (physical->handles || physical->mappings)
        return;
    handle_forget(physical);
    if (physical->file >= 0) {
        if (physical->data)
            munmap(physical->data, physical->bytes);
        close(physical->file);
    }
    uint64_t bytes = physical->memory ? physical->bytes : 0;
    bool stolen = bytes && inject(INJECT_STEAL) != CUDA_SUCCESS;
    node_lock(driver->node);
    if (stolen) /* before it has an owner */
        driver->node->gpus[physical->gpu].stolen_bytes += bytes;
    node_unlock(driver->node);
    if (physical->memory)
        memory_release(physical->memory);
    free(physical);
}

static CUresult check_properties(const CUmemAllocationProp *properties) {
    REQUIRE(properties && properties->type == CU_MEM_ALLOCATION_TYPE_PINNED,
            CUDA_ERROR_INVALID_VALUE);
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return emulator_unsupported("cuMemCreate of memory that is not on a device");
    if (properties->requestedHandleTypes & ~(unsigned)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return emulator_unsupported("cuMemCreate for handles other than file descriptors");
    REQUIRE_DEVICE(properties->location.id);
    REQUIRE(gpu_profile(gpu_of_device(properties->location.id))->handles_supported,
            CUDA_ERROR_NOT_SUPPORTED);
    return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option) {
    REQUIRE_HANDLES();
    REQUIRE(granularity && (unsigned)option <= CU_MEM_ALLOC_GRANULARITY_RECOMMENDED,
            CUDA_ERROR_INVALID_VALUE);
    CUresult result = check_properties(prop);
    if (result == CUDA_SUCCESS)
        *granularity = BLOCK_BYTES;
    return result;
}

/* Memory that can be exported has a file to itself, since the importer gets the file. */
static CUresult give_bytes(struct physical *physical) {
    physical->file = -1;
    physical->data = physical->memory->data;
    if (!(physical->properties.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
        return CUDA_SUCCESS;
    CUresult result = shared_file_create(physical->gpu, physical->bytes, &physical->file);
    if (result != CUDA_SUCCESS || !driver->data)
        return result;
    physical->data = mmap(NULL, physical->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                          physical->file, 0);
    if (physical->data == MAP_FAILED) {
        close(physical->file);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

/* Memory whose room has been taken. */
static CUresult create(size_t bytes, const CUmemAllocationProp *properties, struct physical **out) {
    struct physical wanted = {.bytes = bytes, .properties = *properties};
    wanted.gpu = gpu_of_device(properties->location.id);
    CUresult result = memory_allocate_physical(wanted.gpu, bytes, &wanted.memory);
    if (result != CUDA_SUCCESS) {
        room_give_plain(wanted.gpu, bytes);
        return result;
    }
    result = give_bytes(&wanted);
    if (result == CUDA_SUCCESS)
        result = physical_create(&wanted, out);
    if (result != CUDA_SUCCESS)
        memory_release(wanted.memory);
    return result;
}

/* No capture forbids this, unlike allocations of the older kind: PyTorch enlarges its segments
 * during a capture. */
CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                     const CUmemAllocationProp *prop, unsigned long long flags) {
    REQUIRE_HANDLES();
    REQUIRE(handle && size && size % BLOCK_BYTES == 0 && !flags, CUDA_ERROR_INVALID_VALUE);
    CUresult result = check_properties(prop);
    if (result != CUDA_SUCCESS)
        return result;
    result = inject(INJECT_CREATE);
    if (result != CUDA_SUCCESS)
        return result;
    uint32_t gpu = gpu_of_device(prop->location.id);
    const struct gpu_profile *profile = gpu_profile(gpu);
    result = room_take(gpu, ROOM_FOR_PLAIN, size);
    toll_of_node(toll_for(profile->handle_create_ns, profile->handle_create_block_ns, size));
    if (result != CUDA_SUCCESS)
        return result;
    struct physical *physical;
    driver_lock();
    result = create(size, prop, &physical);
    driver_unlock();
    if (result == CUDA_SUCCESS)
        *handle = (CUmemGenericAllocationHandle)(uintptr_t)physical;
    return result;
}

/* Of memory that goes with it, each block costs something. */
static uint64_t release_toll(const struct physical *physical) {
    const struct gpu_profile *profile = gpu_profile(physical->gpu);
    bool last = physical->handles == 1 && !physical->mappings;
    return toll_for(profile->handle_release_ns, profile->handle_release_block_ns,
                    last ? physical->bytes : 0);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    REQUIRE_HANDLES();
    CUresult injected = inject(INJECT_RELEASE);
    REQUIRE(injected == CUDA_SUCCESS, injected);
    driver_lock();
    struct physical *physical = physical_find(handle);
    bool released = physical && physical->handles;
    uint64_t toll = released ? release_toll(physical) : 0;
    if (released) {
        physical->handles--;
        resources_remove(RESOURCE_HANDLES);
        physical_drop(physical);
    }
    driver_unlock();
    toll_of_node(toll);
    return released ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                CUmemGenericAllocationHandle handle) {
    REQUIRE_HANDLES();
    REQUIRE(prop, CUDA_ERROR_INVALID_VALUE);
    driver_lock();
    const struct physical *physical = physical_find(handle);
    if (physical)
        *prop = physical->properties;
    driver_unlock();
    return physical ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr) {
    REQUIRE_HANDLES();
    REQUIRE(handle, CUDA_ERROR_INVALID_VALUE);
    driver_lock();
    const struct allocation *allocation = memory_find((uint64_t)(uintptr_t)addr);
    const struct mapping *mapping = allocation ? mapping_of(allocation) : NULL;
    if (mapping) {
        mapping->physical->handles++;
        resources_add(RESOURCE_HANDLES);
        *handle = (CUmemGenericAllocationHandle)(uintptr_t)mapping->physical;
    }
    driver_unlock();
    return mapping ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
