/* Physical memory (cuMemCreate): it lives as long as there is a handle to it, or a mapping. It cannot be
 * managed memory, and so is counted as pinned. */
#include "books.h"
#include "devices.h"

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                     const CUmemAllocationProp *prop, unsigned long long flags) {
    driver_need();
    bool on_device = prop && prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    struct device *device = on_device ? device_get(prop->location.id) : NULL;
    if (!device)
        return real.cuMemCreate(handle, size, prop, flags);
    CUresult result = book_reserve(device, size, LEDGER_PLAIN);
    if (result != CUDA_SUCCESS)
        return result;
    result = real.cuMemCreate(handle, size, prop, flags);
    struct ledger_entry entry = {.bytes = size, .kind = LEDGER_PLAIN, .references = 1};
    if (result == CUDA_SUCCESS)
        entry.key = *handle;
    return book_settle(&books.physical, device, entry, result);
}

/* Gives references up before the driver is asked to: a handle that it has freed may be another thread's
 * the next moment. Adds to `gone` what has none left. */
static void unrefer(CUmemGenericAllocationHandle handle, struct ledger_entry **gone) {
    struct ledger_entry *entry = ledger_unrefer(&books.physical, handle);
    if (!entry)
        return;
    entry->next_of_owner = *gone;
    *gone = entry;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    driver_need();
    struct ledger_entry *gone = NULL;
    unrefer(handle, &gone);
    CUresult result = book_freed(&books.physical, gone, real.cuMemRelease(handle));
    if (result != CUDA_SUCCESS)
        ledger_refer(&books.physical, handle);
    return result;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr) {
    driver_need();
    CUresult result = real.cuMemRetainAllocationHandle(handle, addr);
    if (result == CUDA_SUCCESS)
        ledger_refer(&books.physical, *handle);
    return result;
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
    driver_need();
    CUresult result = real.cuMemMap(ptr, size, offset, handle, flags);
    if (result != CUDA_SUCCESS || ledger_refer(&books.physical, handle) < 0)
        return result; /* memory of another process is not ours to count */
    struct ledger_entry mapping = {.key = ptr, .bytes = size, .target = handle};
    struct ledger_entry *gone = NULL;
    if (ledger_add(&books.mappings, &mapping) < 0)
        unrefer(handle, &gone);
    book_freed(&books.physical, gone, CUDA_SUCCESS);
    return result;
}

/* A range may hold several mappings, one behind the other. */
static struct ledger_entry *take_mappings(CUdeviceptr ptr, size_t size) {
    struct ledger_entry *all = NULL, *one;
    for (size_t done = 0; done < size && (one = ledger_take(&books.mappings, ptr + done));) {
        done += one->bytes;
        one->next_of_owner = all;
        all = one;
    }
    return all;
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) {
    driver_need();
    struct ledger_entry *mappings = take_mappings(ptr, size), *gone = NULL;
    for (struct ledger_entry *m = mappings; m; m = m->next_of_owner)
        unrefer(m->target, &gone);
    CUresult result = book_freed(&books.physical, gone, real.cuMemUnmap(ptr, size));
    for (struct ledger_entry *m = mappings; m && result != CUDA_SUCCESS; m = m->next_of_owner)
        ledger_refer(&books.physical, m->target);
    return book_freed(&books.mappings, mappings, result);
}
