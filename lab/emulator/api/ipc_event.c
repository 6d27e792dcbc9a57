/* Events of one process in another; see ../process/shared_event.h. */
#include <string.h>

#include "../process/event.h"

#define HANDLE_MAGIC 0x6e766576u

/* The content of a CUipcEventHandle. */
struct ipc_event_handle {
    uint32_t magic;
    struct event_address address;
};
_Static_assert(sizeof(struct ipc_event_handle) <= sizeof(CUipcEventHandle), "CU_IPC_HANDLE_SIZE");

CUresult cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event) {
    REQUIRE_DRIVER();
    REQUIRE(pHandle, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(event_exists(event) && event->shared.cell && !event->is_import,
            CUDA_ERROR_INVALID_HANDLE);
    struct ipc_event_handle handle = {.magic = HANDLE_MAGIC};
    driver_lock();
    handle.address = shared_event_address(&event->shared);
    driver_unlock();
    memset(pHandle, 0, sizeof *pHandle);
    memcpy(pHandle, &handle, sizeof handle);
    return CUDA_SUCCESS;
}

CUresult cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle) {
    REQUIRE_CONTEXT(context);
    REQUIRE(phEvent, CUDA_ERROR_INVALID_VALUE);
    struct ipc_event_handle wanted;
    memcpy(&wanted, &handle, sizeof wanted);
    REQUIRE(wanted.magic == HANDLE_MAGIC, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(wanted.address.maker.pid != own_identity().pid, CUDA_ERROR_INVALID_CONTEXT);
    struct shared_event shared;
    driver_lock();
    bool known = shared_event_open(&wanted.address, &shared);
    driver_unlock();
    REQUIRE(known, CUDA_ERROR_INVALID_HANDLE);
    return event_create(context, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING, &shared, phEvent);
}
