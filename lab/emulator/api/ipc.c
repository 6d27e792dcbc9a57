/* Plain memory of one process in another. A handle gives the place of the bytes in the exporter's
 * memory file, which the importer opens through /proc. The memory counts only for the exporter. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../process/context.h"
#include "../process/memory.h"
#include "../process/reservation.h"
#include "capture.h"

#define HANDLE_MAGIC 0x6e767368u
#define IMPORT_MAGIC 0x49706331u

/* The content of a CUipcMemHandle. */
struct ipc_handle {
    uint32_t magic;
    int32_t pid, file;
    uint32_t slot, generation, gpu;
    uint64_t offset, bytes, id;
};
_Static_assert(sizeof(struct ipc_handle) <= sizeof(CUipcMemHandle), "CU_IPC_HANDLE_SIZE");

/* Owner of an allocation that belongs to another process. */
struct import {
    uint32_t magic;
    uint32_t openings; /* of the same handle in the same context */
    struct ipc_handle handle;
    struct reservation *reservation;
    void *mapping; /* begins at a page; the memory itself need not */
    size_t mapping_bytes;
};

CUresult cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(pHandle, CUDA_ERROR_INVALID_VALUE);
    struct ipc_handle handle = {.magic = HANDLE_MAGIC, .pid = getpid(), .slot = driver->slot};
    handle.generation = driver_slot()->generation;
    driver_lock();
    const struct allocation *allocation = memory_find(dptr);
    bool plain = allocation && allocation->kind == MEMORY_PLAIN && !allocation->owner;
    if (plain) {
        handle.file = memory_file(allocation->gpu);
        handle.gpu = allocation->gpu;
        handle.offset = memory_offset(allocation);
        handle.bytes = allocation->bytes;
        handle.id = allocation->id;
    }
    driver_unlock();
    REQUIRE(plain, CUDA_ERROR_INVALID_VALUE);
    memset(pHandle, 0, sizeof *pHandle);
    memcpy(pHandle, &handle, sizeof handle);
    return CUDA_SUCCESS;
}

static bool exporter_lives(const struct ipc_handle *handle) {
    if (handle->slot >= MAX_PROCESSES || handle->gpu >= driver->node->profile.gpu_count)
        return false;
    node_lock(driver->node);
    node_reap(driver->node);
    const struct slot *slot = &driver->node->slots[handle->slot];
    bool lives = slot->in_use && slot->pid == handle->pid && slot->generation == handle->generation;
    node_unlock(driver->node);
    return lives;
}

/* The bytes themselves; with `data off` there are none to map. */
static bool map_bytes(struct import *import) {
    const struct ipc_handle *handle = &import->handle;
    if (!driver->data)
        return true;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", handle->pid, handle->file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return false;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t start = handle->offset / page * page;
    import->mapping_bytes = handle->offset - start + handle->bytes;
    import->mapping = mmap(NULL, import->mapping_bytes, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_NORESERVE, file, (off_t)start);
    close(file);
    if (import->mapping == MAP_FAILED)
        import->mapping = NULL;
    return import->mapping != NULL;
}

static void drop_import(struct import *import) {
    if (import->mapping)
        munmap(import->mapping, import->mapping_bytes);
    if (import->reservation)
        reservation_release(import->reservation);
    free(import);
}

static void forget(struct allocation *allocation) {
    drop_import(allocation->owner);
}

static struct allocation *already_open(const struct CUctx_st *context,
                                       const struct ipc_handle *handle) {
    for (struct allocation *a = context->allocations; a; a = a->next) {
        const struct import *import = a->owner;
        if (memory_is_owned_by(a, IMPORT_MAGIC) &&
            memcmp(&import->handle, handle, sizeof *handle) == 0)
            return a;
    }
    return NULL;
}

static CUresult import_memory(struct CUctx_st *context, const struct ipc_handle *handle,
                              struct allocation **out) {
    struct import *import = calloc(1, sizeof *import);
    if (!import)
        return CUDA_ERROR_OUT_OF_MEMORY;
    import->magic = IMPORT_MAGIC;
    import->handle = *handle;
    CUresult result = map_bytes(import) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS)
        result = reservation_create(handle->bytes, BLOCK_BYTES, 0, &import->reservation);
    if (result == CUDA_SUCCESS) {
        struct allocation wanted = {.address = import->reservation->address,
                                    .bytes = handle->bytes,
                                    .kind = MEMORY_MAPPED,
                                    .gpu = handle->gpu,
                                    .context = context,
                                    .owner = import};
        uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
        if (import->mapping)
            wanted.data = (char *)import->mapping + handle->offset % page;
        result = memory_register(wanted, out);
    }
    if (result == CUDA_SUCCESS)
        (*out)->finish = forget;
    else
        drop_import(import);
    return result;
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags) {
    REQUIRE_CONTEXT(context);
    struct ipc_handle wanted;
    memcpy(&wanted, &handle, sizeof wanted);
    REQUIRE(pdptr && Flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(wanted.magic == HANDLE_MAGIC, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(wanted.pid != getpid(), CUDA_ERROR_INVALID_CONTEXT);
    REQUIRE(exporter_lives(&wanted), CUDA_ERROR_INVALID_HANDLE);
    driver_lock();
    struct allocation *allocation = already_open(context, &wanted);
    CUresult result = allocation ? CUDA_SUCCESS : import_memory(context, &wanted, &allocation);
    if (result == CUDA_SUCCESS) {
        ((struct import *)allocation->owner)->openings++;
        *pdptr = allocation->address;
    }
    driver_unlock();
    return result;
}

CUresult cuIpcCloseMemHandle(CUdeviceptr dptr) {
    REQUIRE_CONTEXT(context);
    CUresult result = capture_forbids_unsafe();
    if (result != CUDA_SUCCESS)
        return result;
    context_synchronize(context);
    driver_lock();
    struct allocation *allocation = memory_find(dptr);
    bool open =
        allocation && allocation->address == dptr && memory_is_owned_by(allocation, IMPORT_MAGIC);
    if (open && --((struct import *)allocation->owner)->openings == 0)
        memory_unregister(allocation);
    driver_unlock();
    return open ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
