#include "backing.h"

#include "log.h"
#include "physical.h"

/* A failure to give something back cannot be reported, so such a call is repeated, in case that
 * helps. */
enum { TRIES = 3 };

static CUresult unmap(uint64_t address, uint64_t bytes) {
    CUresult result = CUDA_ERROR_UNKNOWN;
    for (int i = 0; i < TRIES && result != CUDA_SUCCESS; i++)
        result = real.cuMemUnmap(address, bytes);
    return result;
}

static CUresult release(struct chunk *chunk) {
    CUresult result = CUDA_ERROR_UNKNOWN;
    for (int i = 0; i < TRIES && result != CUDA_SUCCESS; i++)
        result = real.cuMemRelease(chunk->handle);
    if (result == CUDA_SUCCESS)
        chunk->handle = 0;
    return result;
}

CUresult backing_reserve(uint64_t bytes, uint64_t *address) {
    CUdeviceptr at;
    CUresult result = real.cuMemAddressReserve(&at, bytes, REGION_PAGE, 0, 0);
    if (result == CUDA_SUCCESS)
        *address = at;
    return result;
}

void backing_unreserve(uint64_t address, uint64_t bytes) {
    CUresult result = CUDA_ERROR_UNKNOWN;
    for (int i = 0; i < TRIES && result != CUDA_SUCCESS; i++)
        result = real.cuMemAddressFree(address, bytes);
}

static CUmemAccessDesc access_of(int gpu, int flags) {
    return (CUmemAccessDesc){.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gpu},
                             .flags = (CUmemAccess_flags)flags};
}

static CUresult allow(uint64_t address, uint64_t bytes, const struct mapping *mapping) {
    CUmemAccessDesc list[MAPPING_GPUS];
    for (unsigned i = 0; i < mapping->access_count; i++)
        list[i] = access_of(mapping->access[i].gpu, mapping->access[i].flags);
    if (!mapping->access_count)
        return CUDA_SUCCESS;
    return real.cuMemSetAccess(address, bytes, list, mapping->access_count);
}

/* Maps one chunk at one mapping: nothing, if the mapping does not cover it. */
static CUresult map_part(const struct mapping *mapping, const struct chunk *chunk) {
    uint64_t address, offset, bytes;
    if (!mapping_of_chunk(mapping, chunk, &address, &offset, &bytes))
        return CUDA_SUCCESS;
    CUresult result = real.cuMemMap(address, bytes, offset, chunk->handle, 0);
    if (result != CUDA_SUCCESS)
        return result;
    result = allow(address, bytes, mapping);
    if (result != CUDA_SUCCESS)
        unmap(address, bytes);
    return result;
}

static CUresult unmap_part(const struct mapping *mapping, const struct chunk *chunk) {
    uint64_t address, offset, bytes;
    if (!mapping_of_chunk(mapping, chunk, &address, &offset, &bytes))
        return CUDA_SUCCESS;
    return unmap(address, bytes);
}

static CUresult map_everywhere(const struct chunk *chunk) {
    const struct mapping *first = chunk->region->mappings;
    for (const struct mapping *one = first; one; one = one->next) {
        CUresult result = map_part(one, chunk);
        if (result == CUDA_SUCCESS)
            continue;
        for (const struct mapping *done = first; done != one; done = done->next)
            unmap_part(done, chunk);
        return result;
    }
    return CUDA_SUCCESS;
}

static CUresult create(struct chunk *chunk, CUdevice gpu) {
    const struct physical *physical = chunk->region->physical;
    CUmemAllocationProp plain = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gpu}};
    CUmemGenericAllocationHandle handle;
    CUresult result =
        real.cuMemCreate(&handle, chunk->bytes, physical ? &physical->properties : &plain, 0);
    if (result == CUDA_SUCCESS)
        chunk->handle = handle;
    return result;
}

static bool is_mapped(uint64_t address, CUdevice gpu) {
    unsigned long long flags;
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gpu};
    return real.cuMemGetAccess(&flags, &location, address) == CUDA_SUCCESS;
}

/* Memory that could not be taken away is still mapped at some addresses: the driver knows at
 * which. */
