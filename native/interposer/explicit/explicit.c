#include "explicit.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "backing.h"
#include "gate/inside.h"
#include "memory/allocations.h"
#include "pooled.h"
#include "process/clock.h"
#include "process/contexts.h"
#include "process/devices.h"
#include "process/streams.h"
#include "session/session.h"
#include "synchronise.h"

/* How long to ask a GPU again that should have room and has none. Another program's memory may be
 * about to go. */
static const uint64_t room_patience = CLOCK_MS(200);
enum { PAUSE_US = 1000 };

void explicit_init(struct explicit *explicit, struct account *account) {
    *explicit = (struct explicit){0};
    regions_init(&explicit->regions, account);
    extents_init(&explicit->extents, account);
}

static struct region *region_of(const struct ledger_entry *entry) {
    return (struct region *)(uintptr_t)entry->target;
}

/* During a capture a driver refuses to allocate and to free, or not, by rules of its own. So it is
 * asked, by an allocation that is freed at once. A lack of memory does not count as a refusal. */
static CUresult ask_driver(void) {
    CUdeviceptr scrap;
    streams_lock();
    bool is_captured = streams_any_capture();
    streams_unlock();
    if (!is_captured)
        return CUDA_SUCCESS;
    CUresult result = real.cuMemAlloc_v2(&scrap, 1);
    if (result == CUDA_SUCCESS)
        real.cuMemFree_v2(scrap);
    return result == CUDA_ERROR_OUT_OF_MEMORY ? CUDA_SUCCESS : result;
}

/* With the lock held. A region with one mapping for its whole life has addresses of its own. */
static uint64_t address_of(const struct region *region) {
    return region->mappings->address;
}

/* With the lock held, which is released for a while. Nothing is allocated in it any more. */
void explicit_destroy(struct device *device, struct region *region) {
    struct regions *regions = &device->explicit.regions;
    uint64_t address = region->physical ? 0 : address_of(region), bytes = region->bytes;
    region_wait(regions, region);
    for (unsigned i = 0; i < region->count; i++) {
        struct chunk *chunk = &region->chunks[i];
        if (chunk->handle)
            backing_take(chunk);
        slot_give_back(&chunk->slot, &device->explicit.extents);
    }
    free(region->physical);
    region_drop(regions, region);
    if (address)
        backing_unreserve(address, bytes);
}

/* Gives one chunk its memory, outside the lock. */
static CUresult give(struct device *device, struct chunk *chunk) {
    struct regions *regions = &device->explicit.regions;
    chunk->is_moving = true;
    explicit_unlock(&device->explicit);
    CUresult result = backing_give(chunk, device->ordinal);
    explicit_lock(&device->explicit);
    if (result == CUDA_SUCCESS)
        chunk_set_state(regions, chunk, CHUNK_THERE);
    chunk_landed(regions, chunk);
    return result;
}

/* Frees memory that pools keep. Memory that streams have yet to free is waited for, but not for
 * ever: they may wait for this thread themselves. Returns false when the time is over. */
static bool may_come(struct device *device, uint64_t since) {
    uint64_t waited = clock_now() - since;
    bool is_pending = false;
    if (pooled_make_room(device, &is_pending))
        return true;
    if (waited >= (is_pending ? POOLED_PATIENCE : room_patience))
        return false;
    usleep(PAUSE_US);
    return true;
}

/* Another thread may work on the same chunk, if small allocations share its region: also during the
 * pause. */
static CUresult give_patiently(struct device *device, struct chunk *chunk) {
    uint64_t since = clock_now();
    for (bool goes_on = true;;) {
        region_wait(&device->explicit.regions, chunk->region);
        if (chunk->state != CHUNK_BLANK)
            return CUDA_SUCCESS;
        CUresult result = give(device, chunk);
        if (result != CUDA_ERROR_OUT_OF_MEMORY || !goes_on)
            return result;
        explicit_unlock(&device->explicit);
        goes_on = may_come(device, since);
        explicit_lock(&device->explicit);
    }
}

/* Behind an open gate that cannot close meanwhile. */
static CUresult give_all(struct device *device, struct region *region) {
    CUresult result = CUDA_SUCCESS;
    explicit_lock(&device->explicit);
    for (unsigned i = 0; i < region->count && result == CUDA_SUCCESS; i++)
        result = give_patiently(device, &region->chunks[i]);
    explicit_unlock(&device->explicit);
    return result;
}

/* If the gate closes and opens again before this thread is inside, the mover may have brought
 * it. */
CUresult explicit_bring(struct device *device, struct region *region) {
    if (gate_falls_short(&device->gate))
        return CUDA_SUCCESS;
    if (inside_enter(&device->gate) < 0)
        return CUDA_ERROR_SYSTEM_NOT_READY;
    CUresult result = give_all(device, region);
    inside_leave();
    return result;
}

