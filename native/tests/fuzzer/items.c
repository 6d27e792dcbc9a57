/* How items come and go, in every possible way. */
#include <unistd.h>

#include "fuzzer.h"

static const char *const names[KINDS] = {
    "none",        "cuMemAlloc",      "a small cuMemAlloc",     "cuMemAllocManaged",
    "cuMemCreate", "cuMemAllocAsync", "cuMemAllocFromPoolAsync"};

static CUmemAllocationProp properties(bool is_exportable) {
    CUmemAllocationProp wanted = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    if (is_exportable)
        wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return wanted;
}

static CUdeviceptr map(const struct item *item, CUmemGenericAllocationHandle handle) {
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr at;
    DO(cuMemAddressReserve(&at, item->bytes, 0, 0, 0));
    DO(cuMemMap(at, item->bytes, 0, handle, 0));
    CUresult result = cuMemSetAccess(at, item->bytes, &access, 1);
    if (result == CUDA_SUCCESS)
        return at;
    fail("cuMemSetAccess", result);
    return 0;
}

static void unmap(const struct item *item, CUdeviceptr at) {
    DO(cuMemUnmap(at, item->bytes));
    DO(cuMemAddressFree(at, item->bytes));
}

static CUresult make_handle(struct fuzzer *f, struct item *item) {
    item->is_exportable = chance(f, 2);
    CUmemAllocationProp wanted = properties(item->is_exportable);
    item->bytes = (item->words * 8 + GRAIN - 1) / GRAIN * GRAIN;
    CUresult result = cuMemCreate(&item->handle, item->bytes, &wanted, 0);
    if (result != CUDA_SUCCESS)
        return result;
    item->at = map(item, item->handle);
    item->is_released = chance(f, 4);
    if (item->is_released)
        DO(cuMemRelease(item->handle));
    return CUDA_SUCCESS;
}

static CUresult allocate(struct fuzzer *f, struct item *item, CUstream stream) {
    size_t bytes = item->words * 8;
    switch (item->kind) {
    case SMALL:
    case PLAIN: return cuMemAlloc(&item->at, bytes);
    case MANAGED: return cuMemAllocManaged(&item->at, bytes, CU_MEM_ATTACH_GLOBAL);
    case HANDLE: return make_handle(f, item);
    case POOL: return cuMemAllocAsync(&item->at, bytes, stream);
    default: return cuMemAllocFromPoolAsync(&item->at, bytes, f->pool, stream);
    }
}

static uint64_t size_for(struct fuzzer *f, enum kind kind) {
    if (kind == SMALL)
        return 1 + next_random(f) % 2048;
    uint64_t most = chance(f, 8) ? LARGEST : chance(f, 4) ? 4 * MIB : MIB / 4;
    return 1 + next_random(f) % (most / 8);
}

/* Handles permit more operations than the others. */
static enum kind any_kind(struct fuzzer *f) {
    unsigned kind = 1 + (unsigned)(next_random(f) % KINDS);
    return kind < KINDS ? (enum kind)kind : HANDLE;
}

void make_item(struct fuzzer *f, struct item *item) {
    CUstream stream = any_stream(f);
    struct item made = {.kind = any_kind(f), .used = item->used};
    made.words = size_for(f, made.kind);
    CUresult result = allocate(f, &made, stream);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return;
    if (result != CUDA_SUCCESS)
        fail(names[made.kind], result);
    *item = made;
    end(item, stream);
    write_item(f, item);
}

static void drop_alias(struct item *item) {
    unmap(item, item->alias);
    if (item->imported)
        DO(cuMemRelease(item->imported));
    item->alias = item->imported = 0;
}

static void free_handle(struct item *item) {
    DO(cuEventSynchronize(item->used));
    if (item->alias)
        drop_alias(item);
    unmap(item, item->at);
    if (!item->is_released)
        DO(cuMemRelease(item->handle));
}

void free_item(struct fuzzer *f, struct item *item) {
    if (item->graph)
        DO(cuEventSynchronize(item->used));
    drop_graph(item);
    check_item(f, item);
    CUstream stream = begin(f, item);
    if (item->kind == HANDLE)
        free_handle(item);
    else if (item->kind == MANAGED || chance(f, 4))
        DO(cuMemFree(item->at));
    else
        DO(cuMemFreeAsync(item->at, stream));
    item->kind = NONE;
}

/* As in another process: data written by one handle is read by the other. */
static void import_handle(struct item *item, int descriptor) {
    DO(cuMemImportFromShareableHandle(&item->imported, (void *)(uintptr_t)descriptor,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    item->alias = map(item, item->imported);
}

static void export_handle(struct item *item) {
    int descriptor = -1;
    CUresult result = cuMemExportToShareableHandle(&descriptor, item->handle,
                                                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (result == CUDA_SUCCESS) {
        import_handle(item, descriptor);
        close(descriptor);
    } else if (result != CUDA_ERROR_INVALID_VALUE && result != CUDA_ERROR_NOT_SUPPORTED)
        fail("cuMemExportToShareableHandle", result);
}

void use_handle(struct fuzzer *f, struct item *item) {
    CUmemGenericAllocationHandle same;
    if (item->alias) {
        DO(cuEventSynchronize(item->used));
        drop_alias(item);
    } else if (!item->is_released && item->is_exportable && chance(f, 2)) {
        export_handle(item);
    } else if (!item->is_released && !chance(f, 3)) {
        item->alias = map(item, item->handle);
    } else {
        DO(cuMemRetainAllocationHandle(&same, (void *)(uintptr_t)item->at));
        DO(cuMemRelease(same));
    }
}