static CUresult map_where_it_is_not(const struct chunk *chunk, CUdevice gpu) {
    uint64_t address, offset, bytes;
    CUresult result = CUDA_SUCCESS;
    for (const struct mapping *one = chunk->region->mappings; one && result == CUDA_SUCCESS;
         one = one->next)
        if (mapping_of_chunk(one, chunk, &address, &offset, &bytes))
            result = is_mapped(address, gpu) ? allow(address, bytes, one) : map_part(one, chunk);
    return result;
}

CUresult backing_give(struct chunk *chunk, CUdevice gpu) {
    if (chunk->handle)
        return map_where_it_is_not(chunk, gpu);
    CUresult result = create(chunk, gpu);
    if (result != CUDA_SUCCESS)
        return result;
    result = map_everywhere(chunk);
    if (result != CUDA_SUCCESS)
        release(chunk);
    return result;
}

CUresult backing_take(struct chunk *chunk) {
    CUresult result = CUDA_SUCCESS;
    for (const struct mapping *one = chunk->region->mappings; one && result == CUDA_SUCCESS;
         one = one->next)
        result = unmap_part(one, chunk);
    if (result == CUDA_SUCCESS)
        result = release(chunk);
    if (result != CUDA_SUCCESS)
        log_warn_once("the driver cannot unmap or release memory of this program (CUDA error %d)",
                      (int)result);
    return result;
}

static bool is_there(const struct chunk *chunk) {
    return chunk->state == CHUNK_THERE;
}

CUresult backing_map(const struct mapping *mapping) {
    struct region *region = mapping->region;
    for (unsigned i = 0; i < region->count; i++) {
        CUresult result =
            is_there(&region->chunks[i]) ? map_part(mapping, &region->chunks[i]) : CUDA_SUCCESS;
        if (result == CUDA_SUCCESS)
            continue;
        while (i--)
            if (is_there(&region->chunks[i]))
                unmap_part(mapping, &region->chunks[i]);
        return result;
    }
    return CUDA_SUCCESS;
}

/* A chunk that could not be taken away may still be mapped, or not. */
CUresult backing_unmap(const struct mapping *mapping) {
    struct region *region = mapping->region;
    for (unsigned i = 0; i < region->count; i++) {
        const struct chunk *chunk = &region->chunks[i];
        CUresult result = chunk->handle ? unmap_part(mapping, chunk) : CUDA_SUCCESS;
        if (result == CUDA_SUCCESS || !is_there(chunk))
            continue;
        while (i--)
            if (is_there(&region->chunks[i]))
                map_part(mapping, &region->chunks[i]);
        return result;
    }
    return CUDA_SUCCESS;
}

CUresult backing_set_access(const struct mapping *mapping) {
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < mapping->region->count && result == CUDA_SUCCESS; i++) {
        const struct chunk *chunk = &mapping->region->chunks[i];
        uint64_t address, offset, bytes;
        if (is_there(chunk) && mapping_of_chunk(mapping, chunk, &address, &offset, &bytes))
            result = allow(address, bytes, mapping);
    }
    return result;
}

static bool may_write(const struct mapping *mapping, CUdevice gpu) {
    for (unsigned i = 0; i < mapping->access_count; i++)
        if (mapping->access[i].gpu == gpu)
            return mapping->access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return false;
}

uint64_t backing_address(const struct chunk *chunk, CUdevice gpu) {
    uint64_t address, offset, bytes;
    for (const struct mapping *one = chunk->region->mappings; one; one = one->next)
        if (mapping_of_chunk(one, chunk, &address, &offset, &bytes) && bytes == chunk->bytes &&
            may_write(one, gpu))
            return address;
    return 0;
}

CUresult backing_open_window(const struct chunk *chunk, CUdevice gpu, uint64_t *address) {
    CUmemAccessDesc access = access_of(gpu, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUresult result = backing_reserve(chunk->bytes, address);
    if (result != CUDA_SUCCESS)
        return result;
    result = real.cuMemMap(*address, chunk->bytes, 0, chunk->handle, 0);
    if (result == CUDA_SUCCESS) {
        result = real.cuMemSetAccess(*address, chunk->bytes, &access, 1);
        if (result != CUDA_SUCCESS)
            unmap(*address, chunk->bytes);
    }
    if (result != CUDA_SUCCESS)
        backing_unreserve(*address, chunk->bytes);
    return result;
}

void backing_close_window(const struct chunk *chunk, uint64_t address) {
    unmap(address, chunk->bytes);
    backing_unreserve(address, chunk->bytes);
}