/* The address of an allocation: a region to itself, or a place in one that it shares. With the lock
 * held. */
static uint64_t place_in(struct device *device, uint64_t bytes, struct region **region) {
    struct explicit *explicit = &device->explicit;
    uint64_t offset = bytes <= SLAB_MOST ? slabs_take(&explicit->slabs, bytes, region) : 0;
    region_add_live(&explicit->regions, *region, offset, bytes);
    (*region)->used_ns = clock_now();
    return address_of(*region) + offset;
}

static uint64_t whole_pages(uint64_t bytes) {
    return (bytes + REGION_PAGE - 1) / REGION_PAGE * REGION_PAGE;
}

/* With the lock held. Makes a region of whole pages at an address, for its own GPU to read and
 * write. */
static struct region *make_region(struct device *device, uint64_t address, uint64_t bytes) {
    struct regions *regions = &device->explicit.regions;
    struct region *region = region_create(bytes, REGION_CHUNK);
    if (!region)
        return NULL;
    struct mapping mapping = {.region = region,
                              .address = address,
                              .bytes = bytes,
                              .access_count = 1,
                              .access = {{device->ordinal, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}}};
    region_link(regions, region);
    if (mapping_add(regions, &mapping))
        return region;
    region_drop(regions, region);
    return NULL;
}

/* For one allocation, or for small ones of its size. With the lock held, which is released for a
 * while. */
static struct region *add_region(struct device *device, uint64_t whole, uint64_t bytes) {
    uint64_t address;
    explicit_unlock(&device->explicit);
    CUresult result = backing_reserve(whole, &address);
    explicit_lock(&device->explicit);
    if (result != CUDA_SUCCESS)
        return NULL;
    struct region *region = make_region(device, address, whole);
    if (!region) {
        backing_unreserve(address, whole);
        return NULL;
    }
    if (bytes > SLAB_MOST || slabs_add(&device->explicit.slabs, region, bytes) == 0)
        return region;
    explicit_destroy(device, region);
    return NULL;
}

/* Finds addresses for an allocation. Several threads may make a region for small ones at once: then
 * there are more places. One thread may take the last place before another: then that one looks
 * again. */
static CUresult enter(struct device *device, struct ledger_entry *entry) {
    struct slabs *slabs = &device->explicit.slabs;
    struct region *region = NULL;
    bool is_small = entry->bytes <= SLAB_MOST;
    explicit_lock(&device->explicit);
    for (uint64_t need; (need = is_small ? slabs_need(slabs, entry->bytes) : !region);) {
        region = add_region(device, is_small ? need : whole_pages(entry->bytes), entry->bytes);
        if (!region) {
            explicit_unlock(&device->explicit);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    entry->key = place_in(device, entry->bytes, &region);
    entry->target = (uint64_t)(uintptr_t)region;
    explicit_unlock(&device->explicit);
    return CUDA_SUCCESS;
}

/* With the lock held. Frees a place, and a region with no place in use. */
static void give_back(struct device *device, struct region *region, uint64_t offset) {
    if (!region->slab || slabs_give_back(&device->explicit.slabs, region, offset))
        explicit_destroy(device, region);
}

/* With the lock held. Returns where it was. */
static uint64_t remove_live(struct device *device, const struct ledger_entry *entry) {
    struct region *region = region_of(entry);
    uint64_t offset = entry->key - address_of(region);
    region_remove_live(&device->explicit.regions, region, offset, entry->bytes);
    return offset;
}

void explicit_is_gone(struct device *device, const struct ledger_entry *entry) {
    explicit_lock(&device->explicit);
    give_back(device, region_of(entry), remove_live(device, entry));
    explicit_unlock(&device->explicit);
}

/* Brings in an allocation that has its addresses. */
static CUresult bring(struct device *device, const struct ledger_entry *entry) {
    struct region *region = region_of(entry);
    explicit_lock(&device->explicit);
    bool is_there = region_is_there(region);
    explicit_unlock(&device->explicit);
    CUresult result = is_there ? CUDA_SUCCESS : explicit_bring(device, region);
    if (result != CUDA_SUCCESS)
        explicit_is_gone(device, entry);
    return result;
}

CUresult explicit_provide(struct device *device, struct ledger_entry *entry) {
    CUresult result = enter(device, entry);
    return result == CUDA_SUCCESS ? bring(device, entry) : result;
}

CUresult explicit_allocate(struct device *device, struct ledger_entry *entry) {
    CUresult result = ask_driver();
    return result == CUDA_SUCCESS ? explicit_provide(device, entry) : result;
}

uint64_t explicit_takes(uint64_t bytes) {
    return bytes <= SLAB_MOST ? slab_place_bytes(bytes) : whole_pages(bytes);
}

/* With the lock held. */
static uint64_t taken(const struct ledger_entry *entry) {
    const struct region *region = region_of(entry);
    return region->slab ? slab_place_bytes(entry->bytes) : region->bytes;
}

uint64_t explicit_taken(struct device *device, const struct ledger_entry *entry) {
    explicit_lock(&device->explicit);
    uint64_t bytes = taken(entry);
    explicit_unlock(&device->explicit);
    return bytes;
}

void explicit_keep(struct device *device, const struct ledger_entry *entry, struct block *block) {
    explicit_lock(&device->explicit);
    block->region = region_of(entry);
    block->offset = remove_live(device, entry);
    block->bytes = taken(entry);
    explicit_unlock(&device->explicit);
}

CUresult explicit_use_again(struct device *device, struct ledger_entry *entry,
                            const struct block *block) {
    explicit_lock(&device->explicit);
    entry->key = address_of(block->region) + block->offset;
    entry->target = (uint64_t)(uintptr_t)block->region;
    region_add_live(&device->explicit.regions, block->region, block->offset, entry->bytes);
    block->region->used_ns = clock_now();
    explicit_unlock(&device->explicit);
    return bring(device, entry);
}

void explicit_give_up(struct device *device, const struct block *block) {
    explicit_lock(&device->explicit);
    give_back(device, block->region, block->offset);
    explicit_unlock(&device->explicit);
}

/* Without memory for the record it is never freed: better than while work may use it. */
static void linger(struct device *device, const struct ledger_entry *entry) {
    struct lingering *lingering = malloc(sizeof *lingering);
    explicit_lock(&device->explicit);
    uint64_t offset = remove_live(device, entry);
    if (lingering) {
        *lingering = (struct lingering){region_of(entry), offset, device->explicit.lingering};
        device->explicit.lingering = lingering;
    }
    explicit_unlock(&device->explicit);
}

void explicit_bury(struct device *device) {
    explicit_lock(&device->explicit);
    for (struct lingering *one; (one = device->explicit.lingering);) {
        device->explicit.lingering = one->next;
        give_back(device, one->region, one->offset);
        free(one);
    }
    explicit_unlock(&device->explicit);
}

CUresult explicit_free(struct device *device, const struct ledger_entry *entry) {
    bool is_done;
    CUresult result = ask_driver();
    if (result == CUDA_SUCCESS)
        result = synchronise_work(entry->owner, &is_done);
    if (result != CUDA_SUCCESS)
        return result;
    if (!is_done) {
        linger(device, entry);
        return CUDA_SUCCESS;
    }
    explicit_is_gone(device, entry);
    return CUDA_SUCCESS;
}

/* With the lock held. The program may change its memory from now on, so no copy on the host is
 * valid any more, except for those that are being made. */
static void clear_slots(struct device *device) {
    for (struct region *region = device->explicit.regions.first; region; region = region->next)
        for (unsigned i = 0; i < region->count; i++)
            if (!region->chunks[i].is_moving)
                slot_give_back(&region->chunks[i].slot, &device->explicit.extents);
}

bool explicit_is_whole(struct device *device) {
    explicit_lock(&device->explicit);
    struct regions *regions = &device->explicit.regions;
    bool is_whole = regions->away == 0;
    if (is_whole) {
        regions->fills_when_whole = regions->fills;
        clear_slots(device);
        gate_is_whole(&device->gate);
    }
    explicit_unlock(&device->explicit);
    return is_whole;
}

/* With the lock held. The driver refuses a GPU that cannot reach it, which is as it should be. */
static void let_use(struct mapping *mapping, CUdevice other) {
    if (mapping->access_count == MAPPING_GPUS)
        return;
    mapping->access[mapping->access_count++] =
        (struct access){other, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (backing_set_access(mapping) != CUDA_SUCCESS)
        mapping->access_count--;
}

void explicit_stay(struct device *device, CUdevice other) {
    if (inside_enter(&device->gate) < 0)
        return;
    explicit_lock(&device->explicit);
    for (struct region *region = device->explicit.regions.first; region; region = region->next) {
        region_stay(&device->explicit.regions, region);
        if (!region->physical) /* for these the program itself sets the rights */
            let_use(region->mappings, other);
    }
    explicit_unlock(&device->explicit);
    pooled_make_room(device, &(bool){false});
    ledger_fix(&allocations.memory, &device->account, PINNED_GPUS);
    ledger_fix(&allocations.physical, &device->account, PINNED_GPUS);
    device->is_explicit = false;
    session_memory_changed(device);
    inside_leave();
}
